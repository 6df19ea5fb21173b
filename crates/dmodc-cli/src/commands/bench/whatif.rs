//! `dmodc bench whatif`: how fast single faults are tried.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use dmodc_study::bench::{self, BenchCase, WhatIfBench};
use dmodc_study::machine;
use serde_json::{Value, json};

use super::cases::{Size, sizes};
use super::record::write;
use crate::args::{BenchWhatifArgs, Dead, command_line};
use crate::text::counted;
use crate::{Answer, output};

/// Measures trying faults instead of routing.
pub(super) fn run(args: &BenchWhatifArgs) -> Result<Answer> {
    let mut rows = Vec::new();
    let settings = WhatIfBench { whole: args.compare, sample: args.sample };
    for Size { name, shape, .. } in sizes(&args.fabrics, "rlft-36")? {
        for Dead { cables, switches } in args.dead.iter().copied() {
            let (name, shape) = (name.clone(), shape.clone());
            let case =
                BenchCase { name, shape, cables, switches, seed: args.seed, switch_lids: true };
            rows.push(bench::what_if(&case, settings)?);
        }
    }
    let result = json!({
        "schema": "dmodc/bench-whatif/1",
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
        false => rows.iter().map(text).collect(),
    })?;
    Ok(rows.iter().all(|row| row["right"] == true).into())
}

fn text(row: &Value) -> String {
    let of = |key: &str| row[key].as_f64().unwrap_or(0.0);
    let count = |key: &str, noun: &str| counted(row[key].as_u64().unwrap_or(0), noun);
    let right = if row["right"] == true { "the same" } else { "DIFFERENT" };
    let mut text = format!(
        "{}, {}, {} % of the cables and {} % of the switches failed, {}\n",
        row["preset"].as_str().unwrap_or("?"),
        count("nodes", "node"),
        row["cables_dead"],
        row["switches_dead"],
        count("threads", "thread"),
    );
    let _ = writeln!(
        text,
        "  {} of {} in {:.1} s, {:.2} ms each (and {:.0} ms to prepare)",
        count("faults", "fault"),
        row["single_faults"],
        of("survey_ms") / 1e3,
        of("fault_ms"),
        of("prepare_ms"),
    );
    let _ = writeln!(
        text,
        "  from the beginning {:.1} ms each: {:.1} × as long ({} compared, {right} numbers)",
        of("whole_ms"),
        of("ratio"),
        count("compared", "fault"),
    );
    let _ = writeln!(
        text,
        "  and {:.1} ms more to find out what changes in the tables: {:.1} × as long",
        of("changes_ms"),
        of("ratio_with_changes"),
    );
    text
}
