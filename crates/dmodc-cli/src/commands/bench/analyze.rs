//! `dmodc bench analyze`: how fast tables are judged.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use dmodc_study::bench::{self, BenchCase};
use dmodc_study::machine;
use serde_json::{Value, json};

use super::cases::{Size, sizes};
use super::record::write;
use crate::args::{BenchAnalyzeArgs, Dead, command_line};
use crate::text::{counted, number};
use crate::{Answer, output};

/// Measures judging instead of routing.
pub(super) fn run(args: &BenchAnalyzeArgs) -> Result<Answer> {
    let mut rows = Vec::new();
    for Size { name, shape, .. } in sizes(&args.fabrics, "rlft-36")? {
        for Dead { cables, switches } in args.dead.iter().copied() {
            let (name, shape) = (name.clone(), shape.clone());
            let case =
                BenchCase { name, shape, cables, switches, seed: args.seed, switch_lids: true };
            rows.push(bench::analyze(&case, args.rounds as usize, !args.no_naive)?);
        }
    }
    let result = json!({
        "schema": "dmodc/bench-analyze/1",
        "command": command_line(),
        "machine": machine::description(),
        "rows": rows,
    });
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write(&folder.join("record.json"), &format!("{result:#}\n"))?;
    }
    output::print(&match args.json {
        true => format!("{result:#}\n"),
        false => table(&rows),
    })?;
    let is_right =
        |row: &Value| ["a2a_right", "rp_right", "sp_right"].iter().all(|key| row[key] != false);
    Ok(rows.iter().all(is_right).into())
}

fn table(rows: &[Value]) -> String {
    let mut text = String::new();
    for row in rows {
        let of = |key: &str| row[key].as_f64().unwrap_or(0.0);
        let ms = |key: &str| format!("{:.1} ms", of(key));
        let is_right = |key: &str| if row[key] == true { "the same" } else { "DIFFERENT" };
        let _ = writeln!(
            text,
            "{}, {}, {} % of the cables and {} % of the switches failed, {}",
            row["preset"].as_str().unwrap_or("?"),
            counted(row["nodes"].as_u64().unwrap_or(0), "node"),
            row["cables_dead"],
            row["switches_dead"],
            counted(row["threads"].as_u64().unwrap_or(0), "thread"),
        );
        let _ = write!(text, "  a2a  {:>11}", ms("a2a_ms"));
        if !row["a2a_ratio"].is_null() {
            let (naive, right) = (ms("a2a_naive_ms"), is_right("a2a_right"));
            let times = of("a2a_ratio");
            let _ = write!(text, ", pair by pair {naive:>11}: {times:.0} × as fast, {right} loads");
        }
        let (naive, right, times) = (ms("rp_naive_ms"), is_right("rp_right"), of("rp_ratio"));
        let _ = write!(
            text,
            "\n  rp   {:>11}, hop by hop   {naive:>11}: {times:.1} × as fast, {right} maxima ({} permutations; \
             {:.0} and {:.0} ns a path and core)\n",
            ms("rp_ms"),
            row["permutations"],
            of("rp_ns_per_path_and_core"),
            of("rp_naive_ns_per_path_and_core"),
        );
        let _ = writeln!(text, "       {:>11} with drawing, bounds and hosts", ms("rp_whole_ms"));
        let shifts = number(row["shifts"].as_u64().unwrap_or(0));
        let right = is_right("sp_right");
        let _ =
            writeln!(text, "  sp   {:>11} for all {shifts} shifts, {right} maxima", ms("sp_ms"));
    }
    text
}
