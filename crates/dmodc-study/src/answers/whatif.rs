//! What every fault would do, as JSON.

use std::time::Duration;

use anyhow::{Result, bail};
use dmodc::advise::Present;
use dmodc::fabric::{CableEnds, Fabric, Part};
use dmodc::judge::risk::{LostPair, SeriesPattern};
use dmodc::parallel;
use serde_json::{Map, Value, json};

use super::text::counted;
use crate::analysis::Pattern;
use crate::study::Shard;
use crate::what_if::{FaultGroup, Faults, NumberedOutcome, Outcome, PartKind, SeriesNumbers};

/// In larger fabrics, a sample of the shifts is counted.
const FEW_NODES: usize = 1024;
const SAMPLED_SHIFTS: usize = 64;

/// Everything that is reported.
pub struct WhatifReport<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Its present state.
    pub present: &'a Present<'a>,
    /// The name of the engine.
    pub engine: String,
    /// The patterns of the series, in the order of the series.
    pub patterns: &'a [Pattern],
    /// The faults in groups that are alike.
    pub groups: Vec<FaultGroup>,
    /// All faults.
    pub faults: &'a Faults,
    /// The outcomes of those that were tried.
    pub outcomes: &'a [NumberedOutcome],
    /// The part of the faults that was tried.
    pub shard: Shard,
    /// The name of the GPU that tried the faults; `None` for the processor.
    pub device: Option<String>,
    /// How long it took.
    pub elapsed: Duration,
}

impl WhatifReport<'_> {
    /// Returns how many of the pairs that arrive now do not arrive after a fault; pairs of nodes that fail with it count.
    pub fn interrupted(&self, outcome: &Outcome) -> u64 {
        self.present.tally().delivery.delivered.saturating_sub(outcome.delivered)
    }

    /// Returns whether fewer pairs arrive after some fault.
    pub fn loses(&self) -> bool {
        self.groups.iter().any(|group| self.interrupted(&group.outcome) > 0)
    }
}

