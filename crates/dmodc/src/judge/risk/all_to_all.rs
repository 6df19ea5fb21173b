//! Everybody to everybody, by counting subtrees.
//!
//! The routes to one destination form a tree. Flows are not followed one by one, but added up on the
//! way: first switches in ascending height, as long as flows go up, then in descending height, where they
//! go down. That is O(#switches) a destination instead of O(#nodes × hops). Many destinations are counted
//! side by side, so that what belongs to a switch (its entries, its links, its counts) is at hand for all of
//! them before the next switch comes. A destination whose routes are not up\*down\*, or
//! that not everybody reaches, is taken back and counted by following its routes one by one.

use super::cuts::Demand;
use super::paths::{NOWHERE, Target};
use super::{Loads, LostPair, Traffic, add};
use crate::parallel;

/// So many words of bits, and one bit for each destination: that many are counted side by side.
const WORDS: usize = 4;
const WIDTH: usize = 64 * WORDS;

/// A bit for each destination of a group.
type Bits = [u64; WORDS];

/// Flows by directed port, and what was not delivered.
struct Counts {
    ports: Vec<Count>,
    demand: Demand,
    undelivered: u64,
    lost: Vec<LostPair>,
}

/// What a port carries.
#[derive(Clone, Copy, Default)]
struct Count {
    flows: u64,
    /// To how many destinations.
    destinations: u32,
}

impl Count {
    /// Flows to one destination; with a sign of −1 they are taken back.
    #[inline]
    fn pass(&mut self, flows: u32, sign: u64) {
        self.pass_many(flows, 1, sign);
    }

    /// Equally many flows to each of some destinations.
    #[inline]
    fn pass_many(&mut self, flows: u32, destinations: u32, sign: u64) {
        let sum = u64::from(flows) * u64::from(destinations);
        self.flows = self.flows.wrapping_add(sum.wrapping_mul(sign));
        self.destinations = self.destinations.wrapping_add(destinations.wrapping_mul(sign as u32));
    }

    fn add(&mut self, other: Count) {
        self.flows += other.flows;
        self.destinations += other.destinations;
    }
}

/// Flows that wait at a switch: how many to each destination of a group, and to which there are any.
#[derive(Clone)]
struct Front {
    flows: [u32; WIDTH],
    some: Bits,
}

