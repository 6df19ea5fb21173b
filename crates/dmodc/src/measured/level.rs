//! One level in one direction: its parts are found, the best dividers, and its destinations are handed on.

use std::collections::HashMap;

use super::MeasuredFabric;
use super::destinations::{DestinationSets, members};
use crate::bits::bits;
use crate::cost::CloserSets;
use crate::group::Side;
use crate::id::SwitchIndex;
use crate::kernel::{Choices, Divisor, SIZES};
use crate::level_dividers::LevelRule;
use crate::parallel;
use crate::tables::BLOCK;

/// How many switches each thread works on before what they hand on is collected: this bounds the memory.
const SWITCHES_AT_ONCE: usize = 16;

/// A level that is measured in one direction.
pub(super) struct LevelMeasure<'a> {
    fabric: &'a MeasuredFabric<'a>,
    candidates: &'a [u32],
    up: bool,
    /// The switches in the order in which they hand on: ascending on the way up, descending on the way down.
    switches: Vec<SwitchIndex>,
    /// For each destination switch, a number that those have in common that are below the same switches of this level.
    /// Empty if it does not matter.
    pods: Vec<u32>,
    /// Whether some switch hands on to another one of this level.
    is_flat: bool,
}

/// Destinations of one switch that are counted together.
struct Part {
    /// The closer set: a bit for each group of the direction.
    groups: [u64; 4],
    numbers: Vec<u32>,
    /// The positions of the same destinations.
    positions: Vec<u32>,
}

impl Part {
    /// Returns #C.
    fn group_count(&self) -> usize {
        self.groups.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the groups of the closer set, ascending.
    fn group_list(&self) -> Vec<usize> {
        let words = self.groups.into_iter().enumerate();
        words.flat_map(|(word, set)| bits(set).map(move |bit| word * 64 + bit)).collect()
    }
}

/// What a thread keeps from switch to switch.
#[derive(Default)]
struct Scratch {
    closer: CloserSets,
    choices: Choices,
}

impl<'a> LevelMeasure<'a> {
    pub(super) fn new(
        fabric: &'a MeasuredFabric<'a>,
        candidates: &'a [u32],
        rank: u32,
        up: bool,
    ) -> Self {
        let rank_of = |s: SwitchIndex| fabric.ranking.rank(s);
        let ascending = fabric.groups.ascending().iter().copied();
        let mut switches: Vec<SwitchIndex> =
            ascending.filter(|&s| rank_of(s) == Some(rank)).collect();
        if !up {
            switches.reverse();
        }
        let pods = if up && rank > 0 { pods(fabric, &switches) } else { vec![] };
        let mut level = LevelMeasure { fabric, candidates, up, switches, pods, is_flat: false };
        let hands_to_its_own =
            |s: &SwitchIndex| level.side(*s).peers.iter().any(|peer| rank_of(*peer) == Some(rank));
        level.is_flat = level.switches.iter().any(hands_to_its_own);
        level
    }

    /// Returns the dividers of groups that spread best.
    pub(super) fn best(&self, reach: &DestinationSets) -> BestDividers {
        let with_choice = |s: SwitchIndex, scratch: &mut Scratch| {
            let mut parts = self.parts(s, reach.of(s), scratch);
            parts.retain(|part| part.group_count() > 1);
            parts
        };
        let of_own = parallel::map_with(&self.switches, Scratch::default, |scratch, &s| {
            let own = self.divisor(s, None);
            let of_part = |part: Part| {
                let chosen = part.numbers.iter().map(|&d| own.divide(d));
                GroupCounts::of(part.group_count(), chosen).spread(part.numbers.len())
            };
            with_choice(s, scratch).into_iter().map(of_part).reduce(SpreadOfPart::and)
        });
        self.choose(of_own, self.up, |scratch, s, excess| {
            for part in with_choice(s, scratch) {
                self.add_excess(&part.numbers, part.group_count(), excess);
            }
        })
    }

    /// Follows a choice of the level: finds the divider of ports, and hands everything on.
    pub(super) fn follow(&self, group: Option<u32>, reach: &mut DestinationSets) -> FollowedLevel {
        let arrivals = self.hand_on(group, reach);
        let ports = self.best_for_ports(group, reach);
        let rule = LevelRule { group, port: ports.dividers[0] };
        FollowedLevel { rule, excess: ports.excess + self.excess_of_arrivals(&arrivals) }
    }

