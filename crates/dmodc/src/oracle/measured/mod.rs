//! Measured dividers, stated naively: one divider for each level and direction, chosen so that what arrives there is spread.
//! [`Routing`](crate::Routing) measures with bit sets and must find the same.
//!
//! ```text
//! reach(leaf) = all destinations                                     (sets: a destination counts once)
//! for each level, from the leaves up:
//!     parts of s = destinations in reach(s) that go up from s, taken together if they have the same closer set and,
//!                  above the leaves, the same switches of this level above their own leaf (the same pod)
//!     if Π spreads the parts: each switch keeps its own Π
//!     else: one divider for the level: a candidate that spreads them most evenly
//!     each switch hands d on to group ⌊d / divider⌋ mod #C of its closer set
//! for each level, from the top down:
//!     arrive(s) = destinations handed to s from above, and those that turn at s
//!     if nothing that arrives on this level has a choice: Π stays
//!     else: one divider for the level: a candidate that spreads what arrives most evenly, by closer set
//! inside a group: eq. (4) with the divider in use, if that spreads what the group gets over its ports;
//!     else ⌊d / q⌋ mod #ports, with q the smallest candidate that spreads most evenly
//! ```
//!
//! *Spreads*: at half of the switches with a choice or more, no group gets twice ⌈destinations / groups⌉ of any part.
//! *Most evenly*: the least *excess*, which is the sum of squared loads, less the least sum that is possible with this number of destinations.
//! *Candidates*: products of prime factors; see [`Measuring::candidates`].
//!
//! Several candidates may spread a level equally well. They are all followed, up to a number of attempts at the same time, and the
//! attempt with the least excess on all levels together wins. In the end its dividers are changed one by one, as
//! long as the ports are then loaded less (`refine`).
//!
//! Where cables join switches of equal rank, what arrives over them is handed on, but does not count when the divider
//! of groups is chosen: it depends on that very choice.

mod refine;

use std::collections::{BTreeMap, BTreeSet};

use super::Graph;
use super::updown::Distances;
use crate::fabric::{AdapterKind, Live};
use crate::id::SwitchIndex;
use crate::level_dividers::{LevelDividers, LevelRule};
use crate::measured::flows::LevelRules;
use crate::measured::{ChoicesDown, attempts, is_worth_measuring};
use crate::order::Orders;
use crate::rank::RankRule;

/// Returns the dividers of all levels: those of the paper, if routes have nearly no choice on the way down.
pub fn level_dividers(live: Live<'_>, leaves: &[SwitchIndex], orders: &Orders) -> LevelDividers {
    let measure = |measuring: &Measuring<'_>| {
        let candidates = measuring.candidates();
        measuring.refine(&candidates, measuring.measure(&candidates))
    };
    dividers_by(measure, live, leaves, orders)
}

/// Returns the same dividers before flows over all ports are counted.
pub fn unrefined_dividers(
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
) -> LevelDividers {
    let measure = |measuring: &Measuring<'_>| measuring.measure(&measuring.candidates());
    dividers_by(measure, live, leaves, orders)
}

