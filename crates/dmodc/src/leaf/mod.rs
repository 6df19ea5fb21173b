//! Which switches are leaves.
//!
//! "Has a node" is not enough in a machine room: service nodes sit on spines and cores, and a leaf
//! whose rack is empty looks like a core. A switch is a leaf if the fabric is more regular that way. So,
//! within each connected part of the fabric:
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
//!    whatever is broken; a leaf shares all of them but the broken ones.)
//! 5. A switch without nodes is a leaf of an empty pod if it is four hops away from any other leaf, or
//!    another even number, and not cabled as a switch two hops nearer is.
//!
//! The decision is made once, for the first state of a fabric, and kept: [`LeafRule::fix`]. What saved orders
//! or a reference know goes before all of this. Where it is wrong, a [`LeafRule`] says so; where it is
//! uncertain, a [`Doubt`] does. Aggregation nodes and nodes set aside never count.

mod choice;
mod clash;
mod detect;
mod doubt;

pub use choice::{LeafChoice, Meant, NothingMeant};
pub use doubt::{Doubt, DoubtReason};

use crate::fabric::{AdapterKind, Degradation, Live};
use crate::id::SwitchIndex;
use crate::parallel;

/// How many switches a thread takes at once.
const PIECE: usize = 256;

/// How leaves are found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LeafRule {
    /// From the fabric itself.
    #[default]
    Detect,
    /// Every switch with at least so many nodes.
    AtLeast(usize),
    /// Exactly these, as far as they are alive: one flag for each switch.
    These(Vec<bool>),
    /// By detection; but ranks are counted down from these switches, the roots.
    Roots(Vec<SwitchIndex>),
    /// By detection; but these are none: one flag for each switch.
    Except(Vec<bool>),
    /// Ranks are counted down from the first, the roots; the leaves are exactly the second.
    RootsAndLeaves(Vec<SwitchIndex>, Vec<bool>),
}

impl LeafRule {
    /// The switches that ranks are counted down from.
    pub fn roots(&self) -> Option<&[SwitchIndex]> {
        match self {
            LeafRule::Roots(roots) | LeafRule::RootsAndLeaves(roots, _) => Some(roots),
            _ => None,
        }
    }

    /// Decides on this state of a fabric which switches are leaves, for good. Returns a rule that names
    /// them, and where the decision is uncertain. `known` says what is known of switches before, by index;
    /// it counts where leaves are detected. Of what is dead in this state it is decided as if everything
    /// were alive.
    pub fn fix(&self, live: Live<'_>, known: &[Option<bool>]) -> (LeafRule, Vec<Doubt>) {
        let (mut is_leaf, doubts) = self.decide(live, known);
        let is_dead = |s: &SwitchIndex| !live.switch(*s);
        if !matches!(self, LeafRule::These(_)) && live.fabric.switch_indices().any(|s| is_dead(&s))
        {
            let whole = Degradation::none(live.fabric);
            let (then, _) = self.decide(Live::new(live.fabric, &whole), known);
            for s in live.fabric.switch_indices().filter(is_dead) {
                is_leaf[s.at()] = then[s.at()];
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

/// The leaves that were found, and what else was noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// The leaves, ascending by index.
    pub all: Vec<SwitchIndex>,
    /// Leaves without a node, ascending by index.
    pub empty: Vec<SwitchIndex>,
    /// Switches that have nodes, but are no leaves.
    pub service: Vec<SwitchIndex>,
    /// How many nodes of each switch count.
    nodes: Vec<usize>,
}

impl Leaves {
    /// Finds the leaves in one state of a fabric. O(#ports) where they are given; detection looks at the
    /// neighbours of neighbours, too.
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

    /// Whether the leaves are certainly what they were, after something happened to these switches and
    /// their cables alone. Otherwise they are to be found again.
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

/// How many nodes of each switch count.
fn count_nodes(live: Live<'_>) -> Vec<usize> {
    let mut nodes = vec![0; live.fabric.switches().len()];
    parallel::for_each(nodes.chunks_mut(PIECE).enumerate(), |(piece, nodes)| {
        for (at, count) in nodes.iter_mut().enumerate() {
            *count = hosts(live, SwitchIndex::new(piece * PIECE + at));
        }
    });
    nodes
}

/// How many nodes of a switch count: live ones that are hosts' or routers'.
fn hosts(live: Live<'_>, s: SwitchIndex) -> usize {
    let counts = |kind| matches!(kind, AdapterKind::Host | AdapterKind::Router);
    live.nodes(s).filter(|&n| counts(live.fabric.adapter_of(n).kind)).count()
}