    fn side(&self, s: SwitchIndex) -> Side<'a> {
        match self.up {
            true => self.fabric.groups.above(s),
            false => self.fabric.groups.below(s),
        }
    }

    /// Returns the divider in use at a switch.
    fn divisor(&self, s: SwitchIndex, group: Option<u32>) -> Divisor {
        Divisor::new(group.unwrap_or(self.fabric.dividers[s.at()]))
    }

    /// Returns the destinations of a switch that go in this direction, by what is counted together.
    fn parts(&self, s: SwitchIndex, reach: &[u64], scratch: &mut Scratch) -> Vec<Part> {
        let MeasuredFabric { destinations, costs, groups, kernel, .. } = self.fabric;
        let Scratch { closer, choices } = scratch;
        let mut parts: Vec<Part> = vec![];
        let mut known: HashMap<([u64; 4], u32), usize> = HashMap::new();
        for (tile, costs) in costs.iter().enumerate() {
            let first = tile * BLOCK;
            let count = destinations.targets().len().saturating_sub(first).min(BLOCK);
            let has_some =
                |i: &usize| members(reach, destinations.of_target(first + i)).next().is_some();
            let present = (0..count).filter(has_some).fold(0u64, |all, i| all | 1 << i);
            if present == 0 {
                continue;
            }
            kernel.run(
                #[inline(always)]
                || costs.closer(groups, s, closer),
            );
            let targets = present & if self.up { closer.up } else { closer.down };
            if targets == 0 {
                continue;
            }
            closer.restrict(targets);
            let through = if self.up { &closer.through_up } else { &closer.through_down };
            kernel.gather(choices, targets, through);
            for target in bits(targets) {
                let set = choices.set(target as u8);
                let pod = self.pods.get(first + target).copied().unwrap_or(0);
                let at = *known.entry((set, pod)).or_insert_with(|| {
                    parts.push(Part { groups: set, numbers: vec![], positions: vec![] });
                    parts.len() - 1
                });
                for position in members(reach, destinations.of_target(first + target)) {
                    parts[at].numbers.push(destinations.number(position));
                    parts[at].positions.push(position as u32);
                }
            }
        }
        parts
    }

    /// Returns the dividers of ports that spread best, after the divider of groups was chosen.
    fn best_for_ports(&self, group: Option<u32>, reach: &DestinationSets) -> BestDividers {
        let has_ports = |s: SwitchIndex| self.side(s).ports.len() > self.side(s).peers.len();
        if !self.switches.iter().any(|&s| has_ports(s)) {
            return BestDividers::papers(0);
        }
        // What each group with several ports gets.
        let shared = |s: SwitchIndex, scratch: &mut Scratch| {
            let mut shared: HashMap<usize, SharedPorts> = HashMap::new();
            if !has_ports(s) {
                return shared;
            }
            let (side, divider) = (self.side(s), self.divisor(s, group));
            for part in self.parts(s, reach.of(s), scratch) {
                let list = part.group_list();
                let size = &SIZES[list.len()];
                for &d in &part.numbers {
                    let q = divider.divide(d);
                    let at = list[size.modulo(q) as usize];
                    let count = side.ports_of(at).len();
                    if count > 1 {
                        let ports = shared.entry(at).or_default();
                        ports.count = count;
                        ports.numbers.push(d);
                        ports.rounds.push(size.divide(q));
                    }
                }
            }
            shared
        };
        let of_own = parallel::map_with(&self.switches, Scratch::default, |scratch, &s| {
            let of_group = |ports: SharedPorts| {
                GroupCounts::of(ports.count, ports.rounds.iter().copied())
                    .spread(ports.numbers.len())
            };
            shared(s, scratch).into_values().map(of_group).reduce(SpreadOfPart::and)
        });
        self.choose(of_own, true, |scratch, s, excess| {
            for ports in shared(s, scratch).values() {
                self.add_excess(&ports.numbers, ports.count, excess);
            }
        })
    }

