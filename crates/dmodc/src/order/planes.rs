//! The order of planes on which all pods agree.
//!
//! Planes are sorted by their least GUID. If the switch that has it dies, its plane moves behind others, and two fifths of
//! all entries move with it. A manager that first sees a degraded fabric, such as a standby, cannot know that GUID. But
//! where GUIDs follow some order of assembly, every pod has its planes in the same order. Then that order is also the one
//! by least GUIDs: if in each pod the spine of plane 1 has a lesser GUID than that of plane 2, the least GUID of plane 1
//! is less than that of plane 2. And a dead spine does not change the order in the other pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::rank::Ranking;
use crate::union_find::UnionFind;

/// Returns a key for each switch above the leaves that sorts planes as all pods agree, then switches by GUID. `None` if
/// pods disagree, or if more than one order is possible.
pub(super) fn agreed_keys(live: Live<'_>, ranking: &Ranking) -> Option<Vec<u64>> {
    let is_above = |s: SwitchIndex| ranking.rank(s).is_some_and(|rank| rank > 0);
    let count = live.fabric.switches().len();
    let mut planes = UnionFind::new(count);
    for s in live.switches().filter(|&s| is_above(s)) {
        for (_, peer) in live.links(s).filter(|(_, peer)| is_above(*peer)) {
            planes.join(s, peer);
        }
    }
    let guid = |s: SwitchIndex| live.fabric.switch(s).guid;
    let mut after: BTreeMap<SwitchIndex, BTreeSet<SwitchIndex>> = BTreeMap::new();
    for &leaf in ranking.leaves() {
        let mut above: Vec<SwitchIndex> =
            live.links(leaf).map(|(_, peer)| peer).filter(|&s| is_above(s)).collect();
        above.sort_by_key(|&s| guid(s));
        above.dedup();
        let seen: Vec<SwitchIndex> = above.into_iter().map(|s| planes.root(s)).collect();
        for &plane in &seen {
            after.entry(plane).or_default();
        }
        for pair in seen.windows(2).filter(|pair| pair[0] != pair[1]) {
            after.entry(pair[0]).or_default().insert(pair[1]);
        }
    }
    let order = only_order(after)?;
    let mut place = vec![order.len() as u64; count];
    for (at, plane) in order.iter().enumerate() {
        place[plane.at()] = at as u64;
    }
    let mut by_guid: Vec<SwitchIndex> = live.fabric.switch_indices().collect();
    by_guid.sort_by_key(|&s| guid(s));
    let mut keys = vec![0; count];
    for (at, s) in by_guid.into_iter().enumerate() {
        keys[s.at()] = place[planes.root(s).at()] * count as u64 + at as u64;
    }
    Some(keys)
}

/// Returns the order in which every plane comes before those that are `after` it, if there is exactly one.
fn only_order(after: BTreeMap<SwitchIndex, BTreeSet<SwitchIndex>>) -> Option<Vec<SwitchIndex>> {
    let mut before: BTreeMap<SwitchIndex, usize> = after.keys().map(|&plane| (plane, 0)).collect();
    for next in after.values().flatten() {
        *before.get_mut(next)? += 1;
    }
    let free = |before: &BTreeMap<SwitchIndex, usize>| -> Vec<SwitchIndex> {
        before.iter().filter(|(_, count)| **count == 0).map(|(&plane, _)| plane).collect()
    };
    let mut first = free(&before);
    let mut order = Vec::with_capacity(after.len());
    while let [plane] = first[..] {
        order.push(plane);
        first.clear();
        for next in &after[&plane] {
            let count = before.get_mut(next)?;
            *count -= 1;
            if *count == 0 {
                first.push(*next);
            }
        }
    }
    (order.len() == after.len()).then_some(order)
}
