//! The state of a detection, which its steps share.

use super::doubt::{Doubt, DoubtReason};
use crate::fabric::Live;
use crate::id::SwitchIndex;

/// The state of a detection.
pub(super) struct Detection<'a> {
    pub(super) live: Live<'a>,
    /// The number of nodes of each switch that count.
    pub(super) nodes: &'a [usize],
    /// Whether switches are leaves, as far as it was known before; empty if nothing was.
    pub(super) known: &'a [Option<bool>],
    /// The usual number of nodes in the connected part of each switch.
    pub(super) usual: Vec<usize>,
    pub(super) is_leaf: Vec<bool>,
    pub(super) doubts: Vec<Doubt>,
}

impl Detection<'_> {
    /// Returns whether a switch is a leaf, if that was known before.
    pub(super) fn known(&self, s: SwitchIndex) -> Option<bool> {
        self.known.get(s.at()).copied().flatten()
    }

    /// Returns whether a switch has more than half the usual number of nodes, or is known to be a leaf.
    pub(super) fn is_strong(&self, s: SwitchIndex) -> bool {
        self.known(s).unwrap_or(2 * self.nodes[s.at()] > self.usual[s.at()])
    }

    /// Returns whether a switch is a leaf by the steps so far.
    pub(super) fn is_leaf(&self, s: SwitchIndex) -> bool {
        self.is_leaf[s.at()]
    }

    /// Notes that the decision about a switch is uncertain.
    pub(super) fn doubt(&mut self, switch: SwitchIndex, why: DoubtReason) {
        self.doubts.push(Doubt { switch, is_leaf: self.is_leaf(switch), why });
    }

    /// Makes leaves of these switches.
    pub(super) fn set(&mut self, leaves: Vec<SwitchIndex>) {
        for s in leaves {
            self.is_leaf[s.at()] = true;
        }
    }

    /// Returns the switches that a switch is cabled to, ascending, each once.
    pub(super) fn neighbours(&self, s: SwitchIndex) -> Vec<SwitchIndex> {
        let mut list: Vec<SwitchIndex> = self.live.links(s).map(|(_, peer)| peer).collect();
        list.dedup();
        list
    }
}

/// Counts switches, in one round after another.
pub(super) struct Counter {
    counts: Vec<(u32, u32)>,
    round: u32,
}

impl Counter {
    pub(super) fn new(switches: usize) -> Self {
        Counter { counts: vec![(0, 0); switches], round: 0 }
    }

    /// Starts a new round, in which nothing has been counted.
    pub(super) fn restart(&mut self) {
        self.round += 1;
    }

    /// Counts a switch. Returns how often it has been counted in this round.
    pub(super) fn count(&mut self, s: SwitchIndex) -> usize {
        let (round, count) = &mut self.counts[s.at()];
        *count = if *round == self.round { *count + 1 } else { 1 };
        *round = self.round;
        *count as usize
    }
}
