//! `dmodc study`: many measurements as a plan says, in as many pieces as there are machines.

use std::fmt::Write as _;
use std::fs;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use dmodc_study::interrupt;
use dmodc_study::study::{
    Field, Record, Shard, ShardResult, ShardRun, Study, StudyError, StudyFolder, StudyProgress,
    StudyRow, StudyStatus, StudySummary, figures, merge, read_rows, status,
};
use serde_json::{Value, json};

use crate::args::{StudyArgs, StudyCommand, StudyRunArgs, StudySummaryArgs};
use crate::text::{counted, number, time};
use crate::{Answer, output, text};

pub(super) fn run(command: &StudyCommand) -> Result<Answer> {
    match command {
        StudyCommand::Run(args) => measure(args),
        StudyCommand::Status(args) => tell(args),
        StudyCommand::Merge(args) => put_together(args),
        StudyCommand::Summary(args) => summarise(args),
        StudyCommand::Plot(args) => plot(args),
    }
}

/// The study, and where its results are.
fn open(args: &StudyArgs) -> Result<(Study, StudyFolder)> {
    let study = Study::open(&args.plan).map_err(explain)?;
    let folder = StudyFolder::new(args.output.as_deref(), &args.plan, &study);
    Ok((study, folder))
}

/// What is wrong with a plan is shown with its line.
fn explain(error: StudyError) -> anyhow::Error {
    let excerpt = match &error {
        StudyError::Plan { text, error, .. } => text::excerpt(text.as_bytes(), error),
        _ => None,
    };
    match excerpt {
        Some(excerpt) => anyhow!("{error}\n{excerpt}"),
        None => error.into(),
    }
}

fn measure(args: &StudyRunArgs) -> Result<Answer> {
    let (study, folder) = open(&args.study)?;
    for (file, dirt) in &study.dirt {
        for line in text::dirt(dirt) {
            eprintln!("dmodc: {}: {line}", file.display());
        }
    }
    let (shard, told) = match args.shard {
        Some(shard) => (shard, None),
        None => match Shard::from_environment(|name| std::env::var(name).ok()) {
            Ok(Some((shard, told))) => (shard, Some(told)),
            Ok(None) => (Shard::WHOLE, None),
            Err(what) => bail!("{what}"),
        },
    };
    let plugin = super::opensm::plugin(args.plugin.as_deref())?;
    let (start, is_terminal) = (Instant::now(), std::io::stderr().is_terminal());
    let latest = Arc::new(Mutex::new(None));
    let heard = Arc::clone(&latest);
    let _message = interrupt::last_message(move || {
        let progress = *heard.lock().unwrap_or_else(PoisonError::into_inner);
        let clear = if is_terminal { "\r\x1b[K" } else { "" };
        format!("{clear}dmodc: {}", interrupted(progress))
    });
    let show = |progress: StudyProgress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if is_terminal {
            // A line that cannot be shown is no reason to stop.
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", ahead(progress, start.elapsed()));
        }
    };
    let done = ShardRun { study: &study, folder: &folder, shard, plugin }.run(show);
    if is_terminal {
        eprint!("\r\x1b[K");
    }
    let ShardResult { progress, table, summary } = done?;
    let rows = rows_of(&table)?.0;
    let (refused, lost) = (refusals(&rows), losses(&rows));
    if args.study.json {
        let report = json!({
            "schema": "dmodc/study-run/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "shard": { "index": shard.index, "count": shard.count, "told_by": told },
            "cells": progress.total,
            "measured_before": progress.before,
            "refused": refused.iter().map(|of| json!({
                "engine": of.engine, "rows": of.rows, "first_reason": of.why,
            })).collect::<Vec<_>>(),
            "lost": lost.iter().map(|of| json!({
                "engine": of.engine, "rows": of.rows, "most": of.most,
            })).collect::<Vec<_>>(),
            "table": table.display().to_string(),
            "summary": summary.map(|path| path.display().to_string()),
            "seconds": start.elapsed().as_secs_f64(),
        });
        output::print(&format!("{report:#}\n"))?;
        return Ok(Answer::Yes);
    }
    let mut text = match shard {
        Shard::WHOLE => format!("{}: ", study.plan.name),
        shard => format!("{}, shard {shard}: ", study.plan.name),
    };
    if let Some(told) = told {
        let _ = write!(text, "(told by {told}) ");
    }
    let _ = match progress.before {
        0 => write!(text, "{} measured", counted(progress.total, "cell")),
        before => write!(
            text,
            "{} measured, {} of them by an earlier run",
            counted(progress.total, "cell"),
            number(before)
        ),
    };
    let _ = writeln!(text, " in {}: {}", time(start.elapsed()), table.display());
    if let Some(summary) = summary {
        let _ = writeln!(text, "in short: {}", summary.display());
    }
    for Refusal { engine, rows, why } in refused {
        let _ = writeln!(text, "{engine} has no figures in {}: {why}", counted(rows, "row"));
    }
    for Loss { engine, rows, most } in lost {
        let _ = writeln!(
            text,
            "{engine} loses pairs in {} (up to {}), which are not compared with other engines",
            counted(rows, "row"),
            number(most)
        );
    }
    output::print(&text)?;
    Ok(Answer::Yes)
}

