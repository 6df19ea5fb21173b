//! `dmodc study run`: measures a shard.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use dmodc_lab::check_opensm;
use dmodc_study::interrupt;
use dmodc_study::study::{
    PlannedEngine, Shard, ShardResult, ShardRun, Study, StudyFolder, StudyProgress, StudyRow,
};
use serde_json::json;

use super::table::{open, rows_of};
use crate::args::{EngineName, StudyRunArgs};
use crate::commands::opensm;
use crate::text::{self, counted, number, span, time};
use crate::{Answer, device, output};

pub(super) fn measure(args: &StudyRunArgs) -> Result<Answer> {
    let (study, folder) = open(&args.study)?;
    for (file, dirt) in &study.dirt {
        for line in text::dirt(dirt) {
            eprintln!("dmodc: {}: {line}", file.display());
        }
    }
    let (shard, variables) = match args.shard {
        Some(shard) => (shard, None),
        None => match Shard::from_environment(|name| std::env::var(name).ok()) {
            Ok(Some((shard, variables))) => (shard, Some(variables)),
            Ok(None) => (Shard::WHOLE, None),
            Err(what) => bail!("{what}"),
        },
    };
    let plugin = opensm::plugin(args.plugin.as_deref())?;
    warn_without_opensm(&study, &folder, &plugin);
    let start = Instant::now();
    let (result, device) = device::on(args.device, |device| {
        let (name, plugin) = (device.description(), plugin.clone());
        let shard = ShardRun { study: &study, folder: &folder, shard, plugin, device };
        Ok((run(&shard, start)?, name))
    })?;
    let rows = rows_of(&result.table)?.0;
    let (refused, lost) = (refusals(&rows), losses(&rows));
    let elapsed = start.elapsed();
    let study = &study;
    let report = StudyRunReport { study, shard, variables, device, result, refused, lost, elapsed };
    output::print(&if args.study.json { report.json() } else { report.text() })?;
    Ok(Answer::Yes)
}

/// Warns before hours of measuring that the engines of OpenSM in the plan cannot take part on this machine.
fn warn_without_opensm(study: &Study, folder: &StudyFolder, plugin: &Path) {
    let is_opensm = |engine: &PlannedEngine| matches!(engine.name, EngineName::Opensm(_));
    if study.plan.engines.iter().any(is_opensm)
        && let Err(why) = check_opensm(plugin)
    {
        let folder = folder.path().display();
        eprintln!(
            "dmodc: OpenSM's engines cannot route on this machine, so their rows will have no figures: {why}. To measure them \
             later, remove {folder} and run the study again"
        );
    }
}

/// Runs a shard, shows its progress at a terminal, and leaves a message if a signal ends it.
fn run(shard: &ShardRun<'_>, start: Instant) -> Result<ShardResult> {
    let is_terminal = std::io::stderr().is_terminal();
    let latest = Arc::new(Mutex::new(None));
    let reported = Arc::clone(&latest);
    let _message = interrupt::last_message(move || {
        let progress = *reported.lock().unwrap_or_else(PoisonError::into_inner);
        let clear = if is_terminal { "\r\x1b[K" } else { "" };
        format!("{clear}dmodc: {}", interrupted(progress))
    });
    let show = |progress: StudyProgress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if is_terminal {
            let line = progress_line(progress, start.elapsed());
            // If the line cannot be shown, the run goes on.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        }
    };
    let result = shard.run(show);
    if is_terminal {
        eprint!("\r\x1b[K");
    }
    Ok(result?)
}

/// Everything that is reported about a finished run.
struct StudyRunReport<'a> {
    study: &'a Study,
    shard: Shard,
    /// The environment variables that chose the shard, if they did.
    variables: Option<String>,
    /// The device that measured, if it is a GPU.
    device: Option<String>,
    result: ShardResult,
    refused: Vec<EngineRefusal>,
    lost: Vec<EngineLoss>,
    elapsed: Duration,
}

