//! Counts flows over every port, for any rules of the levels: of all-to-all traffic, and of a sample of shifts.
//!
//! In all-to-all traffic, every node on a leaf sends one flow to every node on another leaf. All flows to one destination that meet in a
//! switch leave it by the same port, so they are counted together, from switch to switch:
//!
//! ```text
//! for each destination d of target t:
//!     flows(s) = the number of nodes of leaf s, for every leaf other than t; 0 elsewhere
//!     for each switch s that goes up towards t, ascending, and then for each that goes down, descending:
//!         (group, port) = eqs. (3) and (4) with the rules of s
//!         load(port) += flows(s);  flows(switch behind the port) += flows(s)
//! ```
//!
//! In a shift by k, the i-th node, in the order of the numbers, sends one flow to the node k places further on. Each flow is followed by
//! itself.
//!
//! Departures from these loops:
//!
//! 1. Which groups are closer does not depend on the rules, so that is found once, and equal sets of groups are kept once.
//! 2. Loads only grow while flows are counted. So counting ends as soon as a load is too great: the same rules are chosen.

use std::collections::HashMap;

use super::MeasuredFabric;
use crate::bits::bits;
use crate::cost::{CloserSets, TileCosts};
use crate::group::Side;
use crate::id::SwitchIndex;
use crate::kernel::{Choices, Divisor, SIZES};
use crate::level_dividers::LevelRule;
use crate::parallel;
use crate::random::Random;
use crate::tables::BLOCK;

/// The rules of all levels, rank 0 first.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelRules {
    pub(crate) up: Vec<LevelRule>,
    pub(crate) down: Vec<LevelRule>,
}

impl LevelRules {
    /// Returns the rules of one direction.
    pub(crate) fn of_mut(&mut self, up: bool) -> &mut Vec<LevelRule> {
        if up { &mut self.up } else { &mut self.down }
    }

    fn rule(&self, rank: Option<u32>, up: bool) -> LevelRule {
        let rules = if up { &self.up } else { &self.down };
        rank.and_then(|rank| rules.get(rank as usize)).copied().unwrap_or_default()
    }
}

/// How many shifts are counted.
pub(super) const SHIFTS: usize = 32;

/// Returns the sample of shifts for a number of nodes: all of them, if they are few.
pub(crate) fn sampled_shifts(nodes: usize) -> Vec<usize> {
    let all = nodes.saturating_sub(1);
    let drawn = Random::new(1, 0).sample(all, SHIFTS.min(all));
    drawn.into_iter().map(|shift| shift + 1).collect()
}

/// How loaded the ports are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The flows of the most loaded port in all-to-all traffic.
    pub(crate) all_to_all: u64,
    /// The same for each shift of the sample, added up.
    pub(crate) shifts: u64,
    /// In all-to-all traffic, the sum of the squares over all ports.
    pub(crate) squares: u128,
}

impl Load {
    /// A load that every other one is below.
    pub(crate) const GREATEST: Load =
        Load { all_to_all: u64::MAX, shifts: u64::MAX, squares: u128::MAX };

    /// Returns what is compared; less is better. Both kinds of traffic count alike, whatever their numbers of flows.
    pub(crate) fn key(&self) -> (u128, u128) {
        (u128::from(self.all_to_all) * u128::from(self.shifts), self.squares)
    }

    /// Returns whether neither kind of traffic loads a port more.
    pub(crate) fn is_no_worse(&self, than: &Load) -> bool {
        self.all_to_all <= than.all_to_all && self.shifts <= than.shifts
    }
}

/// Stands for no route in the table of [`FlowCounter`].
const NO_SET: u32 = u32::MAX;

/// What does not depend on the rules.
pub(super) struct FlowCounter<'a> {
    fabric: &'a MeasuredFabric<'a>,
    /// Sets of groups, ascending, by their numbers.
    sets: Vec<Vec<u8>>,
    /// For each target and switch: twice the number of the set of closer groups, and 1 more if they are above the switch.
    closer: Vec<u32>,
    /// The place of the first port of each switch among all ports: those above, then those below.
    first_ports: Vec<usize>,
    ports: usize,
    /// For each destination in the order of the numbers: its target, and its number.
    in_order: Vec<(usize, u32)>,
    shifts: Vec<usize>,
}

