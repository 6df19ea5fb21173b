//! The flows to one destination that a change moves.

use super::super::paths::FlowTarget;
use super::{Baseline, Recount, UndeliveredBundle};
use crate::tables::ForwardingTables;

/// No changed switch was met.
const NONE: u32 = u32::MAX;

/// What the changed columns so far moved.
#[derive(Default)]
pub(super) struct MovedFlows {
    /// The ordered pairs of nodes whose route changes.
    pub(super) pairs: u64,
    /// Bundles that no longer arrive, and those that do again.
    no_longer: Vec<UndeliveredBundle>,
    again: Vec<UndeliveredBundle>,
}

impl MovedFlows {
    /// Returns the bundles that do not arrive after the change, sorted.
    pub(super) fn undelivered_after(
        mut self,
        before: &[UndeliveredBundle],
    ) -> Vec<UndeliveredBundle> {
        if self.no_longer.is_empty() && self.again.is_empty() {
            return before.to_vec();
        }
        self.again.sort_unstable();
        let stays = |bundle: &&UndeliveredBundle| self.again.binary_search(bundle).is_err();
        let mut after: Vec<UndeliveredBundle> = before.iter().filter(stays).copied().collect();
        after.append(&mut self.no_longer);
        after.sort_unstable();
        after
    }
}

/// The old and the new route from one changed switch to the destination.
#[derive(Default)]
pub(super) struct RouteChange {
    pub(super) old: Vec<u32>,
    pub(super) new: Vec<u32>,
    pub(super) old_arrives: bool,
    pub(super) new_arrives: bool,
}

impl RouteChange {
    /// Returns the ports that a flow loads on the old route after its way to the changed switch.
    fn old_loaded(&self) -> &[u32] {
        if self.old_arrives { &self.old } else { &[] }
    }

    fn new_loaded(&self) -> &[u32] {
        if self.new_arrives { &self.new } else { &[] }
    }
}

