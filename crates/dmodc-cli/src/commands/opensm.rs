//! `dmodc opensm`: OpenSM on a simulated fabric, and requests to the plugin.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use dmodc::Fabric;
use dmodc_lab::{
    Lab, LabRow, Script, Soak, SoakLength, SoakProgress, SoakRow, check_plugin, find_plugin,
};
use serde_json::{Value, json};

use super::generate::preset;
use crate::args::{FabricArgs, LabArgs, OpensmCommand};
use crate::text::{counted, number};
use crate::{Answer, input, output, source};

pub(super) fn run(command: &OpensmCommand) -> Result<Answer> {
    match command {
        OpensmCommand::Lab(args) => match args.soak {
            Some(length) => soak(args, length),
            None => lab(args),
        },
        OpensmCommand::Renumber(args) => renumber(&args.state),
    }
}

/// Writes a request for the plugin, which looks for it before it routes.
fn renumber(state: &Path) -> Result<Answer> {
    let name = state.display();
    anyhow::ensure!(
        state.is_dir(),
        "{name}: there is no such folder; give the state folder of the plugin with --state (state_folder in dmodc.conf)"
    );
    anyhow::ensure!(
        state.join("dmodc.orders").is_file(),
        "{name}: this is not the state folder of a plugin, because it has no dmodc.orders; give the folder with --state \
         (state_folder in dmodc.conf, or the folder below it that the log of OpenSM names)"
    );
    let request = state.join("renumber");
    std::fs::write(&request, "").with_context(|| request.display().to_string())?;
    output::print(&format!(
        "The request is written: {}\n\
         The plugin will number all destinations anew in its next routing run. Most routes will move.\n\
         hint: 'kill -HUP $(pidof opensm)' starts a run at once; otherwise it comes with the next heavy sweep\n",
        request.display()
    ))?;
    Ok(Answer::Yes)
}

fn soak(args: &LabArgs, length: SoakLength) -> Result<Answer> {
    let fabric = fabric(args)?;
    let plugin = plugin(args.plugin.as_deref())?;
    check_plugin(&plugin)?;
    let learns = args.reference.is_some();
    let (only, dump) = (args.only.as_deref(), args.dump.as_deref());
    let soak =
        Soak { fabric: &fabric, plugin: &plugin, length, seed: args.seed, learns, only, dump };
    if !args.json {
        output::print(&soak_header(&fabric, args.seed, learns))?;
    }
    let mut printed = Ok(());
    let (rows, summary) = soak.run(|progress| {
        if !args.json && printed.is_ok() {
            printed = output::print(&match progress {
                SoakProgress::Skipped(why) => format!("skipped: {why}\n"),
                SoakProgress::Event(row) => soak_line(row, args.seed),
            });
        }
    })?;
    printed?;
    match args.json {
        true => {
            let runs = json!([{ "engine": "dmodc", "events": rows, "soak": summary }]);
            let sound = rows.iter().all(|row| row.verdict.sound);
            output::print(&format!("{:#}\n", report(&fabric, sound, summary.right, runs)))?;
        }
        false => output::print(&format!("{summary}\n"))?,
    }
    Ok(summary.right.into())
}

fn soak_header(fabric: &Fabric, seed: u64, learns: bool) -> String {
    format!(
        "OpenSM with dmodc{} on a simulated fabric of {} and {}; random events of seed {seed}\n\
         {:>5}  {:<52}{:>7}{:>13}{:>10}{:>10}{:>10}  switches hold\n",
        if learns { " and a learned reference" } else { "" },
        counted(fabric.nodes().len(), "node"),
        counted(fabric.switches().len(), "switch"),
        "event",
        "",
        "sweeps",
        "uploaded in",
        "entries",
        "to others",
        "balance",
    )
}

