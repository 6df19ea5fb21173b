//! The flows to one destination that a change moves.

use super::super::paths::{Flow, FlowPaths, FlowTarget, Paths};
use super::changes::ChangedColumn;
use super::{Baseline, Recount, UndeliveredBundle};

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

/// The old and the new route from one changed switch to the destination; a route that does not arrive has no ports.
#[derive(Default)]
struct RouteChange {
    old: Vec<u32>,
    new: Vec<u32>,
}

/// Whether the old and the new route arrive.
struct Arrivals {
    old: bool,
    new: bool,
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
    /// One flow for each changed entry of a batch of columns, and their old and new ways.
    flows: Vec<Flow>,
    /// How many flows of all-to-all take each of these ways.
    counts: Vec<u64>,
    old_ways: FlowPaths,
    new_ways: FlowPaths,
}

impl ColumnRecount {
    pub(super) fn new(switches: usize) -> Self {
        ColumnRecount {
            first_met: vec![NONE; switches],
            gathered: vec![],
            waiting: vec![],
            routes: vec![],
            flows: vec![],
            counts: vec![],
            old_ways: FlowPaths::default(),
            new_ways: FlowPaths::default(),
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

    /// Takes the routes of the changed switches of a column out of the batch, in which `first` is the place of the first.
    fn take_routes(&mut self, first: usize, count: usize, none: u32) {
        if self.routes.len() < count {
            self.routes.resize_with(count, RouteChange::default);
        }
        for (index, RouteChange { old, new }) in self.routes[..count].iter_mut().enumerate() {
            self.old_ways.copy_ports(first + index, none, old);
            self.new_ways.copy_ports(first + index, none, new);
        }
    }

    /// Returns whether the old and the new route of a place in the batch arrive.
    fn arrive(&self, in_batch: usize) -> Arrivals {
        let (old, new) = (self.old_ways.arrived()[in_batch], self.new_ways.arrived()[in_batch]);
        Arrivals { old, new }
    }
}

impl Recount {
    /// Follows the old and the new routes from all changed switches of a batch of columns.
    pub(super) fn follow(
        &mut self,
        baseline: &Baseline<'_>,
        after: &Paths<'_>,
        batch: &[ChangedColumn<'_>],
    ) {
        let ColumnRecount { flows, counts, old_ways, new_ways, .. } = &mut self.column;
        flows.clear();
        counts.clear();
        for column in batch {
            let target = baseline.targets[column.position as usize];
            flows.extend(column.switches.iter().map(|&from| Flow { from, target }));
        }
        baseline.paths.follow_all(flows, old_ways);
        after.follow_all(flows, new_ways);
    }

    /// Finds the flows to a destination that move, and moves those of permutations. The routes of its changed switches have
    /// been followed; `first` is the place of the first one in the batch.
    pub(super) fn find_flows(
        &mut self,
        baseline: &Baseline<'_>,
        column: &ChangedColumn<'_>,
        first: usize,
        moved: &mut MovedFlows,
    ) {
        let ChangedColumn { position, switches: changed } = *column;
        let to = &baseline.targets[position as usize];
        for (index, &s) in changed.iter().enumerate() {
            self.column.first_met[s as usize] = index as u32;
            self.column.gathered.push(s);
        }
        for (index, &s) in changed.iter().enumerate() {
            let flows = self.column.gather(baseline, s, index as u32, to);
            self.column.counts.push(flows);
            moved.pairs += flows;
        }
        let in_batch = first..first + changed.len();
        let is_same = |place| {
            let arrivals = self.column.arrive(place);
            arrivals.old == arrivals.new
        };
        if !in_batch.clone().all(is_same) {
            self.move_ways_there(baseline, position, first, moved);
        }
        if !baseline.permutations.is_empty() {
            let none = baseline.channels.ports.len() as u32;
            self.column.take_routes(first, changed.len(), none);
            self.move_permutations(baseline, position, first);
        }
        for s in self.column.gathered.drain(..) {
            self.column.first_met[s as usize] = NONE;
        }
    }

    /// Moves the flows of all-to-all that were found in a batch from their old ways to their new ones.
    pub(super) fn move_flows(&mut self) {
        let ColumnRecount { counts, old_ways, new_ways, .. } = &mut self.column;
        // The place after the last port stands for no port, so its number means nothing, and may pass below 0.
        for row in old_ways.rows() {
            for (&port, &flows) in row.iter().zip(&*counts) {
                let load = &mut self.loads[port as usize];
                *load = load.wrapping_sub(flows);
            }
        }
        for row in new_ways.rows() {
            for (&port, &flows) in row.iter().zip(&*counts) {
                let load = &mut self.loads[port as usize];
                *load = load.wrapping_add(flows);
            }
        }
    }

    /// Loads or unloads the ports *before* the changed switches, where only one of the two routes arrives.
    fn move_ways_there(
        &mut self,
        baseline: &Baseline<'_>,
        position: u32,
        first: usize,
        moved: &mut MovedFlows,
    ) {
        let to = &baseline.targets[position as usize];
        for &from in &self.column.gathered {
            let senders = u64::from(baseline.senders(from, to));
            let met = self.column.first_met[from as usize] as usize;
            let arrivals = self.column.arrive(first + met);
            if senders == 0 || arrivals.old == arrivals.new {
                continue;
            }
            let bundle = UndeliveredBundle { to: position, from };
            match arrivals.new {
                true => moved.again.push(bundle),
                false => moved.no_longer.push(bundle),
            }
            for port in baseline.way_to(from, self.column.gathered[met], to) {
                match arrivals.new {
                    true => self.loads[port as usize] += senders,
                    false => self.loads[port as usize] -= senders,
                }
            }
        }
    }

    /// Moves the flow to a position in every permutation in which a changed switch is on the old way from its source.
    fn move_permutations(&mut self, baseline: &Baseline<'_>, position: u32, first: usize) {
        let to = &baseline.targets[position as usize];
        for (permutations, loads) in baseline.permutations.iter().zip(&mut self.series) {
            for (pattern, &source) in permutations.sources_of(position).iter().enumerate() {
                let from = baseline.targets[source as usize].home;
                let met = self.column.first_met[from as usize];
                if met == NONE || source == position {
                    continue;
                }
                let route = &self.column.routes[met as usize];
                let mut flow = MovedFlow { loses: [&route.old, &[]], gains: [&route.new, &[]] };
                let way;
                let arrivals = self.column.arrive(first + met as usize);
                if arrivals.old != arrivals.new {
                    way = baseline.way_to(from, self.column.gathered[met as usize], to);
                    match arrivals.new {
                        true => flow.gains[1] = &way,
                        false => flow.loses[1] = &way,
                    }
                }
                loads.move_flow(pattern, &flow);
            }
        }
    }
}
