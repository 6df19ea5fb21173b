//! `dmodc bench rates`: how fast fair rates are computed.

use std::fmt::Write as _;

use anyhow::Result;
use dmodc_study::bench::{self, RatesBench};
use serde_json::Value;

use super::report::Report;
use crate::Answer;
use crate::args::BenchRatesArgs;
use crate::text::{counted, number};

pub(super) fn run(args: &BenchRatesArgs) -> Result<Answer> {
    let settings = RatesBench { permutations: args.permutations, compare: args.compare };
    let report = Report { schema: "dmodc/bench-rates/1", args: &args.report };
    let measure = |case: &_| Ok(bench::rates(case, settings)?);
    let rows = report.make(&args.fabrics, &args.dead, measure, text)?;
    Ok(rows.iter().all(|row| row["rates_right"] != false).into())
}

fn text(row: &Value) -> String {
    let mut text = String::new();
    let of = |key: &str| row[key].as_f64().unwrap_or(0.0);
    let count = |key: &str| row[key].as_u64().unwrap_or(0);
    let _ = writeln!(
        text,
        "{}, {}, {} % of the cables and {} % of the switches failed, {}",
        row["preset"].as_str().unwrap_or("?"),
        counted(count("nodes"), "node"),
        row["cables_dead"],
        row["switches_dead"],
        counted(count("threads"), "thread"),
    );
    let _ = writeln!(
        text,
        "  {} in {:.0} ms: {} a minute; mean rate {:.3}, mean completion {:.3}",
        counted(count("permutations"), "permutation"),
        of("rates_ms"),
        number(of("permutations_per_minute") as u64),
        of("mean_rate"),
        of("mean_completion"),
    );
    if count("compared") > 0 {
        let right = if row["rates_right"] == true { "the same" } else { "DIFFERENT" };
        let _ = writeln!(
            text,
            "  {} of them: {:.1} ms, plain filling {:.1} ms: {:.1} × as fast, {right} rates",
            number(count("compared")),
            of("compared_ms"),
            of("naive_ms"),
            of("ratio"),
        );
    }
    text
}
