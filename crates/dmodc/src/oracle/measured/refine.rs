//! The refinement of dividers, stated naively: every flow of all-to-all traffic, and of a sample of shifts, is followed from its leaf to its
//! destination. The file `measured/refine.rs` of this crate has the rule.

use std::collections::{BTreeMap, BTreeSet};

use super::{Counted, Measuring};
use crate::id::{PortNumber, SwitchIndex};
use crate::level_dividers::LevelRule;
use crate::measured::flows::{LevelRules, Load, sampled_shifts};
use crate::measured::refine::{is_worth_it, most_trials};
use crate::oracle::Neighbour;

/// The flows over each port of each switch.
type Flows = BTreeMap<(SwitchIndex, PortNumber), u64>;

/// The closer sets of all switches towards all leaves.
type Closer<'a> = BTreeMap<(SwitchIndex, SwitchIndex), Vec<&'a Neighbour>>;

/// What follows flows.
struct Following<'a> {
    measuring: &'a Measuring<'a>,
    closer: Closer<'a>,
    /// The destinations in the order of their numbers.
    in_order: Vec<Counted>,
}

impl Measuring<'_> {
    /// Changes dividers one by one, as long as the ports are then loaded less.
    pub(super) fn refine(&self, candidates: &[u64], found: LevelRules) -> LevelRules {
        let mut trials =
            most_trials(self.graph.neighbours.len(), self.top() + 1, self.destinations.len());
        if trials <= candidates.len() {
            return found;
        }
        let following = Following::new(self);
        let before = following.load(&found);
        let dividers = || [None].into_iter().chain(candidates.iter().map(|c| Some(*c)));
        let (mut best, mut rules) = (before, found.clone());
        'rounds: loop {
            let at_first = best;
            for place in following.places() {
                if trials < dividers().count() {
                    break 'rounds;
                }
                trials -= dividers().count();
                let changed: Vec<LevelRules> =
                    dividers().map(|divider| with(&rules, place, divider)).collect();
                for changed in changed {
                    let load = following.load(&changed);
                    if load.is_no_worse(&before) && load.key() < best.key() {
                        (best, rules) = (load, changed);
                    }
                }
            }
            if best == at_first {
                break;
            }
        }
        if is_worth_it(&before, &best) { rules } else { found }
    }

    fn nodes_of(&self, leaf: SwitchIndex) -> u64 {
        self.destinations.iter().filter(|d| d.target == leaf).count() as u64
    }
}

/// A divider: the level, whether it is for going up, and whether it is that of ports.
type Place = (usize, bool, bool);

/// Returns rules with another divider at a place.
fn with(rules: &LevelRules, (rank, up, of_ports): Place, divider: Option<u64>) -> LevelRules {
    let mut rules = rules.clone();
    let rule = &mut rules.of_mut(up)[rank];
    let divider = divider.map(|divider| divider as u32);
    match of_ports {
        true => rule.port = divider,
        false => rule.group = divider,
    }
    rules
}

impl<'a> Following<'a> {
    fn new(measuring: &'a Measuring<'a>) -> Self {
        let mut closer = Closer::new();
        for (target, distances) in &measuring.distances {
            for &s in &measuring.graph.ascending {
                closer.insert((*target, s), distances.closer(measuring.graph, s));
            }
        }
        let mut in_order = measuring.destinations.clone();
        in_order.sort();
        Following { measuring, closer, in_order }
    }

    /// Returns the dividers that matter, in the order in which they are tried.
    fn places(&self) -> Vec<Place> {
        let mut with_choice = BTreeSet::new();
        for ((_, s), closer) in &self.closer {
            let rank = self.measuring.graph.ranks[s.at()];
            for group in closer {
                if closer.len() > 1 {
                    with_choice.insert((rank, group.up, false));
                }
                if group.ports.len() > 1 {
                    with_choice.insert((rank, group.up, true));
                }
            }
        }
        let top = self.measuring.top();
        let levels = (0..=top).map(|rank| (rank, true));
        let levels = levels.chain((0..=top).rev().map(|rank| (rank, false)));
        let places = levels.flat_map(|(rank, up)| [(rank, up, false), (rank, up, true)]);
        places.filter(|place| with_choice.contains(place)).collect()
    }

    fn load(&self, rules: &LevelRules) -> Load {
        let mut flows = Flows::new();
        for d in &self.in_order {
            for &leaf in self.measuring.distances.keys().filter(|leaf| **leaf != d.target) {
                self.follow(rules, leaf, d, self.measuring.nodes_of(leaf), &mut flows);
            }
        }
        let most = |flows: &Flows| flows.values().copied().max().unwrap_or(0);
        let of_shift = |shift: usize| {
            let mut flows = Flows::new();
            for (at, source) in self.in_order.iter().enumerate() {
                let d = &self.in_order[(at + shift) % self.in_order.len()];
                self.follow(rules, source.target, d, 1, &mut flows);
            }
            most(&flows)
        };
        Load {
            all_to_all: most(&flows),
            shifts: sampled_shifts(self.in_order.len()).into_iter().map(of_shift).sum(),
            squares: flows.values().map(|&load| u128::from(load) * u128::from(load)).sum(),
        }
    }

    /// Adds some flows from a leaf to a destination to the ports on their way.
    fn follow(
        &self,
        rules: &LevelRules,
        leaf: SwitchIndex,
        d: &Counted,
        count: u64,
        flows: &mut Flows,
    ) {
        let mut s = leaf;
        while s != d.target {
            let closer = &self.closer[&(d.target, s)];
            let Some(first) = closer.first() else { return };
            let rules = if first.up { &rules.up } else { &rules.down };
            let rank = self.measuring.graph.ranks[s.at()];
            let LevelRule { group, port } = rules.get(rank).copied().unwrap_or_default();
            let divider = group.map_or(self.measuring.dividers[s.at()], u64::from);
            let groups = closer.len() as u64;
            let chosen = closer[(d.d / divider % groups) as usize];
            let ports = chosen.ports.len() as u64;
            let at = match port {
                Some(divider) => d.d / u64::from(divider),
                None => d.d / divider.saturating_mul(groups),
            };
            *flows.entry((s, chosen.ports[(at % ports) as usize])).or_default() += count;
            s = chosen.switch;
        }
    }
}