    /// Returns the candidates that spread most evenly, or the paper's dividers: if no switch has a choice or, where the paper may
    /// stand, if half of the switches with a choice or more are spread well. `of_own` has how the paper's dividers spread at each
    /// switch with a choice. `add` adds the excess of a switch for each candidate.
    fn choose(
        &self,
        of_own: Vec<Option<SpreadOfPart>>,
        paper_may_stand: bool,
        add: impl Fn(&mut Scratch, SwitchIndex, &mut [u64]) + Sync,
    ) -> BestDividers {
        let with_choice = || of_own.iter().flatten();
        let spread = with_choice().filter(|spread| spread.is_spread).count();
        let count = with_choice().count();
        if count == 0 || paper_may_stand && 2 * spread >= count {
            return BestDividers::papers(with_choice().map(|spread| spread.excess).sum());
        }
        let start = || (Scratch::default(), vec![0u64; self.candidates.len()]);
        let sums = parallel::fold(
            self.switches.iter().zip(&of_own).filter(|(_, spread)| spread.is_some()),
            start,
            |(scratch, excess), (&s, _)| add(scratch, s, excess),
        );
        let mut all = vec![0u64; self.candidates.len()];
        for (_, sum) in sums {
            all.iter_mut().zip(sum).for_each(|(all, sum)| *all += sum);
        }
        let excess = all.iter().copied().min().unwrap_or(0);
        let best = self.candidates.iter().zip(all).filter(|(_, own)| *own == excess);
        BestDividers { dividers: best.map(|(candidate, _)| Some(*candidate)).collect(), excess }
    }

    /// Adds the excess for each candidate.
    fn add_excess(&self, numbers: &[u32], over: usize, excess: &mut [u64]) {
        for (&candidate, sum) in self.candidates.iter().zip(excess) {
            let divider = Divisor::new(candidate);
            let loads = GroupCounts::of(over, numbers.iter().map(|&d| divider.divide(d)));
            *sum += loads.spread(numbers.len()).excess;
        }
    }

    /// Returns the excess of what arrives from this level at the switches below it: each is to get as much from every switch. (On the way
    /// up, every port is that of a switch with a choice, which was counted there.)
    fn excess_of_arrivals(&self, arrivals: &[Arrivals]) -> u64 {
        if self.up {
            return 0;
        }
        let mut excess = 0;
        let rank = self.switches.first().and_then(|s| self.fabric.ranking.rank(*s));
        let is_here = |s: &&SwitchIndex| self.fabric.ranking.rank(**s) == rank;
        for (s, of) in arrivals.iter().enumerate().filter(|(_, of)| of.sum > 0) {
            let peers = self.fabric.groups.above(SwitchIndex::new(s)).peers;
            excess +=
                of.squares - least_squares(of.sum, peers.iter().filter(is_here).count() as u64);
        }
        excess
    }

    /// Hands all destinations on to the next switches. Returns how many arrive at each switch.
    fn hand_on(&self, group: Option<u32>, reach: &mut DestinationSets) -> Vec<Arrivals> {
        let width = reach.width();
        let mut arrivals = vec![Arrivals::default(); self.fabric.groups.switch_count()];
        let handed = |scratch: &mut Scratch, s: SwitchIndex, reach: &DestinationSets| {
            let (side, divider) = (self.side(s), self.divisor(s, group));
            let mut sets = vec![0u64; width * side.peers.len()];
            for part in self.parts(s, reach.of(s), scratch) {
                let list = part.group_list();
                let size = &SIZES[list.len()];
                for (&d, &position) in part.numbers.iter().zip(&part.positions) {
                    let at = list[size.modulo(divider.divide(d)) as usize];
                    sets[at * width + position as usize / 64] |= 1 << (position % 64);
                }
            }
            sets
        };
        // What a switch gets from its own level it hands on, too. Then one comes after the other.
        let at_once = if self.is_flat { 1 } else { SWITCHES_AT_ONCE * parallel::threads() };
        for some in self.switches.chunks(at_once) {
            let all =
                parallel::map_with(some, Scratch::default, |scratch, &s| handed(scratch, s, reach));
            for (&s, sets) in some.iter().zip(all) {
                for (&peer, set) in self.side(s).peers.iter().zip(sets.chunks_exact(width.max(1))) {
                    let to = reach.of_mut(peer).iter_mut();
                    to.zip(set).for_each(|(to, word)| *to |= word);
                    let count: u64 = set.iter().map(|word| u64::from(word.count_ones())).sum();
                    arrivals[peer.at()].sum += count;
                    arrivals[peer.at()].squares += count * count;
                }
            }
        }
        arrivals
    }
}

