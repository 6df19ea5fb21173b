//! The report for a browser.

use std::collections::BTreeMap;

use dmodc_study::answers::whatif::{WhatifReport, kind_name};
use dmodc_study::report::{FaultPage, FaultRow, Histogram, PatternSection, faults_html};
use dmodc_study::what_if::FaultGroup;

use super::words::{example, series_name};
use crate::args::command_line;
use crate::text::{counted, number, time};

/// The greatest number of groups on the page.
const SHOWN: usize = 500;

pub(super) fn html(report: &WhatifReport<'_>) -> String {
    let tally = report.present.tally();
    let mut facts = vec![
        ("engine".into(), report.engine.clone()),
        ("faults tried".into(), number(report.outcomes.len())),
        ("time".into(), time(report.elapsed)),
        ("now".into(), tally.delivery.to_string()),
        (
            "all-to-all now".into(),
            format!("{} (bound {})", number(tally.all_to_all.max), number(tally.all_to_all.bound)),
        ),
    ];
    for (pattern, risk) in report.patterns.iter().zip(&tally.series) {
        facts.push((format!("{} now", series_name(pattern)), format!("{:.2}", risk.mean())));
    }
    let shown = report.groups.len().min(SHOWN);
    faults_html(&FaultPage {
        title: "What every fault would do".into(),
        facts,
        distribution: distribution(report),
        series: report.patterns.iter().map(series_name).collect(),
        rows: report.groups[..shown].iter().map(|group| row(report, group)).collect(),
        more: report.groups.len() - shown,
        made_by: format!("dmodc {}: {}", env!("CARGO_PKG_VERSION"), command_line()),
    })
}

/// Returns how the risk of all-to-all is distributed over the faults.
fn distribution(report: &WhatifReport<'_>) -> PatternSection {
    let mut bars: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, outcome) in report.outcomes {
        *bars.entry(outcome.a2a).or_default() += 1;
    }
    let sum: u64 = report.outcomes.iter().map(|(_, outcome)| outcome.a2a).sum();
    PatternSection {
        name: "Risk of all-to-all after a fault".into(),
        about: format!(
            "How many faults leave how many flows of all-to-all on the worst port. Without a fault there are {} flows.",
            number(report.present.tally().all_to_all.max)
        ),
        max: bars.keys().next_back().copied().unwrap_or(0) as f64,
        mean: sum as f64 / report.outcomes.len().max(1) as f64,
        mean_over: "all faults".into(),
        histogram: Histogram {
            value: "flows on the worst port".into(),
            count: "faults".into(),
            bars: bars.into_iter().collect(),
        },
        ..PatternSection::default()
    }
}

fn row(report: &WhatifReport<'_>, group: &FaultGroup) -> FaultRow {
    let (outcome, now) = (&group.outcome, report.present.tally());
    let ratio = |by: u64| match by {
        0 => "–".into(),
        by => format!("{:.2}", outcome.a2a as f64 / by as f64),
    };
    let kinds: Vec<String> = group.kinds.iter().map(|&kind| kind_name(kind)).collect();
    FaultRow {
        kind: kinds.join(" and "),
        example: example(report, group.faults[0]),
        alike: counted(group.faults.len(), "fault"),
        undelivered: number(report.interrupted(outcome)),
        all_to_all: [number(outcome.a2a), ratio(now.all_to_all.max), ratio(outcome.a2a_bound)],
        series: outcome.series.iter().map(|risk| format!("{:.2}", risk.mean())).collect(),
        moved: [number(outcome.entries), number(outcome.pairs)],
    }
}
