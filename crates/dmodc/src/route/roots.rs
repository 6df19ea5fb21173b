//! `--connect-roots`: routes between switches that no up\*down\* path joins.
//!
//! Two spines of different planes reach each other only by going down and up again. Management
//! traffic between switches may want such routes all the same; they lie outside the deadlock
//! guarantee, which is why nobody gets them without asking. Only entries of switches' own LIDs that
//! are still empty are filled, by shortest path: a packet either comes one hop nearer at each switch,
//! or meets one with an up\*down\* route and follows that; so nothing loops.

use std::collections::VecDeque;

use crate::fabric::Live;
use crate::group::Group;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::preprocess::Preprocessing;
use crate::tables::{End, ForwardingTables, NO_ROUTE};

/// Fills the empty entries of switch LIDs. Returns how many were filled.
pub fn connect_roots(
    live: Live<'_>,
    ready: &Preprocessing,
    tables: &mut ForwardingTables,
) -> usize {
    let columns = tables.columns().clone();
    let fill = |(tile, out): (crate::tables::Tile, &mut [u8])| {
        let width = tile.columns.len();
        let mut filled = 0;
        let (mut hops, mut nearer) = (Vec::new(), Vec::new());
        for column in tile.columns.clone() {
            let d = &columns.destinations()[column];
            if matches!(d.end, End::Node(_)) || !live.switch(d.switch) {
                continue;
            }
            let at = column - tile.columns.start;
            let empty = |s: &SwitchIndex| out[s.at() * width + at] == NO_ROUTE;
            let without: Vec<SwitchIndex> = live.switches().filter(empty).collect();
            if without.is_empty() {
                continue;
            }
            hops_to(ready, d.switch, &mut hops);
            for s in without.into_iter().filter(|s| hops[s.at()] != u32::MAX) {
                out[s.at() * width + at] = choose(ready, &hops, s, d.number, &mut nearer);
                filled += 1;
            }
        }
        filled
    };
    parallel::map(tables.tiles_mut(), fill).into_iter().sum()
}

/// Hops to `target` over any live cables; `u32::MAX` is unreachable.
fn hops_to(ready: &Preprocessing, target: SwitchIndex, hops: &mut Vec<u32>) {
    hops.clear();
    hops.resize(ready.groups.switch_count(), u32::MAX);
    hops[target.at()] = 0;
    let mut queue = VecDeque::from([target]);
    while let Some(s) = queue.pop_front() {
        for group in ready.groups.up(s).chain(ready.groups.down(s)) {
            if hops[group.peer.at()] == u32::MAX {
                hops[group.peer.at()] = hops[s.at()] + 1;
                queue.push_back(group.peer);
            }
        }
    }
}

/// Returns the port that eqs. (3) and (4) choose among all neighbours that are nearer, in switch order.
fn choose<'a>(
    ready: &'a Preprocessing,
    hops: &[u32],
    s: SwitchIndex,
    number: u32,
    nearer: &mut Vec<Group<'a>>,
) -> u8 {
    let neighbours = ready.groups.up(s).chain(ready.groups.down(s));
    nearer.clear();
    nearer.extend(neighbours.filter(|g| hops[g.peer.at()] < hops[s.at()]));
    nearer.sort_unstable_by_key(|g| ready.orders.position(g.peer));
    let q = number / ready.dividers[s.at()];
    let groups = nearer.len() as u32;
    let ports = nearer[(q % groups) as usize].ports;
    ports[(q / groups) as usize % ports.len()].0
}
