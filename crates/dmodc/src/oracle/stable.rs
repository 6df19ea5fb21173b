//! The engine [`Stable`](crate::Stable), stated naively. Its fast tables must equal these in every byte.

use std::ops::Range;

use super::updown::Distances;
use super::{DividersByLevel, Graph, Neighbour, select_by};
use crate::fabric::Live;
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::tables::{Columns, Destination, Digest, End, NO_ROUTE};

/// How many stretches (rounds of the destinations of one destination switch) are kept apart when looking ahead: the last
/// one stands for all later ones. As a rule a destination switch has one or two.
pub const STRETCHES: usize = 4;

/// Returns whether enough of the closer groups lost nothing that displaced destinations go to those alone: at least half.
#[inline(always)]
pub const fn are_enough_unharmed(unharmed: usize, all: usize) -> bool {
    2 * unharmed >= all
}

/// A reference and the present: two states of one fabric, each with its leaves.
#[derive(Clone, Copy, Debug)]
pub struct States<'a> {
    /// The reference.
    pub then: (Live<'a>, &'a [SwitchIndex]),
    /// The present.
    pub now: (Live<'a>, &'a [SwitchIndex]),
}

/// Returns every entry: a row for each switch, in the order of the columns.
pub fn tables(states: States<'_>, orders: &Orders, columns: &Columns) -> Vec<Vec<u8>> {
    let entries = StableOracle::new(states, orders).entries(columns, 0..columns.switches().len());
    let width = columns.len();
    (0..states.now.0.fabric.switches().len())
        .map(|s| entries[s * width..][..width].to_vec())
        .collect()
}

/// Returns the [digest](Digest) of all entries, computed tile by tile.
pub fn digest(states: States<'_>, orders: &Orders, columns: &Columns) -> Digest {
    let naive = StableOracle::new(states, orders);
    super::digest(columns, |switches| naive.entries(columns, switches))
}

/// Both states, prepared for naive routing.
pub struct StableOracle<'a> {
    live: Live<'a>,
    then: Graph,
    now: Graph,
    /// The dividers of the reference and of the present.
    dividers: (DividersByLevel, DividersByLevel),
    /// σ: the place of a switch among those of its rank.
    places: Vec<u64>,
}

/// Closer sets of all switches for one destination switch.
struct ClosersToTarget<'a> {
    target: SwitchIndex,
    /// The number of its first destination.
    first: u64,
    /// R: in the reference.
    then: Vec<Vec<&'a Neighbour>>,
    /// C: in the present.
    now: Vec<Vec<&'a Neighbour>>,
}

impl ClosersToTarget<'_> {
    fn group(&self, s: SwitchIndex, peer: SwitchIndex) -> Option<&Neighbour> {
        self.now[s.at()].iter().copied().find(|group| group.switch == peer)
    }

    /// Returns whether a switch lost neither a group nor a port on the way to the target.
    fn is_unharmed(&self, s: SwitchIndex) -> bool {
        let has_all = |then: &&Neighbour| {
            let now = self.group(s, then.switch);
            now.is_some_and(|now| now.ports == then.ports)
        };
        self.then[s.at()].iter().all(has_all)
    }

    /// Returns whether a switch still has the group that it had for the target's q-th destinations.
    fn keeps(&self, s: SwitchIndex, q: u64) -> bool {
        let then = &self.then[s.at()];
        then.is_empty() || self.group(s, then[(q % then.len() as u64) as usize].switch).is_some()
    }
}

/// Returns port number x of a cycle: the first port of each group, then the second of each group that has one, and so on. So a
/// group is taken as often as it has ports.
fn port_in_turn(groups: &[&Neighbour], x: u64) -> Option<PortNumber> {
    let most = groups.iter().map(|group| group.ports.len()).max()?;
    let turn = |at: usize| groups.iter().filter_map(move |group| group.ports.get(at));
    let cycle: Vec<PortNumber> = (0..most).flat_map(turn).copied().collect();
    Some(cycle[(x % cycle.len() as u64) as usize])
}

/// Returns the closer sets of all switches.
fn sets(graph: &Graph, target: SwitchIndex) -> Vec<Vec<&Neighbour>> {
    let distances = Distances::to(graph, target);
    let all = (0..graph.neighbours.len()).map(SwitchIndex::new);
    all.map(|s| distances.closer(graph, s)).collect()
}