impl<'a> FlowCounter<'a> {
    pub(super) fn new(fabric: &'a MeasuredFabric<'a>) -> Self {
        let MeasuredFabric { groups, destinations, .. } = fabric;
        let found = parallel::map(destinations.tiles().zip(&fabric.costs), |(targets, costs)| {
            closer_sets(fabric, targets, costs)
        });
        let mut numbers: HashMap<[u64; 4], u32> = HashMap::new();
        let mut sets: Vec<Vec<u8>> = vec![];
        let switches = groups.switch_count();
        let mut closer = vec![NO_SET; destinations.targets().len() * switches];
        for (tile, found) in found.into_iter().enumerate() {
            for TargetSet { target, switch, up, set } in found {
                let number = *numbers.entry(set).or_insert_with(|| {
                    let words = set.into_iter().enumerate();
                    let list = words.flat_map(|(at, word)| bits(word).map(move |b| 64 * at + b));
                    sets.push(list.map(|group| group as u8).collect());
                    sets.len() as u32 - 1
                });
                let target = tile * BLOCK + target;
                closer[target * switches + switch.at()] = 2 * number + u32::from(up);
            }
        }
        let mut ports = 0;
        let first_ports = (0..switches)
            .map(|at| {
                let s = SwitchIndex::new(at);
                let first = ports;
                ports += groups.above(s).ports.len() + groups.below(s).ports.len();
                first
            })
            .collect();
        let of_target = |i: usize| destinations.of_target(i).map(move |at| (i, at));
        let in_order = (0..destinations.targets().len()).flat_map(of_target);
        let mut in_order: Vec<(usize, u32)> =
            in_order.map(|(i, at)| (i, destinations.number(at))).collect();
        in_order.sort_unstable_by_key(|(_, number)| *number);
        let shifts = sampled_shifts(in_order.len());
        FlowCounter { fabric, sets, closer, first_ports, ports, in_order, shifts }
    }

    /// Returns whether a level has a choice in a direction: of groups, and of ports within a group.
    pub(super) fn choices(&self, rank: u32, up: bool) -> [bool; 2] {
        let mut choices = [false; 2];
        for target in 0..self.fabric.destinations.targets().len() {
            for &s in self.fabric.groups.ascending() {
                if self.fabric.ranking.rank(s) == Some(rank)
                    && let Some(hop) = self.hop(target, s)
                    && hop.up == up
                {
                    choices[0] |= hop.set.len() > 1;
                    let has_ports = |&group: &u8| hop.side.extent(group.into()).len() > 1;
                    choices[1] |= hop.set.iter().any(has_ports);
                }
            }
        }
        choices
    }

    /// Returns a lower bound of the load, whatever the rules: all flows to the nodes of a leaf arrive over the cables of the leaf. A leaf can
    /// have cables below it, too: a root may be a leaf, and cables may join leaves.
    pub(super) fn lower_bound(&self) -> Load {
        let MeasuredFabric { destinations, groups, .. } = self.fabric;
        let targets = destinations.targets();
        let cables = |s: SwitchIndex| groups.above(s).ports.len() + groups.below(s).ports.len();
        let cables: Vec<usize> = targets.iter().map(|target| cables(*target).max(1)).collect();
        let most_over_cables = |arriving: &[usize]| {
            let loads = arriving.iter().zip(&cables).map(|(flows, cables)| flows.div_ceil(*cables));
            loads.max().unwrap_or(0) as u64
        };
        let mut arriving = vec![0; targets.len()];
        for (from, source) in targets.iter().enumerate() {
            for target in (0..targets.len()).filter(|target| self.is_routed(*source, *target)) {
                arriving[target] +=
                    destinations.of_target(from).len() * destinations.of_target(target).len();
            }
        }
        let all_to_all = most_over_cables(&arriving);
        let of_shift = |&shift: &usize| {
            arriving.fill(0);
            for (source, target, _) in self.flows_of_shift(shift) {
                arriving[target] += usize::from(self.is_routed(targets[source], target));
            }
            most_over_cables(&arriving)
        };
        Load { all_to_all, shifts: self.shifts.iter().map(of_shift).sum(), squares: 0 }
    }

