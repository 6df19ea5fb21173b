//! Cycles: swaps divide them until every cable is right.
//!
//! A cycle w₀ w₁ … is stored so that w₀–w₁, w₂–w₃ … are cables of the present and w₁–w₂, w₃–w₄ … intended ones. A swap of
//! wᵢ and wⱼ at an even distance divides it. For even i < j:
//!
//! ```text
//! before   … wᵢ ═ wᵢ₊₁ ─ … ─ wⱼ ═ wⱼ₊₁ ─ …          ═ present   ─ intended
//! after    wⱼ ═ wᵢ₊₁ ─ … ─ wⱼ     and     wᵢ ═ wⱼ₊₁ ─ … ─ wᵢ
//! ```
//!
//! Every such swap is a shortest way, so the one that is easiest by hand is taken: two ports of one device, the closest along
//! the cycle first, because neighbours at distance 2 leave a right cable behind.

use std::collections::BTreeMap;

use super::{PortId, PortPlace, Replug, effort};

/// Returns the swaps that make all cables of a cycle right: one fewer than it has cables.
pub(super) fn steps(ports: Vec<PortId>, places: &[PortPlace]) -> Vec<Replug> {
    let mut open = vec![ports];
    let mut steps = vec![];
    while let Some(cycle) = open.pop() {
        if cycle.len() == 2 {
            continue;
        }
        let (i, j) = best_pair(&cycle, places);
        steps.push(Replug::Swap(cycle[i].min(cycle[j]), cycle[i].max(cycle[j])));
        let (first, second) = divide(&cycle, i, j);
        open.push(second);
        open.push(first);
    }
    steps
}

/// Returns the two positions at an even distance whose swap is easiest, the lesser first.
fn best_pair(cycle: &[PortId], places: &[PortPlace]) -> (usize, usize) {
    closest_on_one_device(cycle, places).unwrap_or_else(|| {
        let next = |i: usize| (i + 2) % cycle.len();
        let ease = |i: &usize| (effort(places, cycle[*i], cycle[next(*i)]), cycle[*i]);
        let i = (0..cycle.len()).min_by_key(ease).unwrap_or(0);
        (i.min(next(i)), i.max(next(i)))
    })
}

/// Returns the closest positions of the same device at an even distance, if there are any.
fn closest_on_one_device(cycle: &[PortId], places: &[PortPlace]) -> Option<(usize, usize)> {
    let mut positions: BTreeMap<(u32, usize), Vec<usize>> = BTreeMap::new();
    for (at, port) in cycle.iter().enumerate() {
        positions.entry((places[*port as usize].device, at % 2)).or_default().push(at);
    }
    let pairs = positions.values().filter(|list| list.len() > 1).flat_map(|list| {
        let ends = (list[0], list[list.len() - 1]);
        list.windows(2).map(|pair| (pair[0], pair[1])).chain([ends])
    });
    pairs.min_by_key(|&(i, j)| {
        let distance = (j - i).min(cycle.len() - (j - i));
        let ports = (cycle[i].min(cycle[j]), cycle[i].max(cycle[j]));
        (distance, ports)
    })
}

/// Returns the two cycles that a swap of positions `i` < `j` leaves.
fn divide(cycle: &[PortId], i: usize, j: usize) -> (Vec<PortId>, Vec<PortId>) {
    // With odd positions, the partners of both are exchanged: the same cabling as a swap of the ports before them.
    let (i, j) = (i - i % 2, j - j % 2);
    let inner = [&cycle[j..=j], &cycle[i + 1..j]].concat();
    let outer = [&cycle[i..=i], &cycle[j + 1..], &cycle[..i]].concat();
    (inner, outer)
}
