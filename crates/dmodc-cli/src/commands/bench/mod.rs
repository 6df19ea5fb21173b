//! `dmodc bench`: how fast routing is, how close to the limit, and whether it is right.
//!
//! Every row is measured in a process of its own, so that none starts from the memory that another left.

mod analyze;
mod cases;
mod figure;
mod opensm;
mod progress;
mod rates;
mod record;
mod report;
mod subprocess;
mod table;
mod whatif;

use std::path::Path;

use anyhow::{Context, Result};
use dmodc_study::bench::measure;
use dmodc_study::machine;
use serde_json::{Value, json};

use self::cases::{case, kernel, planned_rows, settings, sizes};
use self::record::{rows_csv, times_csv, write};
use crate::args::{BenchArgs, BenchCommand, command_line};
use crate::{Answer, device, output};

const DEFAULT_PRESET: &str = "quantum2-max";

pub(super) fn run(args: &BenchArgs, threads: Option<u16>) -> Result<Answer> {
    match &args.what {
        Some(BenchCommand::Analyze(args)) => return analyze::run(args),
        Some(BenchCommand::Rates(args)) => return rates::run(args),
        Some(BenchCommand::Whatif(args)) => return whatif::run(args),
        Some(BenchCommand::Plot(args)) => return figure::plot(args),
        None => {}
    }
    let sizes = sizes(&args.fabrics, DEFAULT_PRESET)?;
    let kernel = kernel(args.kernel)?;
    let planned = planned_rows(args, &sizes)?;
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut rows = match &planned[..] {
        [row] if args.with_opensm.is_empty() => device::on(args.device, |device| {
            Ok(vec![measure(&case(row, args), &settings(row, args, kernel, device))?])
        })?,
        _ => {
            let name = device::for_others(args.device)?;
            let apart = |row| subprocess::measure_apart(row, args, name, threads);
            planned.iter().map(apart).collect::<Result<Vec<Value>>>()?
        }
    };
    if !args.with_opensm.is_empty() {
        rows.extend(opensm::with_opensm(args, &sizes)?);
    }
    let result = json!({
        "schema": "dmodc/bench/1",
        "command": command_line(),
        "machine": machine::description(),
        "rows": rows,
    });
    if let Some(path) = &args.plot {
        write(path, &figure::svg(&result, &command_line())?)?;
    }
    if let Some(folder) = &args.record {
        write_record(folder, &result, &rows)?;
    }
    output::print(&match args.json {
        true => format!("{result:#}\n"),
        false => table::table(&rows),
    })?;
    let wrong = |row: &Value| row["digest_ok"] == false || row["apply_changes_exact"] == false;
    Ok(Answer::from(!rows.iter().any(wrong)))
}

fn write_record(folder: &Path, result: &Value, rows: &[Value]) -> Result<()> {
    write(&folder.join("record.json"), &format!("{result:#}\n"))?;
    write(&folder.join("rows.csv"), &rows_csv(rows))?;
    write(&folder.join("times.csv"), &times_csv(rows))?;
    write(&folder.join("runtime.svg"), &figure::svg(result, &command_line())?)
}