    /// Returns whether a switch sends what is meant for a target anywhere.
    fn is_routed(&self, s: SwitchIndex, target: usize) -> bool {
        self.closer[target * self.first_ports.len() + s.at()] != NO_SET
    }

    /// Counts the flows over all ports. Returns `None` as soon as it is certain that the load is not [less](Load::key) than `best`, or is
    /// [worse](Load::is_no_worse) than `allowed`.
    pub(super) fn count(&self, rules: &LevelRules, allowed: &Load, best: &Load) -> Option<Load> {
        let choosers = self.choosers(rules);
        let loads = self.all_to_all(&choosers, allowed.all_to_all)?;
        let square = |load: &u64| u128::from(*load) * u128::from(*load);
        let squares = loads.iter().map(square).sum();
        let mut load =
            Load { all_to_all: loads.into_iter().max().unwrap_or(0), shifts: 0, squares };
        for &shift in &self.shifts {
            load.shifts += self.most_of_shift(shift, &choosers);
            if load.shifts > allowed.shifts || load.key() > best.key() {
                return None;
            }
        }
        (load.key() < best.key()).then_some(load)
    }

    /// Returns what each switch chooses by: going up, and going down.
    fn choosers(&self, rules: &LevelRules) -> Vec<[Chooser; 2]> {
        let MeasuredFabric { ranking, dividers, .. } = self.fabric;
        let of_switch = |(at, divider): (usize, &u32)| {
            [true, false].map(|up| {
                let rule = rules.rule(ranking.rank(SwitchIndex::new(at)), up);
                let group = Divisor::new(rule.group.unwrap_or(*divider));
                Chooser { group, port: rule.port.map(Divisor::new) }
            })
        };
        dividers.iter().enumerate().map(of_switch).collect()
    }

    /// Returns the flows of all-to-all over each port, or `None` if some port has more than `allowed`.
    fn all_to_all(&self, choosers: &[[Chooser; 2]], allowed: u64) -> Option<Vec<u64>> {
        let MeasuredFabric { destinations, groups, .. } = self.fabric;
        let targets = destinations.targets();
        let mut loads = vec![0u64; self.ports];
        let mut most = 0;
        let (mut flows, mut own): (Vec<u32>, Vec<u32>) = (vec![], vec![]);
        for target in 0..targets.len() {
            let width = destinations.of_target(target).len();
            flows.clear();
            flows.resize(self.first_ports.len() * width, 0);
            for (at, source) in targets.iter().enumerate().filter(|(at, _)| *at != target) {
                flows[source.at() * width..][..width].fill(destinations.of_target(at).len() as u32);
            }
            let mut hand_on = |s: SwitchIndex, up: bool| {
                let Some(hop) = self.hop(target, s).filter(|hop| hop.up == up) else {
                    return;
                };
                let chooser = &choosers[s.at()][usize::from(!up)];
                own.clear();
                own.extend_from_slice(&flows[s.at() * width..][..width]);
                for (column, position) in destinations.of_target(target).enumerate() {
                    if own[column] > 0 {
                        let (group, port) = hop.choose(chooser, destinations.number(position));
                        let load = &mut loads[hop.first_port + port];
                        *load += u64::from(own[column]);
                        most = most.max(*load);
                        flows[hop.side.peers[group].at() * width + column] += own[column];
                    }
                }
            };
            groups.ascending().iter().for_each(|s| hand_on(*s, true));
            groups.ascending().iter().rev().for_each(|s| hand_on(*s, false));
            if most > allowed {
                return None;
            }
        }
        Some(loads)
    }

    /// Returns each flow of a shift: from which target to which, and the number of the destination.
    fn flows_of_shift(&self, shift: usize) -> impl Iterator<Item = (usize, usize, u32)> {
        let receivers = self.in_order.iter().cycle().skip(shift);
        let flows = self.in_order.iter().zip(receivers);
        flows.map(|(&(source, _), &(target, number))| (source, target, number))
    }

