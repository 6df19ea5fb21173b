//! `--connect-roots`: routes between switches that no up\*down\* path joins.
//!
//! Two spines of different planes reach each other only by going down and up again. Management
//! traffic between switches may want such routes all the same; they lie outside the deadlock
//! guarantee, which is why nobody gets them without asking. Only entries of switches' own LIDs that
//! are still empty are filled, by shortest path: a packet either comes one hop nearer at each switch,
//! or meets one with an up\*down\* route and follows that; so nothing loops.

use rayon::prelude::*;

use super::Preprocessing;
use super::select::PortCycle;
use crate::group::Group;
use crate::id::SwitchIndex;
use crate::tables::{End, ForwardingTables, NO_ROUTE, Run};

/// Fills the empty entries of switch LIDs and says how many.
pub fn connect_roots(fabric: &Preprocessing<'_>, tables: &mut ForwardingTables) -> usize {
    let columns = tables.columns().clone();
    let fill = |(tile, out): (crate::tables::Tile, &mut [u8])| {
        let width = tile.columns.len();
        let mut filled = 0;
        for column in tile.columns.clone() {
            let d = &columns.destinations()[column];
            if matches!(d.end, End::Node(_)) || !fabric.live.switch(d.switch) {
                continue;
            }
            let at = column - tile.columns.start;
            let empty = |s: &SwitchIndex| out[s.at() * width + at] == NO_ROUTE;
            let without: Vec<SwitchIndex> = fabric.live.switches().filter(empty).collect();
            if without.is_empty() {
                continue;
            }
            let hops = fabric.live.hops_to([d.switch]);
            for s in without.into_iter().filter(|s| hops[s.at()].is_some()) {
                let entry = &mut out[s.at() * width + at..][..1];
                choose(fabric, &hops, s, d.number, entry);
                filled += 1;
            }
        }
        filled
    };
    tables.tiles_mut().into_par_iter().map(fill).sum()
}

/// Eqs. (3) and (4) over all neighbours that are nearer, in switch order.
fn choose(
    fabric: &Preprocessing<'_>,
    hops: &[Option<u32>],
    s: SwitchIndex,
    number: u32,
    out: &mut [u8],
) {
    let neighbours = fabric.groups.up(s).chain(fabric.groups.down(s));
    let mut nearer: Vec<Group<'_>> =
        neighbours.filter(|g| hops[g.peer.at()] < hops[s.at()]).collect();
    nearer.sort_by_key(|g| fabric.orders.position(g.peer));
    let mut cycle = PortCycle::default();
    cycle.prepare(nearer.into_iter(), fabric.dividers[s.at()]);
    cycle.fill(&Run { start: 0, length: 1, number, k: 0 }, out);
}
