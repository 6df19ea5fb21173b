//! The paper to the letter: Procedure 1 and eqs. (1)–(4), one step at a time.

use super::{Graph, Neighbour, select};
use crate::id::{PortNumber, SwitchIndex};

/// Costs and dividers while Procedure 1 runs. Costs are to leaves alone; `None` is infinite.
#[derive(Clone, Debug)]
pub struct Procedure1<'a> {
    graph: &'a Graph,
    /// `c[s][l]`, leaves in the order of [`Graph::leaves`].
    pub cost: Vec<Vec<Option<u32>>>,
    /// Π.
    pub divider: Vec<u64>,
}

impl<'a> Procedure1<'a> {
    /// Runs the first two loops: all costs are infinite, but each leaf is at distance 0 from itself; every Π is 1.
    pub fn new(graph: &'a Graph) -> Self {
        let switches = graph.neighbours.len();
        let mut cost = vec![vec![None; graph.leaves.len()]; switches];
        for (l, leaf) in graph.leaves.iter().enumerate() {
            cost[leaf.at()][l] = Some(0);
        }
        Procedure1 { graph, cost, divider: vec![1; switches] }
    }

    /// Runs the whole procedure.
    pub fn run(graph: &'a Graph) -> Self {
        let mut procedure = Self::new(graph);
        for &s in &graph.ascending {
            procedure.ascend(s);
        }
        for &s in graph.ascending.iter().rev().filter(|s| !graph.leaves.contains(s)) {
            procedure.descend(s);
        }
        procedure
    }

    /// Runs one turn of the ascending loop.
    pub fn ascend(&mut self, s: SwitchIndex) {
        let pi = self.divider[s.at()].saturating_mul(self.graph.side(s, true).count() as u64);
        self.propagate(s, true);
        for above in self.graph.side(s, true) {
            if self.divider[above.switch.at()] < pi {
                self.divider[above.switch.at()] = pi;
            }
        }
    }

    /// Runs one turn of the descending loop.
    pub fn descend(&mut self, s: SwitchIndex) {
        self.propagate(s, false);
    }

    fn propagate(&mut self, s: SwitchIndex, up: bool) {
        for to in self.graph.side(s, up) {
            for l in 0..self.graph.leaves.len() {
                if let Some(own) = self.cost[s.at()][l] {
                    let theirs = &mut self.cost[to.switch.at()][l];
                    if theirs.is_none_or(|theirs| own + 1 < theirs) {
                        *theirs = Some(own + 1);
                    }
                }
            }
        }
    }

    /// Returns the groups closer to leaf `l`, whatever their direction: eq. (1).
    pub fn closer(&self, s: SwitchIndex, l: usize) -> Vec<&'a Neighbour> {
        let own = self.cost[s.at()][l].unwrap_or(u32::MAX);
        let neighbours = self.graph.neighbours[s.at()].iter();
        neighbours.filter(|n| self.cost[n.switch.at()][l].is_some_and(|c| c < own)).collect()
    }

    /// Returns all ports of those groups: eq. (2).
    pub fn alternatives(&self, s: SwitchIndex, l: usize) -> Vec<PortNumber> {
        self.closer(s, l).iter().flat_map(|g| g.ports.clone()).collect()
    }

    /// Returns the port of `s` for destination `d` on leaf `l`: eqs. (3) and (4).
    pub fn port(&self, s: SwitchIndex, l: usize, d: u32) -> Option<PortNumber> {
        select(&self.closer(s, l), self.divider[s.at()], u64::from(d), 0)
    }
}
