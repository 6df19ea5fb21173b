//! The search for the move that relieves the worst port.

use super::closer::KnownCloserSets;
use super::routes::{PortIndex, RouteTrees};
use super::shift_loads::ShiftLoads;
use crate::cost::TooFar;
use crate::oracle::relief::COMPARED_MOVES;
use crate::preprocess::Preprocessing;
use crate::tables::Columns;

/// A move: an entry gets another port. The fields are in the order of preference, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PossibleMove {
    /// The greatest load of a port of the new route, if that is more than enough; otherwise 0.
    overload: u64,
    /// `u64::MAX` less the flows that it moves.
    flows_left: u64,
    /// The greatest load of a port of the new route.
    load: u64,
    /// The destination, by position.
    tree: usize,
    switch: u32,
    port: PortIndex,
}

impl PossibleMove {
    /// Returns what makes one move better than another for all-to-all, least first.
    fn quality(&self) -> (u64, u64) {
        (self.overload, self.flows_left)
    }
}

/// The best moves so far, all of the same quality.
#[derive(Default)]
struct BestMoves {
    /// Contains the [`COMPARED_MOVES`] best ones, and others.
    moves: Vec<PossibleMove>,
    /// The last of the [`COMPARED_MOVES`] best ones when they were last counted: no worse move is needed.
    cutoff: Option<PossibleMove>,
}

impl BestMoves {
    /// Returns whether a move may be one of the best.
    fn may_take(&self, one: &PossibleMove) -> bool {
        let has_quality = |first: &PossibleMove| one.quality() <= first.quality();
        self.moves.first().is_none_or(has_quality) && self.cutoff.is_none_or(|cutoff| *one < cutoff)
    }

    /// Adds a move, if it may be one of the best.
    fn take(&mut self, one: PossibleMove) {
        if !self.may_take(&one) {
            return;
        }
        if self.moves.first().is_some_and(|first| one.quality() < first.quality()) {
            self.moves.clear();
            self.cutoff = None;
        }
        self.moves.push(one);
        if self.moves.len() == 2 * COMPARED_MOVES {
            let (_, last, _) = self.moves.select_nth_unstable(COMPARED_MOVES - 1);
            self.cutoff = Some(*last);
            self.moves.truncate(COMPARED_MOVES);
        }
    }

    /// Returns the best ones, the best first.
    fn sorted(mut self) -> Vec<PossibleMove> {
        self.moves.sort_unstable();
        self.moves.truncate(COMPARED_MOVES);
        self.moves
    }
}

/// Everything that a move depends on.
pub(super) struct Search<'a> {
    pub(super) trees: RouteTrees,
    shifts: ShiftLoads,
    closer: KnownCloserSets<'a>,
    enough: u64,
    /// The ports that cannot be relieved.
    set_aside: Vec<bool>,
}

