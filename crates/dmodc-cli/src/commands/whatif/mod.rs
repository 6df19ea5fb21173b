//! `dmodc whatif`: what every single or double fault would do.

mod csv;
mod page;
mod words;

use std::io::{IsTerminal, Write as _};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use dmodc::advise::{FaultScope, Present};
use dmodc_study::answers::whatif::{WhatifReport, json, series_patterns};
use dmodc_study::engine::EngineName;
use dmodc_study::interrupt;
use dmodc_study::study::Shard;
use dmodc_study::what_if::{
    DoubleFaults, FaultSurvey, Faults, NumberedOutcome, SurveyProgress, groups,
};

use crate::args::{DoubleArg, FailOn, FailingParts, WhatifArgs};
use crate::route_state::{self, Numbers};
use crate::text::{counted, number, span};
use crate::{Answer, device, output};

pub(super) fn run(args: &WhatifArgs) -> Result<Answer> {
    for path in [&args.csv, &args.html].into_iter().flatten() {
        ensure!(
            path.as_os_str() != "-",
            "--csv and --html need the name of a file; standard output is for the report"
        );
    }
    ensure!(
        args.routing.engine != EngineName::Dmodk,
        "the engine dmodk routes only regular fat trees (PGFTs) without faults, so it cannot try any fault; use --engine dmodc"
    );
    let state = route_state::read(&args.routing, Numbers::Once)?;
    let engine = args.routing.engine.to_string();
    let router = state.into_router()?;
    let (patterns, series) = series_patterns(
        args.patterns.as_deref(),
        router.fabric().nodes().len(),
        args.routing.seed,
    )?;
    let start = Instant::now();
    let present = Present::new(&router, &series);
    let faults = faults(args, &present)?;
    let options = format!("{engine} {patterns:?} seed {}", args.routing.seed);
    let survey = || FaultSurvey::new(&present, &faults, &options);
    let (outcomes, device) = match &args.merge[..] {
        [] => device::on(args.device, |device| {
            let name = device.description();
            Ok((run_survey(args, &survey().on(device), start)?, name))
        })?,
        journals => (survey().merge(journals)?, None),
    };
    let ranking = &router.preprocessing().ranking;
    let report = WhatifReport {
        fabric: router.fabric(),
        present: &present,
        engine,
        patterns: &patterns,
        groups: groups(router.fabric(), ranking, &faults, &outcomes),
        faults: &faults,
        outcomes: &outcomes,
        shard: args.shard.unwrap_or(Shard::WHOLE),
        device,
        elapsed: start.elapsed(),
    };
    if let Some(path) = &args.csv {
        output::to(Some(path), |out| csv::write(&report, out))?;
    }
    if let Some(path) = &args.html {
        let page = page::html(&report);
        output::to(Some(path), |out| Ok(out.write_all(page.as_bytes())?))?;
    }
    output::print(&match args.json {
        true => json(&report),
        false => words::text(&report, args.most),
    })?;
    Ok((args.fail_on != Some(FailOn::Lost) || !report.loses()).into())
}

fn faults(args: &WhatifArgs, present: &Present<'_>) -> Result<Faults> {
    let scope = FaultScope {
        cables: args.parts != FailingParts::Switches,
        switches: args.parts != FailingParts::Cables,
        leaves: args.any_switch && args.parts != FailingParts::Cables,
    };
    let doubles = match args.double {
        None => DoubleFaults::None,
        Some(DoubleArg::All) => DoubleFaults::All,
        Some(DoubleArg::Sample(count)) => DoubleFaults::Sample { count, seed: args.routing.seed },
    };
    Ok(Faults::new(present.single_faults(scope), doubles)?)
}

/// Tries the faults, shows the progress at a terminal, and leaves a message if a signal ends the program.
fn run_survey(
    args: &WhatifArgs,
    survey: &FaultSurvey<'_>,
    start: Instant,
) -> Result<Vec<NumberedOutcome>> {
    let is_terminal = std::io::stderr().is_terminal();
    let latest = Arc::new(Mutex::new(None));
    let (reported, has_journal) = (Arc::clone(&latest), args.journal.is_some());
    let _message = interrupt::last_message(move || {
        let progress = *reported.lock().unwrap_or_else(PoisonError::into_inner);
        let clear = if is_terminal { "\r\x1b[K" } else { "" };
        format!("{clear}dmodc: {}", interrupted(progress, has_journal))
    });
    let show = |progress: SurveyProgress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if is_terminal {
            let line = progress_line(progress, start.elapsed());
            // If the line cannot be shown, the survey goes on.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        }
        ControlFlow::Continue(())
    };
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let outcomes = survey.run(shard, args.journal.as_deref(), show);
    if is_terminal {
        eprint!("\r\x1b[K");
    }
    Ok(outcomes?)
}

fn progress_line(progress: SurveyProgress, elapsed: Duration) -> String {
    let SurveyProgress { done, before, total } = progress;
    let left = match done - before {
        0 => "…".into(),
        now => span((elapsed.as_secs_f64() / now as f64 * (total - done) as f64).ceil() as u64),
    };
    let share = 100 * done / total.max(1);
    format!("{} of {} tried, {share} %, {left} left", number(done), counted(total, "fault"))
}

fn interrupted(progress: Option<SurveyProgress>, has_journal: bool) -> String {
    match progress {
        Some(SurveyProgress { done, total, .. }) if has_journal => format!(
            "interrupted: {} of {} tried and kept; run the same command again to continue",
            number(done),
            counted(total, "fault"),
        ),
        _ => "interrupted; with --journal FILE, the next run goes on where this one stopped".into(),
    }
}