/// What a group with several ports gets.
#[derive(Default)]
struct SharedPorts {
    /// How many ports it has.
    count: usize,
    numbers: Vec<u32>,
    /// For each of them: the port by eq. (4), before the remainder is taken.
    rounds: Vec<u32>,
}

/// How many destinations each group, or each port, gets.
struct GroupCounts {
    over: usize,
    counts: [u32; 256],
}

impl GroupCounts {
    /// Counts quotients modulo a number of groups or ports.
    #[inline]
    fn of(over: usize, quotients: impl Iterator<Item = u32>) -> Self {
        let mut counts = [0; 256];
        let size = &SIZES[over];
        quotients.for_each(|q| counts[size.modulo(q) as usize & 255] += 1);
        GroupCounts { over, counts }
    }

    /// Compares the loads with the fair share of a number of destinations.
    fn spread(&self, destinations: usize) -> SpreadOfPart {
        let loads = &self.counts[..self.over];
        let most = loads.iter().copied().max().unwrap_or(0) as usize;
        let squares: u64 = loads.iter().map(|&load| u64::from(load) * u64::from(load)).sum();
        let least = least_squares(destinations as u64, self.over as u64);
        SpreadOfPart {
            is_spread: most < 2 * destinations.div_ceil(self.over),
            excess: squares - least,
        }
    }
}

/// Returns the least sum of squared loads with which a number of destinations can be divided.
fn least_squares(destinations: u64, over: u64) -> u64 {
    let (each, left) = (destinations / over, destinations % over);
    left * (each + 1) * (each + 1) + (over - left) * each * each
}

/// How many destinations arrive at a switch from the switches of a level: their number, and the sum of the squares by switch.
#[derive(Clone, Copy, Default)]
struct Arrivals {
    sum: u64,
    squares: u64,
}

/// How dividers spread destinations over groups or ports.
#[derive(Clone, Copy)]
struct SpreadOfPart {
    /// Whether nothing gets twice the fair share, rounded up.
    is_spread: bool,
    /// The sum of the squared loads, less the least that is possible with this number of destinations.
    excess: u64,
}

impl SpreadOfPart {
    fn and(self, other: Self) -> Self {
        SpreadOfPart {
            is_spread: self.is_spread && other.is_spread,
            excess: self.excess + other.excess,
        }
    }
}

/// The dividers that spread equally well, ascending, and how well: `None` is the paper's.
pub(super) struct BestDividers {
    pub(super) dividers: Vec<Option<u32>>,
    /// The excess at all switches of the level.
    pub(super) excess: u64,
}

impl BestDividers {
    fn papers(excess: u64) -> Self {
        BestDividers { dividers: vec![None], excess }
    }
}

/// A level whose divider of groups was chosen.
pub(super) struct FollowedLevel {
    pub(super) rule: LevelRule,
    /// The excess at the ports of all groups, and on the way down also that of what arrives at the switches below.
    pub(super) excess: u64,
}

/// Returns a number for each destination switch: the same for those that are below the same switches of a level.
fn pods(fabric: &MeasuredFabric<'_>, level: &[SwitchIndex]) -> Vec<u32> {
    let words = level.len().div_ceil(64);
    let mut known: HashMap<Vec<u64>, u32> = HashMap::new();
    let mut pods = vec![];
    for (targets, costs) in fabric.destinations.tiles().zip(&fabric.costs) {
        let mut above = vec![vec![0u64; words]; targets.len()];
        for (at, &s) in level.iter().enumerate() {
            for target in bits(costs.below(s)).take_while(|&target| target < targets.len()) {
                above[target][at / 64] |= 1 << (at % 64);
            }
        }
        for set in above {
            let next = known.len() as u32;
            pods.push(*known.entry(set).or_insert(next));
        }
    }
    pods
}