/// The rows that an engine refused, and why the first one.
struct Refusal {
    engine: String,
    rows: usize,
    why: String,
}

/// By engine, in the order of the table.
fn refusals(rows: &[StudyRow]) -> Vec<Refusal> {
    let mut all: Vec<Refusal> = vec![];
    for row in rows.iter().filter(|row| !row.get("refused").is_empty()) {
        let (engine, why) = (row.get("engine"), row.get("refused"));
        match all.iter_mut().find(|of| of.engine == engine) {
            Some(of) => of.rows += 1,
            None => all.push(Refusal { engine: engine.into(), rows: 1, why: why.into() }),
        }
    }
    all
}

/// What is said when a signal ends a run.
fn interrupted(progress: Option<StudyProgress>) -> String {
    match progress {
        Some(StudyProgress { done, total, .. }) => format!(
            "interrupted: {} of {} are done and kept; run the same command to go on",
            number(done),
            counted(total, "cell"),
        ),
        None => "interrupted before the first cell; run the same command to begin again".into(),
    }
}

/// The rows in which an engine loses pairs that live cables connect, and the most pairs that it loses.
struct Loss {
    engine: String,
    rows: usize,
    most: u64,
}

/// By engine, in the order of the table.
fn losses(rows: &[StudyRow]) -> Vec<Loss> {
    let mut all: Vec<Loss> = vec![];
    for row in rows.iter().filter(|row| row.lost() > 0) {
        match all.iter_mut().find(|of| of.engine == row.get("engine")) {
            Some(of) => {
                of.rows += 1;
                of.most = of.most.max(row.lost());
            }
            None => all.push(Loss { engine: row.get("engine").into(), rows: 1, most: row.lost() }),
        }
    }
    all
}

/// How far it is, and how long it may still take.
fn ahead(progress: StudyProgress, elapsed: Duration) -> String {
    let StudyProgress { done, before, total } = progress;
    let left = match done - before {
        0 => "…".into(),
        now => {
            let seconds = elapsed.as_secs_f64() / now as f64 * (total - done) as f64;
            span(seconds.ceil() as u64)
        }
    };
    let share = 100 * done / total.max(1);
    format!("{} of {} cells, {share} %, {left} left", number(done), number(total))
}

