//! Leaves of generated fabrics: in every shape, the switches with nodes are detected as leaves, and no others, without doubt.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;

use common::Case;
use dmodc::fabric::{Directors, Pods, Spread};
use dmodc::{Fabric, GuidOrder, Live, SwitchIndex};

fn has_nodes(live: Live<'_>, s: SwitchIndex) -> bool {
    live.nodes(s).next().is_some()
}

/// Returns whether a leaf has all neighbours of some switch without nodes. Such a switch may be an empty leaf: nothing in the
/// fabric shows that it is none.
fn may_have_empty_leaves(fabric: &Fabric) -> bool {
    let case = Case::healthy(fabric);
    let live = case.whole();
    let neighbours = |s| live.links(s).map(|(_, peer)| peer).collect::<BTreeSet<_>>();
    let (leaves, others): (Vec<SwitchIndex>, Vec<SwitchIndex>) =
        fabric.switch_indices().partition(|&s| has_nodes(live, s));
    let leaves: Vec<_> = leaves.into_iter().map(neighbours).collect();
    others.into_iter().map(neighbours).any(|own| leaves.iter().any(|leaf| own.is_subset(leaf)))
}

/// Returns whether exactly the switches with nodes are leaves, and nothing is uncertain.
fn are_clear(fabric: &Fabric) -> bool {
    let case = Case::healthy(fabric);
    let (live, routing) = (case.whole(), case.routing());
    let ranking = routing.ranking(live);
    fabric.switch_indices().all(|s| ranking.is_leaf(s) == has_nodes(live, s))
        && routing.doubts().is_empty()
}

/// Asserts that the leaves of these shapes are clear, except for those that may have empty leaves. Returns how many there are.
fn assert_clear<S: std::fmt::Debug>(
    shapes: impl Iterator<Item = S>,
    fabric: impl Fn(&S) -> Option<Fabric>,
) -> usize {
    let (mut count, mut wrong) = (0, vec![]);
    for shape in shapes {
        let Some(fabric) = fabric(&shape).filter(|fabric| !may_have_empty_leaves(fabric)) else {
            continue;
        };
        count += 1;
        if !are_clear(&fabric) {
            wrong.push(format!("{shape:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    count
}

#[test]
fn leaves_below_directors_are_clear() {
    let mut shapes = vec![];
    for (directors, leaves) in [1, 2].into_iter().flat_map(|d| [2, 3, 4, 6, 8, 12].map(|l| (d, l)))
    {
        for (lines, spines) in (1..=9).flat_map(|lines| [1, 2, 3, 8].map(|spines| (lines, spines)))
        {
            // The only spine chip of a director has no twin. It may be an empty leaf unless it has more neighbours than leaves
            // have, which two leaves are too few to show.
            if spines == 1 && (leaves == 2 || directors == 2) {
                continue;
            }
            for cables in 1..=lines {
                let cables = cables * directors;
                let shape =
                    Directors { leaves, directors, lines, spines, cables, ..Directors::default() };
                shapes.extend(
                    [Spread::Consecutive, Spread::Strided]
                        .map(|s| Directors { spread: s, ..shape }),
                );
            }
        }
    }
    let count = assert_clear(shapes.into_iter(), |shape| shape.fabric(GuidOrder::Topological).ok());
    assert!(count > 1000, "{count} shapes");
}

#[test]
fn leaves_of_pods_are_clear() {
    let mut shapes = vec![];
    for (pods, leaves) in [1, 2, 3].into_iter().flat_map(|p| [2, 4, 8].map(|l| (p, l))) {
        for (lower, upper) in [2, 3, 4, 8].into_iter().flat_map(|l| [2, 3, 4, 8].map(|u| (l, u))) {
            for (cores, reach) in
                [1, 2, 4, 8].into_iter().flat_map(|c| (1..=upper).map(move |r| (c, r)))
            {
                shapes.push(Pods { pods, leaves, nodes: 4, lower, upper, cores, reach });
            }
        }
    }
    let count = assert_clear(shapes.into_iter(), |shape| shape.fabric(GuidOrder::Topological).ok());
    assert!(count > 1000, "{count} shapes");
}