fn dividers_by(
    measure: fn(&Measuring<'_>) -> LevelRules,
    live: Live<'_>,
    leaves: &[SwitchIndex],
    orders: &Orders,
) -> LevelDividers {
    let graph = Graph::new(live, orders, leaves);
    let measuring = Measuring::new(live, &graph, orders);
    let (pairs_with_choice, pairs) = measuring.pairs_with_a_choice();
    let choices = ChoicesDown::new(pairs_with_choice, pairs);
    let measured = || {
        let LevelRules { up, down } = measure(&measuring);
        LevelDividers::new(up, down)
    };
    match is_worth_measuring(choices, orders.rank_rule(), || has_diamond(live, &graph)) {
        true if *orders.rank_rule() == RankRule::Leaves => measured(),
        true => measured().counted_from_root(measuring.top() as u32 + 1),
        false => LevelDividers::default(),
    }
}

/// Returns whether some switch without nodes has two ways down to a leaf with nodes, over one switch each or over two, that have no
/// switch in common between their ends. The higher ones of the switches between have no nodes.
fn has_diamond(live: Live<'_>, graph: &Graph) -> bool {
    let has_nodes = |s: SwitchIndex| {
        let counts = |kind| matches!(kind, AdapterKind::Host | AdapterKind::Router);
        live.nodes(s).any(|n| counts(live.fabric.adapter_of(n).kind))
    };
    let below = |s: SwitchIndex| graph.side(s, false).map(|n| n.switch);
    let leads_to = |s: SwitchIndex, t: SwitchIndex| below(s).any(|peer| peer == t);
    let is_low = |s: SwitchIndex, t: SwitchIndex| below(s).filter(|&a| leads_to(a, t)).count() > 1;
    let is_target = |s: SwitchIndex| graph.leaves.contains(&s) && has_nodes(s);
    let is_high = |s: SwitchIndex, t: SwitchIndex| {
        let ways: Vec<[SwitchIndex; 2]> = below(s)
            .filter(|&c| !has_nodes(c))
            .flat_map(|c| below(c).map(move |a| [c, a]))
            .filter(|&[_, a]| !is_target(a) && leads_to(a, t))
            .collect();
        ways.iter().any(|[c, a]| ways.iter().any(|[d, b]| c != d && a != b))
    };
    let mut targets = graph.leaves.iter().copied().filter(|&t| has_nodes(t));
    let tops: Vec<SwitchIndex> = live.switches().filter(|&s| !has_nodes(s)).collect();
    targets.any(|t| tops.iter().any(|&s| is_low(s, t) || is_high(s, t)))
}

/// A destination: a node on a leaf.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    d: u64,
    target: SwitchIndex,
}

/// A fabric, prepared for measuring.
pub struct Measuring<'a> {
    graph: &'a Graph,
    /// Π of every switch.
    dividers: Vec<u64>,
    destinations: Vec<Counted>,
    /// The distances to every leaf with destinations.
    distances: BTreeMap<SwitchIndex, Distances>,
}

/// Destinations that are counted together: the peers of their closer set, and the switches of the level above their leaf.
type PartKey = (Vec<SwitchIndex>, Vec<SwitchIndex>);

impl<'a> Measuring<'a> {
    /// Prepares a fabric.
    pub fn new(live: Live<'_>, graph: &'a Graph, orders: &Orders) -> Self {
        let nodes = live.fabric.node_indices().filter(|&n| live.node(n));
        let destinations: Vec<Counted> = nodes
            .filter(|&n| orders.node_number(n).on_leaf)
            .map(|n| Counted {
                d: orders.node_number(n).number.into(),
                target: live.fabric.node(n).switch,
            })
            .collect();
        let targets: BTreeSet<SwitchIndex> = destinations.iter().map(|d| d.target).collect();
        let distances = targets.into_iter().map(|t| (t, Distances::to(graph, t))).collect();
        Measuring { graph, dividers: graph.dividers(), destinations, distances }
    }

    /// Returns how many ordered pairs of leaves have a choice on the way down, and how many pairs have a route.
    pub fn pairs_with_a_choice(&self) -> (u64, u64) {
        let (mut with_choice, mut pairs) = (0, 0);
        for (&target, distances) in &self.distances {
            for &source in self.distances.keys().filter(|&&source| source != target) {
                if distances.cost[source.at()].is_none() {
                    continue;
                }
                pairs += 1;
                let mut led_to = vec![source];
                let mut at = 0;
                let mut has_choice = false;
                while let Some(&s) = led_to.get(at) {
                    let closer = distances.closer(self.graph, s);
                    has_choice |= distances.down[s.at()].is_some() && closer.len() > 1;
                    for group in closer {
                        if !led_to.contains(&group.switch) {
                            led_to.push(group.switch);
                        }
                    }
                    at += 1;
                }
                with_choice += u64::from(has_choice);
            }
        }
        (with_choice, pairs)
    }