/// Returns the patterns of series that are asked for, for people and for the judge. The usual ones are all shifts, or a
/// sample in larger fabrics.
///
/// # Errors
/// If a pattern cannot be counted here, or is named twice.
pub fn series_patterns(
    patterns: Option<&[Pattern]>,
    nodes: usize,
    seed: u64,
) -> Result<(Vec<Pattern>, Vec<SeriesPattern>)> {
    let usual = match nodes > FEW_NODES {
        true => vec![Pattern::Shifts(Some(SAMPLED_SHIFTS))],
        false => vec![Pattern::Shifts(None)],
    };
    let wanted = patterns.map_or(usual, <[Pattern]>::to_vec);
    let (mut patterns, mut series) = (vec![], vec![]);
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

/// Returns a kind of part, with levels counted as ranks.
pub fn kind_name(kind: PartKind) -> String {
    let rank = |rank: Option<u32>| rank.map_or("?".into(), |rank| rank.to_string());
    match kind {
        PartKind::Cable(a, b) => format!("cable between ranks {} and {}", rank(a), rank(b)),
        PartKind::Switch(Some(0)) => "leaf".into(),
        PartKind::Switch(r) => format!("switch of rank {}", rank(r)),
        PartKind::NodeCable => "cable of a node".into(),
    }
}

/// Returns the report as JSON.
pub fn json(report: &WhatifReport<'_>) -> String {
    let tally = report.present.tally();
    let mut now = Map::new();
    now.insert("lost".into(), json!(tally.delivery.lost));
    now.insert("cut_off".into(), json!(tally.delivery.cut_off));
    now.insert("pairs".into(), json!(tally.delivery.pairs));
    now.insert("a2a".into(), json!(tally.all_to_all.max));
    now.insert("a2a_bound".into(), json!(tally.all_to_all.bound));
    let series: Vec<SeriesNumbers> = tally.series.iter().map(SeriesNumbers::from).collect();
    insert_series(&mut now, report, &series);
    let value = json!({
        "schema": "dmodc/whatif/1",
        "engine": report.engine,
        "patterns": report.patterns.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "shard": report.shard.to_string(),
        "device": report.device.as_deref().unwrap_or("processor"),
        "faults": report.outcomes.len(),
        "now": now,
        "rows": report.groups.iter().map(|group| row(report, group)).collect::<Vec<_>>(),
        "threads": parallel::threads(),
        "whatif_ms": report.elapsed.as_secs_f64() * 1e3,
    });
    format!("{value:#}\n")
}

fn row(report: &WhatifReport<'_>, group: &FaultGroup) -> Value {
    let (fabric, outcome) = (report.fabric, &group.outcome);
    let parts = report.faults.get(group.faults[0]).parts();
    let mut row = Map::new();
    row.insert("part".into(), json!(part_name(fabric, parts[0])));
    if parts.len() > 1 {
        let names: Vec<String> = parts.iter().map(|&part| part_name(fabric, part)).collect();
        row.insert("parts".into(), json!(names));
    }
    let kinds: Vec<String> = group.kinds.iter().map(|&kind| kind_name(kind)).collect();
    row.insert("kind".into(), json!(kinds.join(" and ")));
    row.insert("alike".into(), json!(group.faults.len()));
    let alike = group.faults.iter().map(|&fault| {
        let parts = report.faults.get(fault).parts();
        parts.iter().map(|&part| part_name(fabric, part)).collect::<Vec<_>>().join("+")
    });
    row.insert("alike_parts".into(), alike.collect());
    row.insert("interrupted".into(), json!(report.interrupted(outcome)));
    row.insert("lost".into(), json!(outcome.lost));
    row.insert("cut_off".into(), json!(outcome.cut_off));
    let pairs = outcome.undelivered.iter().map(|pair| pair_name(fabric, pair));
    row.insert("undelivered".into(), pairs.collect());
    row.insert("a2a".into(), json!(outcome.a2a));
    row.insert("a2a_bound".into(), json!(outcome.a2a_bound));
    let worst =
        outcome.worst.map(|port| format!("{}/{}", fabric.switch(port.switch).guid, port.port));
    row.insert("worst_port".into(), json!(worst));
    insert_series(&mut row, report, &outcome.series);
    for (key, value) in [
        ("entries", outcome.entries),
        ("blocks", outcome.blocks),
        ("switches", outcome.switches),
        ("pairs", outcome.pairs),
    ] {
        row.insert(key.into(), json!(value));
    }
    Value::Object(row)
}

/// Adds the mean of each series, its maximum and the mean of its bounds.
fn insert_series(
    row: &mut Map<String, Value>,
    report: &WhatifReport<'_>,
    series: &[SeriesNumbers],
) {
    for (pattern, risk) in report.patterns.iter().zip(series) {
        let key = pattern.key();
        row.insert(key.into(), json!(risk.mean()));
        row.insert(format!("{key}_max"), json!(risk.max));
        row.insert(format!("{key}_bound"), json!(risk.mean_bound()));
    }
}

fn pair_name(fabric: &Fabric, pair: &LostPair) -> Value {
    json!({
        "from": fabric.switch(pair.from).guid.to_string(),
        "from_name": fabric.switch(pair.from).name,
        "to": fabric.node(pair.to).guid.to_string(),
        "to_name": fabric.adapter_of(pair.to).name,
    })
}

/// Returns a part as `dmodc degrade --remove` takes it: GUID, or GUID/PORT for a cable.
pub fn part_name(fabric: &Fabric, part: Part) -> String {
    match part {
        Part::Switch(s) => fabric.switch(s).guid.to_string(),
        Part::Cable(c) => {
            let (s, port) = match fabric.cable(c) {
                CableEnds::Switches(cable) => cable.a,
                CableEnds::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
            };
            format!("{}/{port}", fabric.switch(s).guid)
        }
    }
}