impl Front {
    #[inline]
    fn put(&mut self, at: usize, flows: u32) {
        self.flows[at] += flows;
        self.some[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn take(&mut self, at: usize) -> u32 {
        std::mem::take(&mut self.flows[at])
    }
}

/// By switch: flows that still go up, and flows that go down.
struct Fronts {
    up: Vec<Front>,
    down: Vec<Front>,
}

/// Destinations of one tile.
#[derive(Clone, Copy)]
struct Group<'a> {
    targets: &'a [Target],
    /// Those that are counted.
    mask: Bits,
    /// 1, or −1 to take back.
    sign: u64,
}

pub(super) fn loads(traffic: &Traffic<'_>) -> Loads {
    let counts = counts(traffic);
    let (bound, cut) = traffic.cuts.bound(&counts.demand);
    Loads {
        by_port: counts.ports.iter().map(|count| count.flows).collect(),
        destinations: counts.ports.iter().map(|count| count.destinations).collect(),
        bound,
        cut,
        undelivered: counts.undelivered,
        lost: counts.lost,
    }
}

fn counts(traffic: &Traffic<'_>) -> Counts {
    let groups = groups(traffic);
    let nothing = || Counts {
        ports: vec![Count::default(); traffic.paths.ports.len()],
        demand: traffic.cuts.no_demand(),
        undelivered: 0,
        lost: Vec::new(),
    };
    // A thread keeps its counts and fronts from group to group: making them anew, and adding up the counts of
    // every group in the end, took longer than the counting on many cores.
    let start = || (nothing(), Fronts::new(traffic), Vec::<(usize, Vec<LostPair>)>::new());
    let by_thread = parallel::fold(groups.iter().enumerate(), start, |thread, (at, targets)| {
        let (counts, fronts, lost) = thread;
        traffic.count(targets, fronts, counts);
        if !counts.lost.is_empty() {
            lost.push((at, std::mem::take(&mut counts.lost)));
        }
    });
    let mut sum = nothing();
    sum.demand = traffic.cuts.all_to_all(traffic.nodes.len() as u64);
    let mut lost = vec![];
    let mut ports = Vec::with_capacity(by_thread.len());
    for (counts, _, its_lost) in by_thread {
        add(&mut sum.demand.out, &counts.demand.out);
        add(&mut sum.demand.into, &counts.demand.into);
        sum.undelivered += counts.undelivered;
        lost.extend(its_lost);
        ports.push(counts.ports);
    }
    // In the order of the groups, so that the first lost pairs are always the same.
    lost.sort_unstable_by_key(|(at, _)| *at);
    sum.lost = lost.into_iter().flat_map(|(_, lost)| lost).take(super::NAMED).collect();
    let piece = parallel::piece_length(sum.ports.len(), 1);
    parallel::for_each(sum.ports.chunks_mut(piece).enumerate(), |(at, sums)| {
        for counts in &ports {
            sums.iter_mut().zip(&counts[at * piece..]).for_each(|(sum, count)| sum.add(*count));
        }
    });
    sum
}

/// The destinations, those of a tile together.
fn groups(traffic: &Traffic<'_>) -> Vec<Vec<Target>> {
    let mut targets = traffic.targets.clone();
    targets.sort_by_key(|target| (target.tile, target.at));
    let same = |a: &Target, b: &Target| a.tile == b.tile;
    targets.chunk_by(same).flat_map(|all| all.chunks(WIDTH)).map(<[Target]>::to_vec).collect()
}

impl Fronts {
    fn new(traffic: &Traffic<'_>) -> Self {
        let empty = Front { flows: [0; WIDTH], some: [0; WORDS] };
        let all = vec![empty; traffic.weight.len()];
        Fronts { up: all.clone(), down: all }
    }
}

/// The places of the bits of a word that are set.
#[inline]
fn each(word: usize, mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(word * 64 + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

impl Traffic<'_> {
    fn count(&self, targets: &[Target], fronts: &mut Fronts, counts: &mut Counts) {
        let mut mask = [0; WORDS];
        for at in 0..targets.len() {
            mask[at / 64] |= 1 << (at % 64);
        }
        let group = Group { targets, mask, sign: 1 };
        let bad = self.sweep(group, fronts, counts);
        if bad != [0; WORDS] {
            self.sweep(Group { mask: bad, sign: u64::MAX, ..group }, fronts, counts);
            for (word, &bits) in bad.iter().enumerate() {
                each(word, bits, |at| self.follow_each(&targets[at], counts));
            }
        }
    }

    /// Counts all flows to some destinations; those for which that does not work.
    fn sweep(&self, group: Group<'_>, fronts: &mut Fronts, counts: &mut Counts) -> Bits {
        let mut bad = [0; WORDS];
        for (at, target) in group.targets.iter().enumerate() {
            bad[at / 64] |= u64::from(!target.is_delivered) << (at % 64);
        }
        for &s in &self.ascending {
            match fronts.up[s as usize].some == [0; WORDS] {
                true => self.start(s, &group, fronts, counts),
                false => self.go_up(s, &group, fronts, counts),
            }
        }
        for &s in self.ascending.iter().rev() {
            self.go_down(s, &group, fronts, counts, &mut bad);
        }
        std::array::from_fn(|word| bad[word] & group.mask[word])
    }

    /// What starts at a switch that nothing came up to. Most entries are looked at here: to each
    /// destination go equally many, so that ports only count destinations.
    #[inline]
    fn start(&self, s: u32, group: &Group<'_>, fronts: &mut Fronts, counts: &mut Counts) {
        let own = self.weight[s as usize];
        if own == 0 {
            return;
        }
        let row = self.paths.row(s, &group.targets[0]);
        let mut destinations = [0u32; 256];
        for (at, target) in group.targets.iter().enumerate() {
            if target.home == s || group.mask[at / 64] >> (at % 64) & 1 == 0 {
                continue;
            }
            let entry = row[target.at as usize];
            let next = self.paths.next(s, entry);
            if next.is_up() {
                destinations[usize::from(entry)] += 1;
                fronts.up[next.switch as usize].put(at, own);
            } else {
                fronts.down[s as usize].put(at, own);
            }
        }
        for (entry, &count) in destinations.iter().enumerate().filter(|(_, count)| **count > 0) {
            let port = self.paths.next(s, entry as u8).port();
            counts.ports[port as usize].pass_many(own, count, group.sign);
        }
    }

    /// What starts at a switch or came up to it goes on up, or waits to go down.
    #[inline]
    fn go_up(&self, s: u32, group: &Group<'_>, fronts: &mut Fronts, counts: &mut Counts) {
        let own = self.weight[s as usize];
        let mut some = std::mem::take(&mut fronts.up[s as usize].some);
        if own > 0 {
            some = group.mask;
        }
        let row = self.paths.row(s, &group.targets[0]);
        for (word, bits) in some.into_iter().enumerate() {
            each(word, bits, |at| {
                let target = &group.targets[at];
                let flows = fronts.up[s as usize].take(at) + own;
                if target.home == s {
                    return;
                }
                let next = self.paths.next(s, row[target.at as usize]);
                if next.is_up() {
                    counts.ports[next.port() as usize].pass(flows, group.sign);
                    fronts.up[next.switch as usize].put(at, flows);
                } else {
                    // It leaves together with what comes down to here.
                    fronts.down[s as usize].put(at, flows);
                }
            });
        }
    }

    /// What came down to a switch goes on down; `bad` is told to which destination it does not.
    #[inline]
    fn go_down(
        &self,
        s: u32,
        group: &Group<'_>,
        fronts: &mut Fronts,
        counts: &mut Counts,
        bad: &mut Bits,
    ) {
        let some = std::mem::take(&mut fronts.down[s as usize].some);
        if some == [0; WORDS] {
            return;
        }
        let row = self.paths.row(s, &group.targets[0]);
        for (word, bits) in some.into_iter().enumerate() {
            each(word, bits, |at| {
                let target = &group.targets[at];
                let flows = fronts.down[s as usize].take(at);
                if target.home == s {
                    return;
                }
                let next = self.paths.next(s, row[target.at as usize]);
                // Nowhere, or up again.
                if next.switch == NOWHERE || next.is_up() {
                    bad[word] |= 1 << (at % 64);
                } else {
                    counts.ports[next.port() as usize].pass(flows, group.sign);
                    fronts.down[next.switch as usize].put(at, flows);
                }
            });
        }
    }

    /// Follows the routes from every switch to one destination.
    fn follow_each(&self, target: &Target, counts: &mut Counts) {
        let mut seen: Vec<u32> = Vec::new();
        let mut way = Vec::new();
        for &s in &self.ascending {
            let own = self.weight[s as usize] - u32::from(s == target.home);
            if self.weight[s as usize] == 0 || own == 0 {
                continue;
            }
            way.clear();
            if self.paths.follow(s, target, |port| way.push(port)) {
                for &port in &way {
                    counts.ports[port as usize].flows += u64::from(own);
                }
                seen.append(&mut way);
            } else {
                counts.undelivered += u64::from(own);
                counts.demand.count(&self.cuts, s, target.home, -i64::from(own));
                if counts.lost.len() < super::NAMED {
                    counts.lost.push(self.lost(s, target));
                }
            }
        }
        seen.sort_unstable();
        seen.dedup();
        for port in seen {
            counts.ports[port as usize].destinations += 1;
        }
    }
}