    /// Returns the numbers that a divider is chosen from, ascending: all products, up to the number of destinations, of the
    /// prime factors of the usual number of nodes on a leaf and, for each level, of the usual number of groups above and of
    /// the usual size of a closer set below that has more than one group.
    pub fn candidates(&self) -> Vec<u64> {
        let nodes = self
            .distances
            .keys()
            .map(|t| self.destinations.iter().filter(|d| d.target == *t).count());
        let mut usual = vec![most_frequent(nodes)];
        for rank in 0..=self.top() {
            let above = self.level(rank).map(|s| self.graph.side(s, true).count());
            usual.push(most_frequent(above.filter(|&count| count > 0)));
            let below = self.level(rank).flat_map(|s| {
                let closer = self.distances.values().filter(move |to| to.down[s.at()].is_some());
                closer.map(move |to| to.closer(self.graph, s).len())
            });
            usual.push(most_frequent(below.filter(|&count| count > 1)));
        }
        let is_prime = |n: &usize| (2..*n).all(|m| !n.is_multiple_of(m));
        let primes: BTreeSet<usize> = usual
            .into_iter()
            .flatten()
            .flat_map(|n| (2..=n).filter(move |p| n.is_multiple_of(*p)).filter(is_prime))
            .collect();
        let is_product = |n: &usize| {
            let mut left = *n;
            for p in &primes {
                while left.is_multiple_of(*p) {
                    left /= p;
                }
            }
            left == 1
        };
        (1..=self.destinations.len().max(1)).filter(is_product).map(|n| n as u64).collect()
    }

    /// Returns the dividers of all levels before they are refined. Attempts are followed from level to level. Of those that lead to the
    /// same sets of destinations, and if they are too many, those with the least excess stay, and of equal ones the first.
    fn measure(&self, candidates: &[u64]) -> LevelRules {
        let mut reach = vec![BTreeSet::new(); self.graph.neighbours.len()];
        for target in self.distances.keys() {
            reach[target.at()].extend(self.destinations.iter().copied());
        }
        // As many bytes as the sets have as bits.
        let bytes = 8 * self.destinations.len().div_ceil(64) * reach.len();
        let mut attempts = vec![Attempt { reach, rules: vec![], excess: 0 }];
        let ups = (0..=self.top()).map(|rank| (rank, true));
        for (rank, up) in ups.chain((0..=self.top()).rev().map(|rank| (rank, false))) {
            let mut next = vec![];
            for attempt in &attempts {
                let best = self.best(rank, up, candidates, &attempt.reach);
                let excess = attempt.excess + best.excess;
                next.extend(best.dividers.into_iter().map(|divider| (excess, attempt, divider)));
            }
            next.sort_by_key(|(excess, ..)| *excess);
            let width = attempts::width(bytes);
            let mut kept: Vec<Attempt> = vec![];
            for (excess, before, divider) in next.into_iter().take(attempts::TRIED_FOR_EACH * width)
            {
                let followed = self.follow(rank, up, candidates, divider, before);
                let followed = Attempt { excess: excess + followed.excess, ..followed };
                match kept.iter().position(|other| other.reach == followed.reach) {
                    Some(at) if followed.excess < kept[at].excess => kept[at] = followed,
                    None if kept.len() < width => kept.push(followed),
                    _ => {}
                }
            }
            attempts = kept;
        }
        let best = attempts.into_iter().min_by_key(|attempt| attempt.excess);
        let mut up = best.map_or_else(Vec::new, |attempt| attempt.rules);
        let mut down = up.split_off(up.len() / 2);
        down.reverse();
        LevelRules { up, down }
    }

    /// Returns the greatest rank.
    fn top(&self) -> usize {
        self.graph.ranks.iter().copied().filter(|&rank| rank != usize::MAX).max().unwrap_or(0)
    }