/// Lists that are used again and again.
#[derive(Default)]
struct Lists {
    upstream: Vec<u32>,
    old: Vec<PortIndex>,
    new: Vec<PortIndex>,
    ports: Vec<crate::PortNumber>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        ready: &'a Preprocessing,
        columns: &'a Columns,
        trees: RouteTrees,
        enough: u64,
    ) -> Self {
        let shifts = ShiftLoads::new(&trees);
        let set_aside = vec![false; trees.port_count()];
        Search { trees, shifts, closer: KnownCloserSets::new(ready, columns), enough, set_aside }
    }

    /// Makes one move, or sets a port aside. Returns whether there was anything to do.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    pub(super) fn relieve_worst_port(&mut self) -> Result<bool, TooFar> {
        let Some((port, switch)) = self.trees.worst_port(&self.set_aside) else { return Ok(false) };
        if self.trees.load(port) <= self.enough {
            return Ok(false);
        }
        let moves = self.moves(port, switch)?;
        match self.least_harmful(&moves) {
            Some(best) => self.make(best),
            None => self.set_aside[port as usize] = true,
        }
        Ok(true)
    }

    /// Returns the move that does the least harm, the first of equally harmless ones.
    fn least_harmful(&self, moves: &[PossibleMove]) -> Option<PossibleMove> {
        let mut best = None;
        let mut least = usize::MAX;
        for one in moves {
            let harm = self.harm(one, least);
            if harm < least {
                (best, least) = (Some(*one), harm);
            }
            if least == 0 {
                break;
            }
        }
        best
    }

    /// Returns the best moves that take flows off a port, all of them equally good for all-to-all.
    fn moves(&mut self, port: PortIndex, switch: u32) -> Result<Vec<PossibleMove>, TooFar> {
        let mut best = BestMoves::default();
        let mut lists = Lists::default();
        for tree in 0..self.trees.columns.len() {
            if !self.trees.uses(tree, switch, port) {
                continue;
            }
            lists.upstream.clear();
            self.trees.upstream(tree, switch, &mut lists.upstream);
            for at in 0..lists.upstream.len() {
                self.moves_of_entry(tree, lists.upstream[at], port, &mut lists, &mut best)?;
            }
        }
        Ok(best.sorted())
    }

    /// Adds the moves of one entry, if they are as good as the best ones. Worse ones are removed.
    fn moves_of_entry(
        &mut self,
        tree: usize,
        s: u32,
        worst: PortIndex,
        lists: &mut Lists,
        best: &mut BestMoves,
    ) -> Result<(), TooFar> {
        let flows = self.trees.flows(tree, s);
        let one = |load: u64, port: PortIndex| {
            let overload = if load > self.enough { load } else { 0 };
            PossibleMove { overload, flows_left: u64::MAX - flows, load, tree, switch: s, port }
        };
        // No port of the new route has less than these flows.
        if !best.may_take(&one(flows, 0)) {
            return Ok(());
        }
        let most = self.trees.load(worst);
        let Lists { old, new, ports, .. } = lists;
        ports.clear();
        self.closer.ports(self.trees.switch(s), self.trees.columns[tree].column, ports)?;
        old.clear();
        self.trees.route(tree, s, old);
        for &port in ports.iter() {
            let port = self.trees.port_of(s, port);
            // The new route begins with this port, so no port of it has less than this one. Most ports are dismissed here.
            let least = self.trees.load(port) + flows;
            if least >= most || old.first() == Some(&port) || !best.may_take(&one(least, port)) {
                continue;
            }
            new.clear();
            self.trees.route_by(tree, port, new);
            if let Some(load) = self.load_after(old, new, flows, worst) {
                best.take(one(load, port));
            }
        }
        Ok(())
    }

    /// Returns the greatest load of the ports that only the new route has, after a move. Returns `None` if the new route
    /// passes the worst port, or if a port of it would then be no better than the worst port is now.
    fn load_after(
        &self,
        old: &[PortIndex],
        new: &[PortIndex],
        flows: u64,
        worst: PortIndex,
    ) -> Option<u64> {
        if new.contains(&worst) {
            return None;
        }
        let only_new = new.iter().filter(|port| !old.contains(port));
        let load = only_new.map(|&port| self.trees.load(port) + flows).max().unwrap_or(0);
        (load < self.trees.load(worst)).then_some(load)
    }

    /// Returns the positions of all nodes whose flows to a destination pass a switch.
    fn sources(&self, tree: usize, s: u32) -> Vec<u32> {
        let mut switches = vec![];
        self.trees.upstream(tree, s, &mut switches);
        let positions = switches.iter().map(|&s| &self.trees.positions[s as usize]);
        positions.flatten().copied().collect()
    }

    /// Returns the old and the new route of a move, each without the ports that both have.
    fn routes(&self, one: &PossibleMove) -> [Vec<PortIndex>; 2] {
        let (mut old, mut new) = (vec![], vec![]);
        self.trees.route(one.tree, one.switch, &mut old);
        self.trees.route_by(one.tree, one.port, &mut new);
        let only_old = old.iter().filter(|port| !new.contains(port)).copied().collect();
        let only_new = new.iter().filter(|port| !old.contains(port)).copied().collect();
        [only_old, only_new]
    }

    /// Returns the harm of a move, or `limit` if it is that much or more.
    fn harm(&self, one: &PossibleMove, limit: usize) -> usize {
        let [_, new] = self.routes(one);
        self.shifts.harm(one.tree, &self.sources(one.tree, one.switch), &new, limit)
    }

    fn make(&mut self, one: PossibleMove) {
        let sources = self.sources(one.tree, one.switch);
        let [old, new] = self.routes(&one);
        self.shifts.remove(one.tree, &sources, &old);
        self.shifts.add(one.tree, &sources, &new);
        self.trees.set(one.tree, one.switch, one.port);
    }
}
