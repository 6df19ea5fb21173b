//! The report for people.

use std::fmt::Write as _;

use dmodc::fabric::Part;
use dmodc_study::analysis::Pattern;
use dmodc_study::answers::whatif::{WhatifReport, kind_name};
use dmodc_study::study::Shard;
use dmodc_study::what_if::{FaultGroup, Outcome};

use crate::text::{counted, number, removed, switch, time};

/// Groups that differ only in what they move are one line for people.
struct Line<'a> {
    groups: Vec<&'a FaultGroup>,
}

impl Line<'_> {
    fn faults(&self) -> usize {
        self.groups.iter().map(|group| group.faults.len()).sum()
    }

    /// Returns the least and the greatest of a number, as one text.
    fn range(&self, of: impl Fn(&Outcome) -> u64) -> String {
        let values = || self.groups.iter().map(|group| of(&group.outcome));
        match (values().min().unwrap_or(0), values().max().unwrap_or(0)) {
            (least, most) if least == most => number(least),
            (least, most) => format!("{} to {}", number(least), number(most)),
        }
    }
}

pub(super) fn text(report: &WhatifReport<'_>, most: usize) -> String {
    let mut text = heading(report);
    let lines = lines(report);
    for line in lines.iter().take(most) {
        text += &line_text(report, line);
    }
    let rest = &lines[lines.len().min(most)..];
    if !rest.is_empty() {
        let faults: usize = rest.iter().map(Line::faults).sum();
        let _ = writeln!(
            text,
            "and {} with {} (--most N shows more)",
            counted(rest.len(), "less harmful group"),
            counted(faults, "fault"),
        );
    }
    text + &verdict(report)
}

fn heading(report: &WhatifReport<'_>) -> String {
    let tally = report.present.tally();
    let parts = report.faults.singles();
    let switches = parts.iter().filter(|part| matches!(part, Part::Switch(_))).count();
    let mut text = format!(
        "engine {}: {} and {} fail, one at a time",
        report.engine,
        counted(parts.len() - switches, "cable"),
        counted(switches, "switch"),
    );
    let doubles = report.faults.len() - parts.len();
    if doubles > 0 {
        let _ = write!(text, "; {} of parts fail together", counted(doubles, "pair"));
    }
    if report.shard != Shard::WHOLE {
        let _ = write!(text, "; shard {}", report.shard);
    }
    let _ = writeln!(
        text,
        " ({} tried{} in {})",
        counted(report.outcomes.len(), "fault"),
        report.device.as_ref().map_or(String::new(), |device| format!(" on {device}")),
        time(report.elapsed)
    );
    let _ = write!(
        text,
        "now: {}; all-to-all {}, {} × the bound",
        tally.delivery,
        number(tally.all_to_all.max),
        ratio(tally.all_to_all.max as f64, tally.all_to_all.bound as f64),
    );
    for (pattern, risk) in report.patterns.iter().zip(&tally.series) {
        let _ = write!(text, "; {} {:.2}", series_name(pattern), risk.mean());
    }
    text + "\n\n"
}

/// Returns the name of a pattern. For random permutations it says what the number is, because other commands report their
/// median.
pub(super) fn series_name(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Permutations(_) => format!("{pattern} mean"),
        _ => pattern.to_string(),
    }
}

/// Returns the groups, with those together that do the same harm.
fn lines<'a>(report: &'a WhatifReport<'_>) -> Vec<Line<'a>> {
    let harm = |group: &FaultGroup| {
        let Outcome { lost, cut_off, a2a, a2a_bound, series, .. } = &group.outcome;
        (group.kinds.clone(), *lost, *cut_off, *a2a, *a2a_bound, series.clone())
    };
    let mut lines: Vec<Line<'a>> = vec![];
    let mut places = std::collections::HashMap::new();
    for group in &report.groups {
        let place = *places.entry(harm(group)).or_insert_with(|| {
            lines.push(Line { groups: vec![] });
            lines.len() - 1
        });
        lines[place].groups.push(group);
    }
    lines
}

