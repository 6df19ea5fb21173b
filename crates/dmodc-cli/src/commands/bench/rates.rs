//! `dmodc bench rates`: how fast fair rates are computed.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use dmodc_study::bench::{self, BenchCase, RatesBench};
use dmodc_study::machine;
use serde_json::{Value, json};

use super::cases::{Size, sizes};
use super::record::write;
use crate::args::{BenchRatesArgs, Dead, command_line};
use crate::text::{counted, number};
use crate::{Answer, output};

pub(super) fn run(args: &BenchRatesArgs) -> Result<Answer> {
    let settings = RatesBench { permutations: args.permutations, compare: args.compare };
    let mut rows = Vec::new();
    for Size { name, pgft, .. } in sizes(&args.presets, &args.tuples, "rlft-36")? {
        for Dead { cables, switches } in args.dead.iter().copied() {
            let (name, pgft) = (name.clone(), pgft.clone());
            let case =
                BenchCase { name, pgft, cables, switches, seed: args.seed, switch_lids: true };
            rows.push(bench::rates(&case, settings)?);
        }
    }
    let result = json!({
        "schema": "dmodc/bench-rates/1",
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
    Ok(rows.iter().all(|row| row["rates_right"] != false).into())
}

fn table(rows: &[Value]) -> String {
    let mut text = String::new();
    for row in rows {
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
    }
    text
}