/// A span of time in the units that matter.
fn span(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn tell(args: &StudyArgs) -> Result<Answer> {
    let (study, folder) = open(args)?;
    let found = status(&study, &folder)?;
    let shards = |shards: &[Shard]| shards.iter().map(ToString::to_string).collect::<Vec<_>>();
    if args.json {
        let begun = found.begun.iter().map(|of| {
            json!({
                "shard": of.shard.to_string(),
                "cells_finished": of.finished,
                "cells": of.cells,
                "running": of.is_running,
            })
        });
        let report = json!({
            "schema": "dmodc/study-status/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "cells": found.cells,
            "cells_missing": found.missing.len(),
            "shards": shards(&found.shards),
            "in_the_making": begun.collect::<Vec<_>>(),
            "holes": shards(&found.holes),
            "merged": found.merged.as_ref().map(|path| path.display().to_string()),
        });
        output::print(&format!("{report:#}\n"))?;
    } else {
        output::print(&words(args, &study, &folder, &found))?;
    }
    Ok(found.missing.is_empty().into())
}

/// The command that measures a shard.
fn command(args: &StudyArgs, shard: Shard) -> String {
    let mut words = format!("dmodc study run {}", args.plan.display());
    if let Some(output) = &args.output {
        let _ = write!(words, " -o {}", output.display());
    }
    if shard != Shard::WHOLE {
        let _ = write!(words, " --shard {shard}");
    }
    words
}

fn words(args: &StudyArgs, study: &Study, folder: &StudyFolder, found: &StudyStatus) -> String {
    let there = found.cells - found.missing.len();
    let mut text = format!(
        "{}: {} of {} measured, in {} ({})\n",
        study.plan.name,
        number(there),
        counted(found.cells, "cell"),
        counted(found.shards.len(), "table"),
        folder.path().display(),
    );
    for of in &found.begun {
        let (finished, cells) = (number(of.finished), counted(of.cells, "cell"));
        let done = format!("{finished} of {cells} done");
        let go_on = format!("run '{}' to go on", command(args, of.shard));
        let _ = match of.is_running {
            Some(true) => writeln!(text, "shard {} is running: {done}", of.shard),
            Some(false) => writeln!(text, "shard {} is interrupted: {done}; {go_on}", of.shard),
            None => writeln!(text, "shard {}: {done}; unless it is running, {go_on}", of.shard),
        };
    }
    for shard in &found.holes {
        let _ = writeln!(text, "hole: shard {shard}: run '{}'", command(args, *shard));
    }
    match &found.merged {
        Some(path) => {
            let _ = writeln!(text, "merged: {}", path.display());
        }
        None if found.missing.is_empty() => {
            text += "complete: 'dmodc study merge' puts it together\n";
        }
        None => {}
    }
    text
}

fn put_together(args: &StudyArgs) -> Result<Answer> {
    let (study, folder) = open(args)?;
    let merged = merge(&study, &folder)?;
    if args.json {
        let report = json!({
            "schema": "dmodc/study-merge/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "shards": merged.shards,
            "rows": merged.rows,
            "table": merged.table.display().to_string(),
            "summary": merged.summary.display().to_string(),
        });
        output::print(&format!("{report:#}\n"))?;
    } else {
        let (shards, rows) = (counted(merged.shards, "shard"), counted(merged.rows, "row"));
        let (table, summary) = (merged.table.display(), merged.summary.display());
        output::print(&format!("{shards}, {rows}: {table}\nin short: {summary}\n"))?;
    }
    Ok(Answer::Yes)
}

/// The rows of the merged table, and its name.
fn merged(study: &Study, folder: &StudyFolder) -> Result<(Vec<StudyRow>, String)> {
    let found = status(study, folder)?;
    let Some(table) = found.merged else {
        bail!(
            "{}: there is no merged table yet: 'dmodc study run' and 'dmodc study merge' make it",
            folder.path().display()
        );
    };
    rows_of(&table)
}

/// The rows of a table, and its name.
fn rows_of(table: &Path) -> Result<(Vec<StudyRow>, String)> {
    let name = table.display().to_string();
    let text = fs::read_to_string(table).with_context(|| name.clone())?;
    Ok((read_rows(&text, &name)?, name))
}

fn summarise(args: &StudySummaryArgs) -> Result<Answer> {
    let (study, folder) = open(&args.study)?;
    let (rows, name) = merged(&study, &folder)?;
    let summary = StudySummary::new(&rows);
    let engine = match &args.engine {
        Some(engine) => engine.to_string(),
        None => summary.engines().first().cloned().unwrap_or_default(),
    };
    let text = summary.markdown(&engine).map_err(|error| anyhow!("{name}: {error}"))?;
    if args.study.json {
        let mut versus = summary.versus();
        versus.retain(|record| record.contains(&("engine".into(), Field::Text(engine.clone()))));
        let report = json!({
            "schema": "dmodc/study-summary/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "engine": engine,
            "means": objects(&summary.means()),
            "versus": objects(&versus),
        });
        output::print(&format!("{report:#}\n"))?;
    } else {
        output::print(&text)?;
    }
    Ok(Answer::Yes)
}

/// Lines of a table as JSON.
fn objects(records: &[Record]) -> Vec<Value> {
    let value = |field: &Field| match field {
        Field::Text(text) => json!(text),
        Field::Number(number) => json!(number),
    };
    let object =
        |record: &Record| record.iter().map(|(name, f)| (name.clone(), value(f))).collect();
    records.iter().map(object).collect()
}

fn plot(args: &StudyArgs) -> Result<Answer> {
    let (study, folder) = open(args)?;
    let (rows, name) = merged(&study, &folder)?;
    let mut written = Vec::new();
    let mut converter = true;
    for drawing in figures::draw(&rows).map_err(|error| anyhow!("{name}: {error}"))? {
        let path = folder.figure(&format!("{}.svg", drawing.name));
        output::to(Some(&path), |out| Ok(out.write_all(drawing.svg.as_bytes())?))?;
        let png = path.with_extension("png");
        written.push(path.display().to_string());
        converter = converter && to_png(&path, &png)?;
        if converter {
            written.push(png.display().to_string());
        }
    }
    if !converter {
        eprintln!(
            "dmodc: no PNG was made: rsvg-convert is not installed (on Debian: apt-get install librsvg2-bin)"
        );
    }
    if args.json {
        let report = json!({"schema": "dmodc/study-plot/1", "figures": written, "png": converter});
        output::print(&format!("{report:#}\n"))?;
    } else {
        output::print(&(written.join("\n") + "\n"))?;
    }
    Ok(Answer::Yes)
}

/// Draws an SVG with twice as many pixels; whether there is a program that can.
fn to_png(svg: &Path, png: &Path) -> Result<bool> {
    let mut command = Command::new("rsvg-convert");
    command.args(["--zoom", "2"]).arg(svg).stdin(Stdio::null());
    let drawn = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        drawn => drawn.context("rsvg-convert")?,
    };
    if !drawn.status.success() {
        let said = String::from_utf8_lossy(&drawn.stderr);
        let said = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        bail!("{}: rsvg-convert failed: {}", svg.display(), said.unwrap_or("it said nothing"));
    }
    output::to(Some(png), |out| Ok(out.write_all(&drawn.stdout)?))?;
    Ok(true)
}