fn soak_line(row: &SoakRow, seed: u64) -> String {
    let percent = format!("{:+.1} %", (row.balance.ratio() - 1.0) * 100.0);
    let mut text = format!(
        "{:>5}  {:<52}{:>7}{:>13}{:>10}{:>10}{:>10}  {}\n",
        row.number,
        row.event,
        row.sweeps,
        format!("{:.2} s", row.upload_s),
        number(row.verdict.entries_changed),
        number(row.others_moved),
        if row.quiet { percent } else { format!("({percent})") },
        row.verdict,
    );
    if row.roadless > 0 {
        let pairs = counted(row.roadless, "lost pair");
        let _ = writeln!(text, "       {pairs} without any up*down* route");
    }
    if let Some(handover) = row.handover.filter(|handover| !handover.is_shared)
        && let Some(moved) = handover.moved_if_shared
    {
        let moved = counted(moved, "entry");
        let _ = writeln!(text, "       with a shared state folder, {moved} would have moved");
    }
    for wrong in &row.wrong {
        let _ = writeln!(text, "       WRONG (seed {seed}, event {}): {wrong}", row.number);
    }
    text
}

/// Returns the report as JSON.
fn report(fabric: &Fabric, sound: bool, right: bool, runs: Value) -> Value {
    json!({
        "schema": "dmodc/lab/4",
        "nodes": fabric.nodes().len(),
        "switches": fabric.switches().len(),
        "sound": sound,
        "right": right,
        "runs": runs,
    })
}

fn lab(args: &LabArgs) -> Result<Answer> {
    let fabric = fabric(args)?;
    let script = match args.faults.as_deref() {
        None => Script::default(),
        Some(path) if path == Path::new("demo") => Script::demo(),
        Some(path) => {
            // An unknown name is reported before anything is started.
            source::read_list(path, |text| {
                let script = Script::read(text)?;
                script.check(&fabric)?;
                Ok(script)
            })?
        }
    };
    let plugin = plugin(args.plugin.as_deref())?;
    check_plugin(&plugin)?;
    let lab = Lab { fabric: &fabric, plugin: &plugin, script: &script, judges: !args.unchecked };
    let mut runs: Vec<(&str, Vec<LabRow>)> = Vec::new();
    for engine in &args.engine {
        if !args.json {
            output::print(&header(engine, &fabric))?;
        }
        let mut printed = Ok(());
        let rows = lab.run(engine, |row| {
            if !args.json && printed.is_ok() {
                printed = output::print(&line(row));
            }
        })?;
        printed?;
        runs.push((engine, rows));
    }
    let rows = || runs.iter().flat_map(|(_, rows)| rows);
    let right = rows().all(LabRow::is_right);
    if args.json {
        let runs = runs.iter().map(|(engine, rows)| json!({ "engine": engine, "events": rows }));
        let runs = runs.collect();
        let report = report(&fabric, rows().all(LabRow::is_sound), right, runs);
        output::print(&format!("{report:#}\n"))?;
    }
    Ok(right.into())
}

fn fabric(args: &LabArgs) -> Result<Fabric> {
    match (&args.preset, &args.fabric) {
        (Some(name), _) => Ok(preset(name)?.shape().fabric(Default::default())?),
        (None, Some(path)) => input::fabric(&FabricArgs { fabric: path.clone(), strict: false }),
        (None, None) => anyhow::bail!("give the file of a fabric, or --preset NAME"),
    }
}

/// Returns the path of the plugin: as given, or next to this program, or among the installed libraries.
pub(super) fn plugin(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(path) => std::path::absolute(path).with_context(|| path.display().to_string()),
        None => Ok(find_plugin(
            &std::env::current_exe().context("cannot find the path of this program")?,
        )),
    }
}

fn header(engine: &str, fabric: &Fabric) -> String {
    format!(
        "OpenSM with engine {} on a simulated fabric of {} and {}\n\
         {:<24}{:>7}{:>13}{:>13}{:>12}{:>11}{:>12}  switches hold\n",
        engine,
        counted(fabric.nodes().len(), "node"),
        counted(fabric.switches().len(), "switch"),
        "event",
        "sweeps",
        "uploaded in",
        "hop tables",
        "tables",
        "routes",
        "entries",
    )
}

fn line(row: &LabRow) -> String {
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
        let _ = write!(text, "the engine GAVE UP ({why}), and the next engine routed: ");
    }
    text += &row.verdict.as_ref().map_or("not checked".into(), ToString::to_string);
    text.push('\n');
    text
}