impl<'a> StableOracle<'a> {
    /// Prepares both states.
    pub fn new(states: States<'a>, orders: &Orders) -> Self {
        let then = Graph::new(states.then.0, orders, states.then.1);
        let now = Graph::new(states.now.0, orders, states.now.1);
        let mut places = vec![0; then.neighbours.len()];
        for &s in &then.ascending {
            let is_before = |other: &&SwitchIndex| {
                then.ranks[other.at()] == then.ranks[s.at()]
                    && orders.position(**other) < orders.position(s)
            };
            places[s.at()] = then.ascending.iter().filter(is_before).count() as u64;
        }
        let levels = orders.level_dividers();
        let dividers = (DividersByLevel::new(&then, levels), DividersByLevel::new(&now, levels));
        StableOracle { live: states.now.0, then, now, dividers, places }
    }

    /// Returns the entries for some destination switches, switch by switch.
    pub fn entries(&self, columns: &Columns, switches: Range<usize>) -> Vec<u8> {
        let widths = switches.clone().map(|i| columns.of_switch(i).len());
        let (first, width) = match switches.is_empty() {
            true => (0, 0),
            false => (columns.of_switch(switches.start).start, widths.sum()),
        };
        let switch_count = self.live.fabric.switches().len();
        let mut entries = vec![NO_ROUTE; width * switch_count];
        for i in switches {
            let target = columns.switches()[i];
            if !self.live.switch(target) {
                continue;
            }
            let number = |at: usize| u64::from(columns.destinations()[at].number);
            let first_number = columns.of_switch(i).next().map_or(0, number);
            let closer = ClosersToTarget {
                target,
                first: first_number,
                then: sets(&self.then, target),
                now: sets(&self.now, target),
            };
            for s in self.live.switches() {
                for column in columns.of_switch(i) {
                    let d = &columns.destinations()[column];
                    if matches!(d.end, End::Node(n) if !self.live.node(n)) {
                        continue;
                    }
                    let port = self.port(&closer, s, d);
                    entries[s.at() * width + column - first] = port.map_or(NO_ROUTE, |p| p.0);
                }
            }
        }
        entries
    }

    /// Returns the port of a switch for a destination.
    fn port(
        &self,
        closer: &ClosersToTarget<'_>,
        s: SwitchIndex,
        d: &Destination,
    ) -> Option<PortNumber> {
        if s == closer.target {
            return Some(d.port);
        }
        let (number, k) = (u64::from(d.number), u64::from(d.k));
        let (r, c) = (&closer.then[s.at()], &closer.now[s.at()]);
        if r.is_empty() || c.is_empty() {
            return select_by(c, self.dividers.1.of(s, c), number, k);
        }
        // The slot: eqs. (3) and (4) in the reference.
        let dividers = self.dividers.0.of(s, r);
        let divider = dividers.group;
        let (q, slots) = (number / divider, r.len() as u64);
        let round = q / slots;
        let slot = ((q + k) % slots) as usize;
        if let Some(group) = closer.group(s, r[slot].switch) {
            let at = dividers.port.map_or(round, |port| number / port) + k / slots;
            let port = r[slot].ports[(at % r[slot].ports.len() as u64) as usize];
            let other = group.ports[(at % group.ports.len() as u64) as usize];
            return Some(if group.ports.contains(&port) { port } else { other });
        }
        // The slot is lost.
        let lost: Vec<usize> =
            (0..r.len()).filter(|&at| closer.group(s, r[at].switch).is_none()).collect();
        let j = lost.iter().position(|&at| at == slot).unwrap_or(0) as u64;
        let x = round * lost.len() as u64 + j + self.places[s.at()] + k;
        let last_stretch = STRETCHES as u64 - 1;
        let stretch = round.saturating_sub(closer.first / divider / slots).min(last_stretch);
        // Leaves of the reference are always taken: no route passes through a leaf.
        let is_leaf = |group: &Neighbour| self.then.leaves.contains(&group.switch);
        let of_c = |wanted: &dyn Fn(SwitchIndex) -> bool| -> Vec<&Neighbour> {
            c.iter().copied().filter(|g| is_leaf(g) || wanted(g.switch)).collect()
        };
        let unharmed = of_c(&|u| closer.is_unharmed(u));
        if are_enough_unharmed(unharmed.len(), c.len()) {
            return port_in_turn(&unharmed, x);
        }
        let divider_of = |u: SwitchIndex| self.dividers.0.of(u, &closer.then[u.at()]).group;
        let kept = of_c(&|u| closer.keeps(u, closer.first / divider_of(u) + stretch));
        port_in_turn(if kept.is_empty() { c } else { &kept }, x)
    }
}
