//! `dmodc compare`: the fabric as it is cabled against the intended one.

mod json;
mod steps;
mod words;

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use dmodc::advise::compare::{Cabling, CompareError, Comparison, RepairPlan, SelfLoop};
use dmodc::{Fabric, LeafRule};
use dmodc_formats::{ReadError, Reading, cabling};

use crate::args::{CompareArgs, FabricArgs};
use crate::source::{bytes, located, name};
use crate::{Answer, input, output, source, text};

/// Everything that is reported.
struct CompareReport<'a> {
    comparison: &'a Comparison,
    plan: &'a RepairPlan,
    /// The file of the intended fabric; `None` if it was inferred.
    intended: Option<String>,
}

pub(super) fn run(args: &CompareArgs) -> Result<Answer> {
    let paths = args.with.as_deref().into_iter();
    source::only_one_from_stdin(paths.chain([args.fabric.fabric.as_path()]))?;
    let is_stdout = args.csv.as_deref().is_some_and(|path| path.as_os_str() == "-");
    anyhow::ensure!(
        !(args.json && is_stdout),
        "two results cannot both go to standard output: write one of them to a file (--csv FILE)"
    );
    let reading = input::reading(&args.fabric)?;
    output::remark(&dirt(&args.fabric.fabric, &reading));
    let Reading { fabric, self_loops, .. } = reading;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let comparison = match &args.with {
        Some(path) => with_intended(args, path, &fabric, &self_loops)?,
        None => with_shape(&fabric, &self_loops, &leaves)?,
    };
    let plan = RepairPlan::new(&comparison, &fabric, &leaves, args.judge);
    let intended = args.with.as_deref().map(name);
    let report = CompareReport { comparison: &comparison, plan: &plan, intended };
    if let Some(path) = &args.csv {
        let rows = steps::csv(&report);
        output::to(Some(path), |out| Ok(std::io::Write::write_all(out, rows.as_bytes())?))?;
    }
    if !is_stdout {
        output::print(&if args.json { json::json(&report) } else { words::text(&report) })?;
    }
    Ok(comparison.is_equal().into())
}

/// Compares the fabric with its own shape.
fn with_shape(fabric: &Fabric, loops: &[SelfLoop], leaves: &LeafRule) -> Result<Comparison> {
    Comparison::with_inferred(fabric, loops, leaves).map_err(|why| {
        anyhow!(
            "the fabric is too irregular to compare it with a regular shape: {why}; name the intended fabric with --with"
        )
    })
}

/// Compares the fabric with the intended one.
fn with_intended(
    args: &CompareArgs,
    path: &Path,
    fabric: &Fabric,
    loops: &[SelfLoop],
) -> Result<Comparison> {
    let text = bytes(path, |text| {
        dmodc_formats::detect(text).is_some() || cabling::detect(text).is_some()
    })?;
    let intended = intended(path, &text, &args.fabric)?;
    Comparison::with_self_loops(fabric, loops, &intended).map_err(|error| match &error {
        CompareError::PortTwice { lines: [first, second], .. } if *second > 0 => {
            let message = format!("{error}, in line {first} and in line {second}");
            located(path, &text, &ReadError { line: *second, column: 1, message })
        }
        CompareError::PortTwice { .. } => anyhow!("{}: {error}", name(path)),
        CompareError::NothingInCommon => anyhow!(
            "{}: {error}; names must be the descriptions of switches, as 'dmodc info' and the dump of the fabric show them",
            name(path)
        ),
    })
}

/// Reads the intended fabric: a list of cables or a fabric.
fn intended(path: &Path, text: &[u8], args: &FabricArgs) -> Result<Cabling> {
    let is_fabric = dmodc_formats::detect(text).is_some();
    if !is_fabric && cabling::detect(text).is_some() {
        return cabling::read(text).map_err(|error| located(path, text, &error));
    }
    let reading = dmodc_formats::read(text)
        .map_err(|error| located(path, text, &error))
        .map_err(|error| match is_fabric {
            true => error,
            false => error.context(
                "the intended fabric must be a fabric, a topology file of ibutils, or CSV with the columns \
                 switch_a,port_a,switch_b,port_b",
            ),
        })?;
    if let Some(first) = reading.dirt.first().filter(|_| args.strict) {
        return Err(located(path, text, first)).context("the intended fabric is damaged");
    }
    output::remark(&dirt(path, &reading));
    Ok(Cabling::with_self_loops(&reading.fabric, &reading.self_loops))
}

/// Returns what is wrong with a file.
fn dirt(path: &Path, reading: &Reading) -> String {
    let lines = text::dirt(&reading.dirt).into_iter();
    lines.map(|line| format!("dmodc: {}: {line}\n", name(path))).collect()
}
