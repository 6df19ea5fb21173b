//! `dmodc whatif`: what every single or double fault would do.

mod csv;
mod json;
mod page;
mod words;

use std::io::{IsTerminal, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use dmodc::advise::{FaultScope, Present};
use dmodc::judge::risk::SeriesPattern;
use dmodc::{Fabric, Router};
use dmodc_study::analysis::Pattern;
use dmodc_study::engine::EngineName;
use dmodc_study::interrupt;
use dmodc_study::study::Shard;
use dmodc_study::what_if::{
    DoubleFaults, FaultGroup, FaultSurvey, Faults, NumberedOutcome, Outcome, SurveyProgress, groups,
};

use crate::args::{DoubleArg, FailOn, FailingParts, WhatifArgs};
use crate::route_state::{Numbers, RouteState};
use crate::text::{counted, number, span};
use crate::{Answer, output};

/// In larger fabrics, a sample of the shifts is counted.
const FEW_NODES: usize = 1024;
const SAMPLED_SHIFTS: usize = 64;

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
    let state = RouteState::read(&args.routing, Numbers::Once)?;
    let engine = args.routing.engine.to_string();
    let router = state.into_router()?;
    let (patterns, series) = patterns(args, &router)?;
    let start = Instant::now();
    let present = Present::new(&router, &series);
    let faults = faults(args, &present)?;
    let options = format!("{engine} {patterns:?} seed {}", args.routing.seed);
    let survey = FaultSurvey::new(&present, &faults, &options);
    let outcomes = match &args.merge[..] {
        [] => run_survey(args, &survey, start)?,
        journals => survey.merge(journals)?,
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
        true => json::json(&report),
        false => words::text(&report, args.most),
    })?;
    Ok((args.fail_on != Some(FailOn::Lost) || !report.loses()).into())
}

/// Everything that is reported.
struct WhatifReport<'a> {
    fabric: &'a Fabric,
    present: &'a Present<'a>,
    engine: String,
    /// The patterns of the series, in the order of the series.
    patterns: &'a [Pattern],
    groups: Vec<FaultGroup>,
    faults: &'a Faults,
    outcomes: &'a [NumberedOutcome],
    shard: Shard,
    elapsed: Duration,
}

impl WhatifReport<'_> {
    /// Returns how many of the pairs that arrive now do not arrive after a fault; pairs of nodes that fail with it count.
    fn interrupted(&self, outcome: &Outcome) -> u64 {
        self.present.tally().delivery.delivered.saturating_sub(outcome.delivered)
    }

    /// Returns whether fewer pairs arrive after some fault.
    fn loses(&self) -> bool {
        self.groups.iter().any(|group| self.interrupted(&group.outcome) > 0)
    }
}

/// Returns the patterns of series that the arguments ask for, for people and for the judge.
fn patterns(args: &WhatifArgs, router: &Router) -> Result<(Vec<Pattern>, Vec<SeriesPattern>)> {
    let nodes = router.fabric().nodes().len();
    let usual = match nodes > FEW_NODES {
        true => vec![Pattern::Shifts(Some(SAMPLED_SHIFTS))],
        false => vec![Pattern::Shifts(None)],
    };
    let wanted = args.patterns.clone().unwrap_or(usual);
    let (mut patterns, mut series) = (vec![], vec![]);
    let seed = args.routing.seed;
    for pattern in wanted {
        series.push(match pattern {
            Pattern::AllToAll => continue,
            Pattern::Shifts(None) if nodes > 8 * FEW_NODES => bail!(
                "all shifts of {} take too much memory; use a sample such as sp:64",
                counted(nodes, "node")
            ),
            Pattern::Shifts(None) => SeriesPattern::AllShifts,
            Pattern::Shifts(Some(count)) => SeriesPattern::Shifts { count, seed },
            Pattern::Permutations(count) => SeriesPattern::Random { count, seed },
            other => bail!("whatif counts the patterns a2a, sp, sp:N and rp:N, not '{other}'"),
        });
        if patterns.iter().any(|known: &Pattern| known.key() == pattern.key()) {
            bail!("--patterns names '{}' twice", pattern.key());
        }
        patterns.push(pattern);
    }
    Ok((patterns, series))
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