    /// Returns the switches of a level, ascending.
    fn level(&self, rank: usize) -> impl DoubleEndedIterator<Item = SwitchIndex> + '_ {
        self.graph.ascending.iter().copied().filter(move |s| self.graph.ranks[s.at()] == rank)
    }

    /// Returns the switches of a level in the order in which they hand on.
    fn switches(&self, rank: usize, up: bool) -> Vec<SwitchIndex> {
        let mut switches: Vec<SwitchIndex> = self.level(rank).collect();
        if !up {
            switches.reverse();
        }
        switches
    }

    /// Returns the dividers of groups that spread a level best.
    fn best(
        &self,
        rank: usize,
        up: bool,
        candidates: &[u64],
        reach: &[BTreeSet<Counted>],
    ) -> BestDividers {
        // For each switch with a choice, the parts with a choice.
        let mut choosing: Vec<Vec<Spreading>> = vec![];
        for s in self.switches(rank, up) {
            let parts = self.parts(s, up, rank > 0, &reach[s.at()]);
            let with_choice = parts.into_iter().filter(|((peers, _), _)| peers.len() > 1);
            let part = |((peers, _), numbers): (PartKey, Vec<u64>)| {
                let over = peers.len() as u64;
                let own = numbers.iter().map(|d| d / self.dividers[s.at()] % over).collect();
                Spreading { numbers, over, own }
            };
            choosing.push(with_choice.map(part).collect());
        }
        choosing.retain(|parts| !parts.is_empty());
        best(&choosing, candidates, up)
    }

    /// Follows an attempt with a divider of groups: finds the divider of ports, and hands everything on. The excess is that at
    /// ports, and on the way down also that of what arrives: each switch below is to get as much from every switch of the level.
    fn follow(
        &self,
        rank: usize,
        up: bool,
        candidates: &[u64],
        group: Option<u64>,
        before: &Attempt,
    ) -> Attempt {
        let Attempt { mut reach, mut rules, .. } = before.clone();
        let mut sharing: Vec<Vec<Spreading>> = vec![];
        // For each switch, how many destinations arrive from each switch of the level.
        let mut arrivals: BTreeMap<SwitchIndex, Vec<u64>> = BTreeMap::new();
        for s in self.switches(rank, up) {
            let divider = group.unwrap_or(self.dividers[s.at()]);
            // For each peer: what it gets, and what eq. (4) has for the ports.
            let mut handed: BTreeMap<SwitchIndex, Vec<(u64, u64)>> = BTreeMap::new();
            for d in reach[s.at()].clone() {
                let closer = self.distances[&d.target].closer(self.graph, s);
                let count = closer.len() as u64;
                if closer.first().is_some_and(|group| group.up == up) {
                    let peer = closer[(d.d / divider % count) as usize].switch;
                    reach[peer.at()].insert(d);
                    let round = d.d / divider.saturating_mul(count);
                    handed.entry(peer).or_default().push((d.d, round));
                }
            }
            for (&peer, numbers) in &handed {
                arrivals.entry(peer).or_default().push(numbers.len() as u64);
            }
            let group = |(peer, numbers): (SwitchIndex, Vec<(u64, u64)>)| {
                let mut neighbours = self.graph.neighbours[s.at()].iter();
                let ports = neighbours.find(|n| n.switch == peer).map_or(1, |n| n.ports.len());
                let over = ports as u64;
                let own = numbers.iter().map(|(_, round)| round % over).collect();
                Spreading { numbers: numbers.into_iter().map(|(d, _)| d).collect(), over, own }
            };
            sharing.push(handed.into_iter().map(group).filter(|group| group.over > 1).collect());
        }
        sharing.retain(|groups| !groups.is_empty());
        let ports = best(&sharing, candidates, true);
        let number = |divider: u64| u32::try_from(divider).unwrap_or(u32::MAX);
        rules.push(LevelRule { group: group.map(number), port: ports.dividers[0].map(number) });
        let mut excess = ports.excess;
        for (s, counts) in arrivals.into_iter().filter(|_| !up) {
            let above =
                self.graph.side(s, true).filter(|n| self.graph.ranks[n.switch.at()] == rank);
            let (all, over) = (counts.iter().sum::<u64>(), above.count() as u64);
            let fair = (0..over).map(|at| all / over + u64::from(at < all % over));
            let squares =
                |counts: &mut dyn Iterator<Item = u64>| counts.map(|n| n * n).sum::<u64>();
            excess += squares(&mut counts.into_iter()) - squares(&mut fair.into_iter());
        }
        Attempt { reach, rules, excess }
    }

    /// Returns the destinations of a switch that go in one direction, by what is counted together.
    fn parts(
        &self,
        s: SwitchIndex,
        up: bool,
        is_above_leaves: bool,
        reach: &BTreeSet<Counted>,
    ) -> BTreeMap<PartKey, Vec<u64>> {
        let mut parts: BTreeMap<PartKey, Vec<u64>> = BTreeMap::new();
        for d in reach {
            let distances = &self.distances[&d.target];
            let closer = distances.closer(self.graph, s);
            if closer.first().is_none_or(|group| group.up != up) {
                continue;
            }
            let pod = match up && is_above_leaves {
                true => {
                    let level = self.level(self.graph.ranks[s.at()]);
                    level.filter(|u| distances.down[u.at()].is_some()).collect()
                }
                false => vec![],
            };
            let peers = closer.into_iter().map(|group| group.switch).collect();
            parts.entry((peers, pod)).or_default().push(d.d);
        }
        parts
    }
}