    /// Returns the flows of the most loaded port in a shift.
    fn most_of_shift(&self, shift: usize, choosers: &[[Chooser; 2]]) -> u64 {
        let targets = self.fabric.destinations.targets();
        let mut loads = vec![0u32; self.ports];
        for (source, target, number) in self.flows_of_shift(shift) {
            let mut s = targets[source];
            while s != targets[target]
                && let Some(hop) = self.hop(target, s)
            {
                let chooser = &choosers[s.at()][usize::from(!hop.up)];
                let (group, port) = hop.choose(chooser, number);
                loads[hop.first_port + port] += 1;
                s = hop.side.peers[group];
            }
        }
        loads.into_iter().max().unwrap_or(0).into()
    }

    /// Returns where a switch sends what is meant for a target; `None` if nowhere.
    #[inline(always)]
    fn hop(&self, target: usize, s: SwitchIndex) -> Option<Hop<'_>> {
        let closer = self.closer[target * self.first_ports.len() + s.at()];
        if closer == NO_SET {
            return None;
        }
        let groups = self.fabric.groups;
        let up = closer % 2 == 1;
        let of_switch = self.first_ports[s.at()];
        let above = groups.above(s);
        Some(Hop {
            up,
            set: &self.sets[(closer / 2) as usize],
            first_port: if up { of_switch } else { of_switch + above.ports.len() },
            side: if up { above } else { groups.below(s) },
        })
    }
}

/// What a switch chooses by in one direction.
#[derive(Clone, Copy)]
struct Chooser {
    group: Divisor,
    /// `None` stands for eq. (4).
    port: Option<Divisor>,
}

/// Where a switch sends what is meant for a target.
struct Hop<'a> {
    up: bool,
    side: Side<'a>,
    /// The groups of the side that are closer.
    set: &'a [u8],
    /// The place of the first port of the side among all ports.
    first_port: usize,
}

impl Hop<'_> {
    /// Returns the group by eq. (3), and by eq. (4) which of the ports of the side.
    #[inline(always)]
    fn choose(&self, by: &Chooser, d: u32) -> (usize, usize) {
        let size = &SIZES[self.set.len() & 255];
        let q = by.group.divide(d);
        let group = usize::from(self.set[size.modulo(q) as usize]);
        let ports = self.side.extent(group);
        let first = usize::from(ports.start);
        if ports.len() == 1 {
            return (group, first);
        }
        let round = by.port.map_or_else(|| size.divide(q), |port| port.divide(d));
        (group, first + SIZES[ports.len() & 255].modulo(round) as usize)
    }
}

/// The groups of a switch that are closer to a target of a tile, as a bit for each.
struct TargetSet {
    target: usize,
    switch: SwitchIndex,
    up: bool,
    set: [u64; 4],
}

/// Returns the sets of all switches for the targets of a tile.
fn closer_sets(
    fabric: &MeasuredFabric<'_>,
    targets: &[SwitchIndex],
    costs: &TileCosts,
) -> Vec<TargetSet> {
    let mut found = vec![];
    let (mut closer, mut choices) = (CloserSets::default(), Choices::default());
    for &switch in fabric.groups.ascending() {
        fabric.kernel.run(
            #[inline(always)]
            || costs.closer(fabric.groups, switch, &mut closer),
        );
        closer.restrict(u64::MAX >> (BLOCK - targets.len()));
        let sides =
            [(true, closer.up, &closer.through_up), (false, closer.down, &closer.through_down)];
        for (up, of_side, through) in sides {
            if of_side == 0 {
                continue;
            }
            fabric.kernel.gather(&mut choices, of_side, through);
            let sets = bits(of_side).map(|target| (target, choices.set(target as u8)));
            let some = sets.filter(|(_, set)| *set != [0; 4]);
            found.extend(some.map(|(target, set)| TargetSet { target, switch, up, set }));
        }
    }
    found
}
