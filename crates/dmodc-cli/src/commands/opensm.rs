//! `dmodc opensm`: OpenSM on a simulated fabric.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dmodc::Fabric;
use dmodc_study::lab::{Lab, Row, Script, check_plugin, find_plugin};
use serde_json::json;

use super::generate::preset;
use crate::args::{FabricArgs, LabArgs, OpensmCommand};
use crate::text::number;
use crate::{Answer, input, output};

pub(super) fn run(command: &OpensmCommand) -> Result<Answer> {
    match command {
        OpensmCommand::Lab(args) => lab(args),
    }
}

fn lab(args: &LabArgs) -> Result<Answer> {
    let fabric = fabric(args)?;
    let script = match args.faults.as_deref() {
        None => Script::default(),
        Some(path) if path == Path::new("demo") => Script::demo(),
        Some(path) => {
            // A name that means nothing is reported before anything is started.
            input::list(path, |text| {
                let script = Script::read(text)?;
                script.check(&fabric)?;
                Ok(script)
            })?
        }
    };
    let plugin = plugin(args.plugin.as_deref())?;
    check_plugin(&plugin)?;
    let lab = Lab { fabric: &fabric, plugin: &plugin, script: &script, judges: !args.unchecked };
    let mut runs: Vec<(&str, Vec<Row>)> = Vec::new();
    for engine in &args.engine {
        if !args.json {
            output::print(&header(engine, &fabric))?;
        }
        let mut told = Ok(());
        let rows = lab.run(engine, |row| {
            if !args.json && told.is_ok() {
                told = output::print(&line(row));
            }
        })?;
        told?;
        runs.push((engine, rows));
    }
    let rows = || runs.iter().flat_map(|(_, rows)| rows);
    let right = rows().all(Row::is_right);
    if args.json {
        let runs = runs.iter().map(|(engine, rows)| json!({ "engine": engine, "events": rows }));
        let report = json!({
            "schema": "dmodc/lab/3",
            "nodes": fabric.nodes().len(),
            "switches": fabric.switches().len(),
            "sound": rows().all(Row::is_sound),
            "right": right,
            "runs": runs.collect::<Vec<_>>(),
        });
        output::print(&format!("{report:#}\n"))?;
    }
    Ok(right.into())
}

fn fabric(args: &LabArgs) -> Result<Fabric> {
    match (&args.preset, &args.fabric) {
        (Some(name), _) => Ok(preset(name)?.pgft().fabric(Default::default())),
        (None, Some(path)) => input::fabric(&FabricArgs { fabric: path.clone(), strict: false }),
        (None, None) => anyhow::bail!("a fabric or --preset is wanted"),
    }
}

/// Returns the path of the plugin: as given, or next to this program, or where libraries are.
pub(super) fn plugin(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(path) => std::path::absolute(path).with_context(|| path.display().to_string()),
        None => Ok(find_plugin(&std::env::current_exe().context("where this program is")?)),
    }
}

fn header(engine: &str, fabric: &Fabric) -> String {
    format!(
        "OpenSM with {} on {} nodes and {} switches, simulated\n\
         {:<24}{:>7}{:>13}{:>13}{:>12}{:>11}{:>12}  switches hold\n",
        engine,
        number(fabric.nodes().len()),
        number(fabric.switches().len()),
        "event",
        "sweeps",
        "uploaded in",
        "hop tables",
        "tables",
        "routes",
        "entries",
    )
}

fn line(row: &Row) -> String {
    let entries = row.verdict.as_ref().map_or("-".into(), |v| number(v.entries_changed));
    let mut text = format!(
        "{:<24}{:>7}{:>13}{:>13}{:>12}{:>11}{:>12}  ",
        row.event,
        row.sweeps,
        format!("{:.2} s", row.upload_s),
        format!("{:.2} ms", row.matrices_ms),
        format!("{:.2} ms", row.tables_ms),
        row.routes_ms.map_or("-".into(), |ms| format!("{ms:.2} ms")),
        entries,
    );
    if let Some(why) = &row.refused {
        let _ = write!(text, "the engine REFUSED ({why}): ");
    }
    text += &row.verdict.as_ref().map_or("not looked at".into(), ToString::to_string);
    text.push('\n');
    text
}
