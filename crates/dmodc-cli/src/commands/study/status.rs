//! `dmodc study status`: which shards are finished, begun and missing.

use std::fmt::Write as _;

use anyhow::Result;
use dmodc_study::study::{Shard, Study, StudyFolder, StudyStatus, status};
use serde_json::json;

use super::table::open;
use crate::args::StudyArgs;
use crate::text::{counted, number};
use crate::{Answer, output};

pub(super) fn report_status(args: &StudyArgs) -> Result<Answer> {
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
        output::print(&status_text(args, &study, &folder, &found))?;
    }
    Ok(found.missing.is_empty().into())
}

/// Returns the command that measures a shard.
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

fn status_text(
    args: &StudyArgs,
    study: &Study,
    folder: &StudyFolder,
    found: &StudyStatus,
) -> String {
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
        let go_on = format!("continue with '{}'", command(args, of.shard));
        let _ = match of.is_running {
            Some(true) => writeln!(text, "shard {} is running: {done}", of.shard),
            Some(false) => writeln!(text, "shard {} was interrupted: {done}; {go_on}", of.shard),
            None => writeln!(text, "shard {}: {done}; if it is not running, {go_on}", of.shard),
        };
    }
    for shard in &found.holes {
        let _ =
            writeln!(text, "missing: shard {shard}; measure it with '{}'", command(args, *shard));
    }
    match &found.merged {
        Some(path) => {
            let _ = writeln!(text, "complete: {}", path.display());
        }
        None if found.missing.is_empty() => {
            let _ = writeln!(
                text,
                "all shards are measured; join them with 'dmodc study merge {}'",
                args.plan.display()
            );
        }
        None => {}
    }
    text
}
