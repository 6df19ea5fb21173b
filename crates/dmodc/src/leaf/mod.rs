//! Which switches are leaves.
//!
//! "Has a node" is not enough in a machine room: service nodes are on spines and cores, and a leaf whose rack is empty
//! looks like a core. A switch is a leaf if the fabric is more regular that way. These steps are taken in this order,
//! within each connected part of the fabric (`detect` has an example):
//!
//! 1. The *usual* number of nodes on a switch is the one that the middle node sees on its own switch. A
//!    switch with more than half of that is a leaf,
//! 2. unless it is cabled to leaves as spines are: where two such switches are cabled to each other,
//!    `clash` finds out which of them is a spine with service nodes.
//! 3. A switch with fewer nodes is a leaf if it is cabled as leaves are: to no leaf of (1, 2); and mostly
//!    to the upswitches of one of them if it is two hops away from it, or else an even number of hops, in
//!    a pod of its own. A spine is cabled to leaves, a core to spines of different pods; their nodes
//!    are service nodes.
//! 4. A switch without nodes is a leaf if it is cabled to no leaf, to at least two switches, and one
//!    leaf is cabled to more than three fifths of those. (A core of a PGFT shares one spine with any leaf,
//!    whatever is broken; a leaf shares all of them but the broken ones.) Where a leaf is cabled only to a part of its
//!    neighbours, and another switch without nodes to nearly all, both are cores: spine chips of a director. So are
//!    switches that have others above them, and a switch that has more neighbours than all leaves.
//! 5. A switch without nodes is a leaf of an empty pod if it is four hops away from any other leaf, or
//!    another even number, and not cabled as a switch two hops nearer is.
//!
//! The decision is made once, for the first state of a fabric, and kept: [`LeafRule::fix`]. What saved orders or a
//! reference know about a switch comes before all of these steps. A [`LeafRule`] can overrule the detection, and a
//! [`Doubt`] reports where it is uncertain. Aggregation nodes and hosts that are set aside never count.

mod choice;
mod clash;
mod detect;
mod doubt;
mod state;

pub use choice::{LeafChoice, NamePattern, NoLeafMeant};
pub use doubt::{Doubt, DoubtReason};

use crate::fabric::{AdapterKind, Degradation, Live};
use crate::id::SwitchIndex;
use crate::parallel;

/// The number of switches that a thread takes at once.
const PIECE: usize = 256;

/// How leaves are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeafRule {
    /// From the fabric itself.
    #[default]
    Detect,
    /// Every switch with at least this number of nodes.
    AtLeast(usize),
    /// Exactly the flagged switches, as far as they are alive: one flag for each switch.
    These(Vec<bool>),
    /// By detection, but ranks are counted down from these switches, the roots.
    Roots(Vec<SwitchIndex>),
    /// By detection, but the flagged switches are none: one flag for each switch.
    Except(Vec<bool>),
    /// Ranks are counted down from the first, the roots; the leaves are exactly the second.
    RootsAndLeaves(Vec<SwitchIndex>, Vec<bool>),
}

impl LeafRule {
    /// Returns the switches that ranks are counted down from, if the rule names them.
    pub fn roots(&self) -> Option<&[SwitchIndex]> {
        match self {
            LeafRule::Roots(roots) | LeafRule::RootsAndLeaves(roots, _) => Some(roots),
            _ => None,
        }
    }

    /// Decides by this state of a fabric which switches are leaves, for good. Returns a rule that names them, and the
    /// doubts. `known` holds by index whether switches are leaves as far as that is known before; it is used where
    /// leaves are detected. Whether a dead switch is a leaf is decided as if everything were alive.
    pub fn fix(&self, live: Live<'_>, known: &[Option<bool>]) -> (LeafRule, Vec<Doubt>) {
        let (mut is_leaf, doubts) = self.decide(live, known);
        let is_dead = |s: &SwitchIndex| !live.switch(*s);
        if !matches!(self, LeafRule::These(_)) && live.fabric.switch_indices().any(|s| is_dead(&s))
        {
            let whole = Degradation::none(live.fabric);
            let (if_alive, _) = self.decide(Live::new(live.fabric, &whole), known);
            for s in live.fabric.switch_indices().filter(is_dead) {
                is_leaf[s.at()] = if_alive[s.at()];
            }
        }
        let rule = match self.roots() {
            Some(roots) => LeafRule::RootsAndLeaves(roots.to_vec(), is_leaf),
            None => LeafRule::These(is_leaf),
        };
        (rule, doubts)
    }

