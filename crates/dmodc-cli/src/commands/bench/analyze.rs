//! `dmodc bench analyze`: how fast tables are judged.

use std::fmt::Write as _;

use anyhow::Result;
use dmodc_study::bench;
use serde_json::Value;

use super::report::Report;
use crate::Answer;
use crate::args::BenchAnalyzeArgs;
use crate::text::{counted, number};

/// Measures judging instead of routing.
pub(super) fn run(args: &BenchAnalyzeArgs) -> Result<Answer> {
    let report = Report { schema: "dmodc/bench-analyze/1", args: &args.report };
    let measure = |case: &_| Ok(bench::analyze(case, args.rounds as usize, !args.no_naive)?);
    let rows = report.make(&args.fabrics, &args.dead, measure, text)?;
    let is_right =
        |row: &Value| ["a2a_right", "rp_right", "sp_right"].iter().all(|key| row[key] != false);
    Ok(rows.iter().all(is_right).into())
}

fn text(row: &Value) -> String {
    let mut text = String::new();
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
    let _ = writeln!(text, "  sp   {:>11} for all {shifts} shifts, {right} maxima", ms("sp_ms"));
    text
}