impl StudyRunReport<'_> {
    fn json(&self) -> String {
        let StudyRunReport { study, shard, result, .. } = self;
        let report = json!({
            "schema": "dmodc/study-run/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "shard": { "index": shard.index, "count": shard.count, "told_by": self.variables },
            "device": self.device.as_deref().unwrap_or("processor"),
            "cells": result.progress.total,
            "measured_before": result.progress.before,
            "skipped_fabrics": study.skipped.iter().map(|(name, file)| json!({
                "name": name, "file": file.display().to_string(),
            })).collect::<Vec<_>>(),
            "refused": self.refused.iter().map(|of| json!({
                "engine": of.engine, "rows": of.rows, "first_reason": of.why,
            })).collect::<Vec<_>>(),
            "lost": self.lost.iter().map(|of| json!({
                "engine": of.engine, "rows": of.rows, "most": of.most,
            })).collect::<Vec<_>>(),
            "table": result.table.display().to_string(),
            "summary": result.summary.as_ref().map(|path| path.display().to_string()),
            "seconds": self.elapsed.as_secs_f64(),
        });
        format!("{report:#}\n")
    }

    fn text(&self) -> String {
        let ShardResult { progress, table, summary } = &self.result;
        let mut text = match self.shard {
            Shard::WHOLE => format!("{}: ", self.study.plan.name),
            shard => format!("{}, shard {shard}: ", self.study.plan.name),
        };
        if let Some(variables) = &self.variables {
            let _ = write!(text, "(shard from {variables}) ");
        }
        let cells = counted(progress.total, "cell");
        let _ = match progress.before {
            0 => write!(text, "{cells} measured"),
            before => {
                let new = number(progress.total - before);
                write!(text, "{cells}: {} were there already, {new} measured", number(before))
            }
        };
        if let Some(device) = &self.device {
            let _ = write!(text, " on {device}");
        }
        let _ = writeln!(text, " in {}: {}", time(self.elapsed), table.display());
        if let Some(summary) = summary {
            let _ = writeln!(text, "summary: {}", summary.display());
        }
        for EngineRefusal { engine, rows, why } in &self.refused {
            let rows = counted(*rows, "row");
            let _ = writeln!(
                text,
                "note: engine {engine} could not route in {rows}, for example: {why}"
            );
        }
        for EngineLoss { engine, rows, most } in &self.lost {
            let _ = writeln!(
                text,
                "note: engine {engine} loses up to {} in {}; these rows are not compared with other engines",
                counted(*most, "node pair"),
                counted(*rows, "row"),
            );
        }
        text
    }
}

/// The rows that an engine refused, and the reason of the first.
struct EngineRefusal {
    engine: String,
    rows: usize,
    why: String,
}

/// Returns the refusals by engine, in the order of the table.
fn refusals(rows: &[StudyRow]) -> Vec<EngineRefusal> {
    let mut all: Vec<EngineRefusal> = vec![];
    for row in rows.iter().filter(|row| !row.get("refused").is_empty()) {
        let (engine, why) = (row.get("engine"), row.get("refused"));
        match all.iter_mut().find(|of| of.engine == engine) {
            Some(of) => of.rows += 1,
            None => all.push(EngineRefusal { engine: engine.into(), rows: 1, why: why.into() }),
        }
    }
    all
}

/// Returns the message when a signal ends a run.
fn interrupted(progress: Option<StudyProgress>) -> String {
    match progress {
        Some(StudyProgress { done, total, .. }) => format!(
            "interrupted: {} of {} done and kept; run the same command again to continue",
            number(done),
            counted(total, "cell"),
        ),
        None => "interrupted before the first cell was finished; run the same command again".into(),
    }
}

/// The rows in which an engine loses pairs that live cables connect, and the most pairs that it loses.
struct EngineLoss {
    engine: String,
    rows: usize,
    most: u64,
}

/// Returns the losses by engine, in the order of the table.
fn losses(rows: &[StudyRow]) -> Vec<EngineLoss> {
    let mut all: Vec<EngineLoss> = vec![];
    for row in rows.iter().filter(|row| row.lost() > 0) {
        match all.iter_mut().find(|of| of.engine == row.get("engine")) {
            Some(of) => {
                of.rows += 1;
                of.most = of.most.max(row.lost());
            }
            None => {
                all.push(EngineLoss {
                    engine: row.get("engine").into(),
                    rows: 1,
                    most: row.lost(),
                });
            }
        }
    }
    all
}

/// Returns the progress, and how long the run may still take.
fn progress_line(progress: StudyProgress, elapsed: Duration) -> String {
    let StudyProgress { done, before, total } = progress;
    let left = match done - before {
        0 => "…".into(),
        now => {
            let seconds = elapsed.as_secs_f64() / now as f64 * (total - done) as f64;
            span(seconds.ceil() as u64)
        }
    };
    let share = 100 * done / total.max(1);
    format!("{} of {} done, {share} %, {left} left", number(done), counted(total, "cell"))
}
