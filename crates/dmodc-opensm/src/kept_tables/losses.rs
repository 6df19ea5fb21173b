//! Node pairs and leaf pairs that the tables do not deliver, and the likely reason.

use std::fmt;

use dmodc::judge::Islands;
use dmodc::words::counted;
use dmodc::{Coverage, Live, Ranking, SwitchIndex};

/// Pairs of leaves with nodes that cables connect but that have no up\*down\* route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostLeafPairs {
    /// The number of ordered pairs that are lost.
    lost: u64,
    /// The number of all ordered pairs of leaves with nodes.
    all: u64,
    /// The names of both switches of one lost pair, if the coverage has an example.
    example: Option<[String; 2]>,
}

impl LostLeafPairs {
    /// Returns the lost pairs, if there are any. Pairs that no cable connects are lost to every engine and do not
    /// count.
    pub(super) fn find(live: Live<'_>, ranking: &Ranking, coverage: &Coverage) -> Option<Self> {
        if coverage.is_valid() {
            return None;
        }
        let islands = Islands::new(live);
        let is_counted = |s| u64::from(ranking.is_leaf_with_nodes(s));
        let leaves: Vec<u64> = live.fabric.switch_indices().map(is_counted).collect();
        let pairs_of = |leaves: u64| leaves * leaves.saturating_sub(1);
        let connected: u64 = islands.sums(&leaves).into_iter().map(pairs_of).sum();
        let cut_off = coverage.leaf_pairs.saturating_sub(connected);
        let lost = coverage.unreachable_leaf_pairs.saturating_sub(cut_off);
        let is_lost = |&(from, to): &(SwitchIndex, SwitchIndex)| {
            let are_leaves = [from, to].iter().all(|&s| ranking.is_leaf_with_nodes(s));
            are_leaves && islands.connect(from, to)
        };
        let example = coverage.examples.iter().copied().find(is_lost);
        let example = example.map(|(from, to)| [from, to].map(|s| switch_name(live, s)));
        (lost > 0).then_some(LostLeafPairs { lost, all: coverage.leaf_pairs, example })
    }
}

impl fmt::Display for LostLeafPairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostLeafPairs { lost, all, example } = self;
        write!(
            f,
            "LOST: {lost} of {} have no up*down* route, although cables connect them",
            counted(*all, "leaf pair")
        )?;
        match example {
            Some([from, to]) => write!(f, "; an example is {from} to {to}"),
            None => Ok(()),
        }
    }
}

/// How many nodes are on leaves, and how many on switches that are no leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodePlacement {
    nodes: usize,
    off_leaves: usize,
    /// The name of a switch that is no leaf and has nodes.
    example: Option<String>,
}

impl NodePlacement {
    pub(super) fn count(live: Live<'_>, ranking: &Ranking) -> Self {
        let mut placement = NodePlacement::default();
        let nodes = live.fabric.node_indices();
        for n in nodes.filter(|&n| live.node(n) && !live.fabric.is_aggregation(n)) {
            placement.nodes += 1;
            let s = live.fabric.node(n).switch;
            if !ranking.is_leaf(s) {
                placement.off_leaves += 1;
                placement.example.get_or_insert_with(|| switch_name(live, s));
            }
        }
        placement
    }

    /// Returns a warning if most nodes are on switches that are no leaves, which means that the rule for leaves is
    /// wrong.
    pub(crate) fn warning(&self, rule: &str) -> Option<String> {
        let NodePlacement { nodes, off_leaves, example } = self;
        let example = example.as_deref().unwrap_or_default();
        if 2 * off_leaves <= *nodes {
            return None;
        }
        let what = match off_leaves == nodes {
            true => {
                format!(
                    "no leaf has nodes; all {} are on switches that are not leaves",
                    counted(*nodes, "node")
                )
            }
            false => format!(
                "{off_leaves} of {} are on switches that are not leaves",
                counted(*nodes, "node")
            ),
        };
        Some(format!(
            "LEAF RULE ({rule}): {what}, such as {example}; correct leaf_name, leaf_min_nodes or roots in dmodc.conf"
        ))
    }

    /// Returns the likely reason why node pairs are lost.
    pub(crate) fn likely_reason(&self, rule: &str, leaf_pairs_are_lost: bool) -> String {
        let NodePlacement { off_leaves, example, .. } = self;
        match (example, leaf_pairs_are_lost) {
            (Some(example), false) => format!(
                "with the leaf rule ({rule}), {} on switches that are not leaves, such as {example}, and some of \
                 these switches have no up*down* route to each other; set leaf_name or roots in dmodc.conf",
                are_placed(*off_leaves)
            ),
            (None, _) => {
                "faults have left leaves without a common switch above them; repair cables or switches".into()
            }
            (Some(example), true) => format!(
                "faults have left leaves without a common switch above them, and with the leaf rule ({rule}), {} on \
                 switches that are not leaves, such as {example}; repair cables or switches",
                are_placed(*off_leaves)
            ),
        }
    }
}

/// Returns "1 node is" or "2 nodes are".
fn are_placed(nodes: usize) -> String {
    format!("{} {}", counted(nodes, "node"), if nodes == 1 { "is" } else { "are" })
}

/// Returns the name and GUID of a switch.
fn switch_name(live: Live<'_>, s: SwitchIndex) -> String {
    let switch = live.fabric.switch(s);
    format!("'{}' ({})", switch.name, switch.guid)
}
