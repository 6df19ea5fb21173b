//! `dmodc bench analyze`: how fast tables are judged.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use dmodc_study::bench::{self, Case};
use dmodc_study::machine;
use serde_json::{Value, json};

use super::{Size, command_line, sizes, write};
use crate::args::{BenchAnalyzeArgs, Dead};
use crate::text::number;
use crate::{Answer, output};

/// Judging instead of routing.
pub(super) fn run(args: &BenchAnalyzeArgs) -> Result<Answer> {
    let mut rows = Vec::new();
    for Size { name, pgft, .. } in sizes(&args.presets, &args.tuples, "rlft-36")? {
        for Dead { cables, switches } in args.dead.iter().copied() {
            let (name, pgft) = (name.clone(), pgft.clone());
            let case = Case { name, pgft, cables, switches, seed: args.seed, switch_lids: true };
            rows.push(bench::analyze(&case, args.rounds as usize)?);
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
        |row: &Value| ["a2a_right", "rp_right", "sp_right"].iter().all(|key| row[key] == true);
    Ok(rows.iter().all(is_right).into())
}

fn table(rows: &[Value]) -> String {
    let mut text = String::new();
    for row in rows {
        let ms = |key: &str| format!("{:.1} ms", row[key].as_f64().unwrap_or(0.0));
        let times = |key: &str| format!("{:.0}", row[key].as_f64().unwrap_or(0.0));
        let is_right = |key: &str| if row[key] == true { "the same" } else { "OTHER" };
        let _ = write!(
            text,
            "{}, {} nodes, {} % cables and {} % switches dead, {} threads\n  \
             a2a  {:>10}, pair by pair {:>10}: {} × as fast, {} loads\n  \
             rp   {:>10}, hop by hop   {:>10}: {:.1} × as fast, {} maxima ({} permutations; {:.0} and {:.0} ns a path and core)\n  \
             \u{20}    {:>10} with drawing, bounds and hosts\n  \
             sp   {:>10} for all {} shifts, {} maxima\n",
            row["preset"].as_str().unwrap_or("?"),
            number(row["nodes"].as_u64().unwrap_or(0)),
            row["cables_dead"],
            row["switches_dead"],
            row["threads"],
            ms("a2a_ms"),
            ms("a2a_naive_ms"),
            times("a2a_ratio"),
            is_right("a2a_right"),
            ms("rp_ms"),
            ms("rp_naive_ms"),
            row["rp_ratio"].as_f64().unwrap_or(0.0),
            is_right("rp_right"),
            row["permutations"],
            row["rp_ns_per_path_and_core"].as_f64().unwrap_or(0.0),
            row["rp_naive_ns_per_path_and_core"].as_f64().unwrap_or(0.0),
            ms("rp_whole_ms"),
            ms("sp_ms"),
            number(row["shifts"].as_u64().unwrap_or(0)),
            is_right("sp_right"),
        );
    }
    text
}