    fn decide(&self, live: Live<'_>, known: &[Option<bool>]) -> (Vec<bool>, Vec<Doubt>) {
        self.decide_by(live, &count_nodes(live), known)
    }

    fn decide_by(
        &self,
        live: Live<'_>,
        nodes: &[usize],
        known: &[Option<bool>],
    ) -> (Vec<bool>, Vec<Doubt>) {
        let detect = |known: &[Option<bool>]| {
            let found = detect::detect(live, nodes, known);
            (found.is_leaf, found.doubts)
        };
        match self {
            LeafRule::Detect | LeafRule::Roots(_) => detect(known),
            LeafRule::Except(none) => {
                let before = |at: usize| known.get(at).copied().flatten();
                let excluded = none.iter().enumerate();
                let known: Vec<Option<bool>> = excluded
                    .map(|(at, none)| if *none { Some(false) } else { before(at) })
                    .collect();
                detect(&known)
            }
            LeafRule::AtLeast(least) => (nodes.iter().map(|n| n >= least).collect(), vec![]),
            LeafRule::These(flags) | LeafRule::RootsAndLeaves(_, flags) => (flags.clone(), vec![]),
        }
    }
}

/// The leaves of one state of a fabric, and other findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// The leaves, ascending by index.
    pub all: Vec<SwitchIndex>,
    /// Leaves without a node, ascending by index.
    pub empty: Vec<SwitchIndex>,
    /// Switches with nodes that are no leaves.
    pub service: Vec<SwitchIndex>,
    /// The number of nodes of each switch that count.
    nodes: Vec<usize>,
}

impl Leaves {
    /// Finds the leaves in one state of a fabric. O(#ports) if they are given; detection also looks at the neighbours of
    /// neighbours.
    pub fn new(live: Live<'_>, rule: &LeafRule) -> Self {
        let nodes = count_nodes(live);
        match rule {
            LeafRule::These(flags) | LeafRule::RootsAndLeaves(_, flags) => {
                Leaves::of(live, nodes, flags)
            }
            _ => {
                let (is_leaf, _) = rule.decide_by(live, &nodes, &[]);
                Leaves::of(live, nodes, &is_leaf)
            }
        }
    }

    fn of(live: Live<'_>, nodes: Vec<usize>, is_leaf: &[bool]) -> Self {
        let mut leaves = Leaves::default();
        for s in live.switches() {
            match (is_leaf[s.at()], nodes[s.at()]) {
                (true, n) => {
                    leaves.all.push(s);
                    if n == 0 {
                        leaves.empty.push(s);
                    }
                }
                (false, 0) => {}
                (false, _) => leaves.service.push(s),
            }
        }
        leaves.nodes = nodes;
        leaves
    }

    /// Updates the numbers of nodes after faults or repairs of these switches and their cables alone. Returns whether the
    /// leaves have certainly not changed. If not, they have to be found again, and these must not be used any more.
    pub(crate) fn outlast(
        &mut self,
        live: Live<'_>,
        rule: &LeafRule,
        touched: &[SwitchIndex],
        is_leaf: &[bool],
    ) -> bool {
        let (LeafRule::These(flags) | LeafRule::RootsAndLeaves(_, flags)) = rule else {
            return false;
        };
        touched.iter().all(|&s| {
            let nodes = hosts(live, s);
            let before = std::mem::replace(&mut self.nodes[s.at()], nodes);
            (live.switch(s) && flags[s.at()]) == is_leaf[s.at()] && (before == 0) == (nodes == 0)
        })
    }
}

/// Returns the number of nodes of each switch that count.
fn count_nodes(live: Live<'_>) -> Vec<usize> {
    let mut nodes = vec![0; live.fabric.switches().len()];
    parallel::for_each(nodes.chunks_mut(PIECE).enumerate(), |(piece, nodes)| {
        for (at, count) in nodes.iter_mut().enumerate() {
            *count = hosts(live, SwitchIndex::new(piece * PIECE + at));
        }
    });
    nodes
}

/// Returns the number of nodes of a switch that count: live ones of hosts and routers.
fn hosts(live: Live<'_>, s: SwitchIndex) -> usize {
    let counts = |kind| matches!(kind, AdapterKind::Host | AdapterKind::Router);
    live.nodes(s).filter(|&n| counts(live.fabric.adapter_of(n).kind)).count()
}