fn line_text(report: &WhatifReport<'_>, line: &Line<'_>) -> String {
    let (first, now) = (line.groups[0], report.present.tally());
    let outcome = &first.outcome;
    let kinds: Vec<String> = first.kinds.iter().map(|&kind| kind_name(kind)).collect();
    let kinds = kinds.join(" and ");
    let example = example(report, first.faults[0]);
    let mut text = match line.faults() {
        1 => format!("{kinds}: {example}\n"),
        many => format!("any of {} ({kinds}), such as {example}\n", counted(many, "fault")),
    };
    let interrupted = report.interrupted(outcome);
    if interrupted > 0 {
        let _ = writeln!(
            text,
            "  interrupts {}: {} lost, {} cut off{}{}",
            counted(interrupted, "node pair"),
            number(outcome.lost),
            number(outcome.cut_off),
            of_failed_nodes(report, outcome),
            pairs(report, outcome),
        );
    }
    let _ = write!(
        text,
        "  all-to-all {}: {} × now, {} × the bound",
        number(outcome.a2a),
        ratio(outcome.a2a as f64, now.all_to_all.max as f64),
        ratio(outcome.a2a as f64, outcome.a2a_bound as f64),
    );
    let series = report.patterns.iter().zip(&outcome.series).zip(&now.series);
    for ((pattern, after), now) in series {
        let times = ratio(after.mean(), now.mean());
        let bound = ratio(after.mean(), after.mean_bound());
        let (name, mean) = (series_name(pattern), after.mean());
        let _ = write!(text, "; {name} {mean:.2}: {times} × now, {bound} × the bound");
    }
    let _ = writeln!(
        text,
        "\n  moves {} entries in {} blocks, {} node pairs",
        line.range(|outcome| outcome.entries),
        line.range(|outcome| outcome.blocks),
        line.range(|outcome| outcome.pairs),
    );
    text
}

fn verdict(report: &WhatifReport<'_>) -> String {
    let is_harmful = |group: &&FaultGroup| report.interrupted(&group.outcome) > 0;
    let harmful: usize =
        report.groups.iter().filter(is_harmful).map(|group| group.faults.len()).sum();
    match harmful {
        0 if report.faults.is_empty() => "verdict: there is nothing that could fail\n".into(),
        0 => "verdict: no such fault interrupts a node pair\n".into(),
        _ => format!("verdict: {} would interrupt node pairs\n", counted(harmful, "fault")),
    }
}

/// Returns a number divided by another one.
fn ratio(value: f64, by: f64) -> String {
    if by > 0.0 { format!("{:.2}", value / by) } else { "–".into() }
}

/// Returns how many pairs are of nodes that fail with their switch; nothing if there are none.
fn of_failed_nodes(report: &WhatifReport<'_>, outcome: &Outcome) -> String {
    let delivery = &report.present.tally().delivery;
    match delivery.pairs.saturating_sub(outcome.delivered + outcome.lost + outcome.cut_off) {
        0 => String::new(),
        pairs => format!(", {} of nodes that fail with it", number(pairs)),
    }
}

/// Returns the parts of a fault.
pub(super) fn example(report: &WhatifReport<'_>, fault: usize) -> String {
    let parts = report.faults.get(fault).parts();
    let names: Vec<String> = parts.iter().map(|&part| removed(report.fabric, part)).collect();
    names.join(" with ")
}

/// Returns the pairs that are named.
fn pairs(report: &WhatifReport<'_>, outcome: &Outcome) -> String {
    const NAMED: usize = 3;
    let pair = |pair: &dmodc::judge::risk::LostPair| {
        let to = &report.fabric.adapter_of(pair.to).name;
        format!("{} to '{to}'", switch(report.fabric, pair.from))
    };
    let mut names: Vec<String> = outcome.undelivered.iter().take(NAMED).map(pair).collect();
    if outcome.undelivered.len() > names.len() {
        names.push("…".into());
    }
    match names.is_empty() {
        // The pairs are those of nodes that fail with their switch.
        true => String::new(),
        false => format!(" (from the nodes of {})", names.join("; of ")),
    }
}
