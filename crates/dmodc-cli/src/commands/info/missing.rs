//! The cables that a level lacks, and switches that differ without lacking any.

use std::fmt::Write as _;

use dmodc::{AddedCables, InferredLevel, LevelSurvey, SwitchIndex};

use crate::text::{counted, number};

/// The number of examples that are named.
const NAMED: usize = 3;

/// Adds the cables that a level lacks compared with its regular shape, and switches that differ from it without lacking a
/// cable, with the first examples.
pub(super) fn text(
    text: &mut String,
    level: &LevelSurvey,
    inferred: Option<&InferredLevel>,
    name: impl Fn(SwitchIndex) -> String,
) {
    let none = InferredLevel::default();
    let InferredLevel { added, without_port, .. } = inferred.unwrap_or(&none);
    let pair_names = |pairs: &[AddedCables]| {
        let names = pairs.iter().map(|pair| {
            let cables = counted(pair.cables, "cable");
            format!("{cables} {} - {}", name(pair.lower), name(pair.upper))
        });
        first(names, pairs.len())
    };
    if !added.is_empty() {
        let missing: usize = added.iter().map(|pair| pair.cables).sum();
        let _ = writeln!(
            text,
            "    missing cables: {} (a switch of this rank usually has {} to {}{} above): {}",
            number(missing),
            counted(level.usual_parallel, "cable"),
            if level.usual_upswitches == 1 { "" } else { "each of " },
            counted(level.usual_upswitches, "switch"),
            pair_names(added),
        );
    }
    if !without_port.is_empty() {
        let missing: usize = without_port.iter().map(|pair| pair.cables).sum();
        let (count, names) = (number(missing), pair_names(without_port));
        let _ = writeln!(text, "    missing cables without a free port: {count}: {names}");
    }
    let lacks = |a: SwitchIndex, b: Option<SwitchIndex>| {
        let mut all = added.iter().chain(without_port);
        all.any(|pair| pair.lower == a && b.is_none_or(|b| pair.upper == b))
    };
    let pairs = level.fewer_cables.iter().filter(|&&(a, b, _)| !lacks(a, Some(b)));
    let pairs: Vec<String> = pairs
        .map(|&(a, b, n)| format!("{} - {} has {}", name(a), name(b), counted(n, "cable")))
        .collect();
    let switches = level.fewer_upswitches.iter().filter(|&&(s, _)| !lacks(s, None));
    let switches: Vec<String> = switches
        .map(|&(s, n)| format!("{} is connected to {}", name(s), counted(n, "switch")))
        .collect();
    for (list, noun, what) in
        [(pairs, "pair", "fewer cables"), (switches, "switch", "fewer switches above")]
    {
        if !list.is_empty() {
            let (count, names) =
                (counted(list.len(), noun), first(list.iter().cloned(), list.len()));
            let _ = writeln!(
                text,
                "    fewer than usual, but nothing is inferred: {count} with {what}: {names}"
            );
        }
    }
}

/// Returns the first few of many names.
pub(super) fn first(names: impl Iterator<Item = String>, count: usize) -> String {
    let list: Vec<String> = names.take(NAMED).collect();
    let more = if count > NAMED { ", …" } else { "" };
    format!("{}{more}", list.join(", "))
}