/// The rules of some levels, in the order in which they are measured.
#[derive(Clone)]
struct Attempt {
    /// The destinations that reach each switch.
    reach: Vec<BTreeSet<Counted>>,
    rules: Vec<LevelRule>,
    excess: u64,
}

/// The dividers that spread equally well, ascending, and how well: `None` is the paper's.
struct BestDividers {
    dividers: Vec<Option<u64>>,
    excess: u64,
}

/// Destinations that are to be spread over groups, or over the ports of a group.
struct Spreading {
    numbers: Vec<u64>,
    /// How many groups or ports there are.
    over: u64,
    /// For each destination: the group or port that the dividers of the paper choose.
    own: Vec<u64>,
}

impl Spreading {
    fn loads(&self, chosen: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut loads = vec![0; self.over as usize];
        chosen.for_each(|at| loads[at as usize] += 1);
        loads
    }

    /// Returns by how much the sum of squared loads exceeds the least that is possible.
    fn excess(&self, chosen: impl Iterator<Item = u64>) -> u64 {
        let squares = |loads: Vec<u64>| -> u64 { loads.into_iter().map(|load| load * load).sum() };
        let fair = (0..self.numbers.len() as u64).map(|at| at % self.over);
        squares(self.loads(chosen)) - squares(self.loads(fair))
    }
}

/// Returns whether the dividers in use spread everything at half of the switches or more.
fn are_spread(switches: &[Vec<Spreading>]) -> bool {
    let is_spread = |part: &Spreading| {
        let most = part.loads(part.own.iter().copied()).into_iter().max().unwrap_or(0);
        most < 2 * (part.numbers.len() as u64).div_ceil(part.over)
    };
    let good = switches.iter().filter(|parts| parts.iter().all(is_spread)).count();
    2 * good >= switches.len()
}

/// Returns the candidates that spread most evenly; or the dividers in use, if nothing has a choice or, where they may stay, they spread.
fn best(switches: &[Vec<Spreading>], candidates: &[u64], may_stay: bool) -> BestDividers {
    if switches.is_empty() || may_stay && are_spread(switches) {
        let own = switches.iter().flatten().map(|part| part.excess(part.own.iter().copied()));
        return BestDividers { dividers: vec![None], excess: own.sum() };
    }
    let excess = |divider: u64| -> u64 {
        let parts = switches.iter().flatten();
        parts.map(|part| part.excess(part.numbers.iter().map(|d| d / divider % part.over))).sum()
    };
    let all: Vec<(u64, u64)> =
        candidates.iter().map(|&candidate| (excess(candidate), candidate)).collect();
    let least = all.iter().map(|(excess, _)| *excess).min().unwrap_or(0);
    let dividers = all.into_iter().filter(|(excess, _)| *excess == least);
    BestDividers { dividers: dividers.map(|(_, divider)| Some(divider)).collect(), excess: least }
}

/// Returns the most frequent number, the least of equally frequent ones.
fn most_frequent(numbers: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    numbers.for_each(|n| *counts.entry(n).or_default() += 1);
    counts.into_iter().max_by_key(|&(n, count)| (count, std::cmp::Reverse(n))).map(|(n, _)| n)
}
