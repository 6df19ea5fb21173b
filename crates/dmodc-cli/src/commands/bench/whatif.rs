//! `dmodc bench whatif`: how fast single faults are tried.

use std::fmt::Write as _;

use anyhow::Result;
use dmodc_study::bench::{self, WhatIfBench};
use serde_json::Value;

use super::report::Report;
use crate::Answer;
use crate::args::BenchWhatifArgs;
use crate::text::counted;

/// Measures trying faults instead of routing.
pub(super) fn run(args: &BenchWhatifArgs) -> Result<Answer> {
    let settings = WhatIfBench { whole: args.compare, sample: args.sample };
    let report = Report { schema: "dmodc/bench-whatif/1", args: &args.report };
    let measure = |case: &_| Ok(bench::what_if(case, settings)?);
    let rows = report.make(&args.fabrics, &args.dead, measure, text)?;
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
