//! `dmodc compare`: the fabric as it is cabled against the intended one.

mod json;
mod steps;
mod words;

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use dmodc::advise::compare::{Cabling, CompareError, Comparison, RepairPlan};
use dmodc::{Fabric, LeafRule};
use dmodc_formats::{ReadError, cabling};

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
    let fabric = input::fabric(&args.fabric)?;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let comparison = compared(args, &fabric, &leaves)?;
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

/// Compares the fabric with the intended one, or with its own shape.
fn compared(args: &CompareArgs, fabric: &Fabric, leaves: &LeafRule) -> Result<Comparison> {
    let Some(path) = &args.with else {
        return Comparison::with_inferred(fabric, leaves).map_err(|why| {
            anyhow!(
                "the fabric is too irregular to compare it with a regular shape: {why}; name the intended fabric with --with"
            )
        });
    };
    let text = bytes(path, |text| {
        dmodc_formats::detect(text).is_some() || cabling::detect(text).is_some()
    })?;
    let intended = intended(path, &text, &args.fabric)?;
    Comparison::new(fabric, &intended).map_err(|error| match &error {
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
    for line in text::dirt(&reading.dirt) {
        eprintln!("dmodc: {}: {line}", name(path));
    }
    Ok(Cabling::of(&reading.fabric))
}