/// A flow of a permutation that moves: its ports that lose it and gain it.
pub(super) struct MovedFlow<'a> {
    pub(super) loses: [&'a [u32]; 2],
    pub(super) gains: [&'a [u32]; 2],
}

/// The arrays for one column after another.
pub(super) struct ColumnRecount {
    /// For each switch, the changed switch that its flows meet first, as an index into the changed switches of the
    /// column; [`NONE`] if they meet none.
    first_met: Vec<u32>,
    /// The switches with an entry in `first_met`.
    gathered: Vec<u32>,
    waiting: Vec<u32>,
    routes: Vec<RouteChange>,
}

impl ColumnRecount {
    pub(super) fn new(switches: usize) -> Self {
        ColumnRecount {
            first_met: vec![NONE; switches],
            gathered: vec![],
            waiting: vec![],
            routes: vec![],
        }
    }

    /// Finds the switches whose flows to the target meet the changed switch with this index first, and returns the
    /// number of these flows. All changed switches must be marked in `first_met`.
    fn gather(&mut self, baseline: &Baseline<'_>, from: u32, index: u32, to: &FlowTarget) -> u64 {
        let tile = baseline.tiles[to.tile as usize];
        self.waiting.push(from);
        let mut flows = 0;
        while let Some(s) = self.waiting.pop() {
            flows += u64::from(baseline.senders(s, to));
            let feeders = &baseline.feeders[s as usize];
            // Whoever sends up got its flows from below, since no route goes up after it went down.
            let goes_up = baseline.channels.next(s, tile[to.place(s)]).is_up();
            let feeders =
                if goes_up { &feeders[..baseline.below[s as usize]] } else { &feeders[..] };
            for feeder in feeders {
                let is_unmet = self.first_met[feeder.switch as usize] == NONE;
                if tile[to.place(feeder.switch)] == feeder.entry && is_unmet {
                    self.first_met[feeder.switch as usize] = index;
                    self.gathered.push(feeder.switch);
                    self.waiting.push(feeder.switch);
                }
            }
        }
        flows
    }

    fn follow(&mut self, baseline: &Baseline<'_>, after: &[u8], at: usize, to: &FlowTarget) {
        if self.routes.len() == at {
            self.routes.push(RouteChange::default());
        }
        let from = self.gathered[at];
        let RouteChange { old, new, old_arrives, new_arrives } = &mut self.routes[at];
        old.clear();
        new.clear();
        let before = baseline.tiles[to.tile as usize];
        *old_arrives = baseline.follow(before, from, to, |port| old.push(port));
        *new_arrives = baseline.follow(after, from, to, |port| new.push(port));
    }
}

impl Recount {
    /// Moves the flows to the node of a position, for which the entries of these switches changed.
    pub(super) fn move_flows(
        &mut self,
        baseline: &Baseline<'_>,
        after: &ForwardingTables,
        position: u32,
        changed: &[u32],
        moved: &mut MovedFlows,
    ) {
        let to = &baseline.targets[position as usize];
        let after = after.tile_entries(to.tile as usize);
        for (index, &s) in changed.iter().enumerate() {
            self.column.first_met[s as usize] = index as u32;
            self.column.gathered.push(s);
        }
        for (index, &s) in changed.iter().enumerate() {
            let flows = self.column.gather(baseline, s, index as u32, to);
            self.column.follow(baseline, after, index, to);
            moved.pairs += flows;
            let route = &self.column.routes[index];
            for &port in route.old_loaded() {
                self.loads[port as usize] -= flows;
            }
            for &port in route.new_loaded() {
                self.loads[port as usize] += flows;
            }
        }
        self.move_ways_there(baseline, position, moved);
        self.move_permutations(baseline, position);
        for s in self.column.gathered.drain(..) {
            self.column.first_met[s as usize] = NONE;
        }
    }

    /// Loads or unloads the ports *before* the changed switches, where only one of the two routes arrives.
    fn move_ways_there(&mut self, baseline: &Baseline<'_>, position: u32, moved: &mut MovedFlows) {
        let to = &baseline.targets[position as usize];
        let tile = baseline.tiles[to.tile as usize];
        for &from in &self.column.gathered {
            let route = &self.column.routes[self.column.first_met[from as usize] as usize];
            let senders = u64::from(baseline.senders(from, to));
            if route.old_arrives == route.new_arrives || senders == 0 {
                continue;
            }
            let bundle = UndeliveredBundle { to: position, from };
            match route.new_arrives {
                true => moved.again.push(bundle),
                false => moved.no_longer.push(bundle),
            }
            let loads = &mut self.loads;
            // The old route passes the way there, and ends with the old route of the changed switch.
            let mut way = vec![];
            baseline.follow(tile, from, to, |port| way.push(port));
            way.truncate(way.len() - route.old.len());
            for port in way {
                match route.new_arrives {
                    true => loads[port as usize] += senders,
                    false => loads[port as usize] -= senders,
                }
            }
        }
    }

    /// Moves the flow to a position in every permutation whose source was gathered.
    fn move_permutations(&mut self, baseline: &Baseline<'_>, position: u32) {
        let to = &baseline.targets[position as usize];
        let tile = baseline.tiles[to.tile as usize];
        for (permutations, loads) in baseline.permutations.iter().zip(&mut self.series) {
            for (pattern, &source) in permutations.sources_of(position).iter().enumerate() {
                let from = baseline.targets[source as usize].home;
                let met = self.column.first_met[from as usize];
                if met == NONE || source == position {
                    continue;
                }
                let route = &self.column.routes[met as usize];
                let mut way = vec![];
                if route.old_arrives != route.new_arrives {
                    baseline.follow(tile, from, to, |port| way.push(port));
                    way.truncate(way.len() - route.old.len());
                }
                let (loses, gains) = match (route.old_arrives, route.new_arrives) {
                    (true, false) => ([&way[..], &route.old], [&[][..]; 2]),
                    (false, true) => ([&[][..]; 2], [&way[..], &route.new]),
                    _ => ([route.old_loaded(), &[]], [route.new_loaded(), &[]]),
                };
                loads.move_flow(pattern, &MovedFlow { loses, gains });
            }
        }
    }
}
