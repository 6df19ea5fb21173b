//! Everybody to everybody, by counting subtrees.
//!
//! The routes to one destination form a tree. Flows are not followed one by one, but added up on the way: first over
//! the switches in ascending height, as long as flows go up, then in descending height, where they go down. That takes
//! O(#switches) for each destination instead of O(#nodes × hops). Many destinations are counted together, so that the
//! data of a switch (its entries, its links, its counts) stay in a cache for all of them. A destination whose routes are
//! not up\*down\*, or that not everybody reaches, is subtracted again and counted by following its routes one by one.
//!
//! Example: two leaves with three nodes each send over one spine to a node on a third leaf. The leaves put three flows
//! each on their ports to the spine, where six wait; the spine puts six on its port to the third leaf.

use super::Traffic;
use super::bundles::Bundles;
use super::loads::{Loads, LostPair};
use super::paths::{FlowTarget, NOWHERE};
use crate::parallel;

/// A group of destinations that are counted together has one bit for each in this many words.
const WORDS: usize = 4;
const WIDTH: usize = 64 * WORDS;

/// A bit for each destination of a group.
type TargetBits = [u64; WORDS];

/// The counts of one thread, or of all.
struct AllCounts {
    ports: Vec<PortCount>,
    /// The bundles that cross cuts; those of a thread are taken back, since they do not arrive.
    bundles: Bundles,
    undelivered: u64,
    lost: Vec<LostPair>,
}

/// The flows over a port.
#[derive(Clone, Copy, Default)]
struct PortCount {
    flows: u64,
    /// The number of their destinations.
    destinations: u32,
}

impl PortCount {
    /// Adds flows to one destination; with a sign of −1 they are subtracted.
    #[inline]
    fn pass(&mut self, flows: u32, sign: u64) {
        self.pass_many(flows, 1, sign);
    }

    /// Adds equally many flows to each of some destinations.
    #[inline]
    fn pass_many(&mut self, flows: u32, destinations: u32, sign: u64) {
        let sum = u64::from(flows) * u64::from(destinations);
        self.flows = self.flows.wrapping_add(sum.wrapping_mul(sign));
        self.destinations = self.destinations.wrapping_add(destinations.wrapping_mul(sign as u32));
    }

    fn add(&mut self, other: PortCount) {
        self.flows += other.flows;
        self.destinations += other.destinations;
    }
}

/// Flows that wait at a switch: their number for each destination of a group, and a bit where there are any.
#[derive(Clone)]
struct WaitingAtSwitch {
    flows: [u32; WIDTH],
    some: TargetBits,
}

impl WaitingAtSwitch {
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

/// The flows that wait at each switch: those that still go up, and those that go down.
struct WaitingFlows {
    up: Vec<WaitingAtSwitch>,
    down: Vec<WaitingAtSwitch>,
}

/// Destinations of one tile that are counted together.
#[derive(Clone, Copy)]
struct TargetGroup<'a> {
    targets: &'a [FlowTarget],
    /// Those that are counted.
    mask: TargetBits,
    /// 1 to add flows, or −1 to subtract them.
    sign: u64,
}

pub(super) fn loads(traffic: &Traffic<'_>) -> Loads {
    let counts = counts(traffic);
    let bound = counts.bundles.bound(&traffic.cuts);
    Loads {
        by_port: counts.ports.iter().map(|count| count.flows).collect(),
        destinations: counts.ports.iter().map(|count| count.destinations).collect(),
        bound: bound.value,
        cut: bound.cut,
        is_by_bundles: bound.is_by_bundles,
        undelivered: counts.undelivered,
        lost: counts.lost,
    }
}

fn counts(traffic: &Traffic<'_>) -> AllCounts {
    let groups = groups(traffic);
    let none = || AllCounts {
        ports: vec![PortCount::default(); traffic.paths.ports().len()],
        bundles: Bundles::none(&traffic.cuts, traffic.weight.iter().copied()),
        undelivered: 0,
        lost: Vec::new(),
    };
    // A thread keeps its counts and waiting flows from group to group. Making them anew, and adding up the counts of
    // every group in the end, took longer than the counting on many cores.
    let start = || (none(), WaitingFlows::new(traffic), Vec::<(usize, Vec<LostPair>)>::new());
    let by_thread = parallel::fold(groups.iter().enumerate(), start, |thread, (at, targets)| {
        let (counts, waiting, lost) = thread;
        traffic.count(targets, waiting, counts);
        if !counts.lost.is_empty() {
            lost.push((at, std::mem::take(&mut counts.lost)));
        }
    });
    let mut sum = none();
    sum.bundles = Bundles::all_to_all(&traffic.cuts, &traffic.weight);
    let mut lost = vec![];
    let mut ports = Vec::with_capacity(by_thread.len());
    for (counts, _, its_lost) in by_thread {
        sum.bundles.add(&counts.bundles);
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

/// Returns the destinations in groups; a group is of one tile.
fn groups(traffic: &Traffic<'_>) -> Vec<Vec<FlowTarget>> {
    let mut targets = traffic.targets.clone();
    targets.sort_by_key(|target| (target.tile, target.at));
    let same = |a: &FlowTarget, b: &FlowTarget| a.tile == b.tile;
    targets.chunk_by(same).flat_map(|all| all.chunks(WIDTH)).map(<[FlowTarget]>::to_vec).collect()
}

impl WaitingFlows {
    fn new(traffic: &Traffic<'_>) -> Self {
        let empty = WaitingAtSwitch { flows: [0; WIDTH], some: [0; WORDS] };
        let all = vec![empty; traffic.weight.len()];
        WaitingFlows { up: all.clone(), down: all }
    }
}

/// Calls `visit` with the numbers of the bits that are set in a word.
#[inline]
fn each(word: usize, mut bits: u64, mut visit: impl FnMut(usize)) {
    while bits != 0 {
        visit(word * 64 + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

impl Traffic<'_> {
    fn count(&self, targets: &[FlowTarget], waiting: &mut WaitingFlows, counts: &mut AllCounts) {
        let mut mask = [0; WORDS];
        for at in 0..targets.len() {
            mask[at / 64] |= 1 << (at % 64);
        }
        let group = TargetGroup { targets, mask, sign: 1 };
        let bad = self.sweep(group, waiting, counts);
        if bad != [0; WORDS] {
            self.sweep(TargetGroup { mask: bad, sign: u64::MAX, ..group }, waiting, counts);
            for (word, &bits) in bad.iter().enumerate() {
                each(word, bits, |at| self.follow_each(&targets[at], counts));
            }
        }
    }

    /// Counts all flows to the destinations of a group. Returns those for which the count is wrong: some flow turns up
    /// again or does not arrive.
    fn sweep(
        &self,
        group: TargetGroup<'_>,
        waiting: &mut WaitingFlows,
        counts: &mut AllCounts,
    ) -> TargetBits {
        let mut bad = [0; WORDS];
        for (at, target) in group.targets.iter().enumerate() {
            bad[at / 64] |= u64::from(!target.is_delivered) << (at % 64);
        }
        for &s in &self.ascending {
            match waiting.up[s as usize].some == [0; WORDS] {
                true => self.start(s, &group, waiting, counts),
                false => self.go_up(s, &group, waiting, counts),
            }
        }
        for &s in self.ascending.iter().rev() {
            self.go_down(s, &group, waiting, counts, &mut bad);
        }
        std::array::from_fn(|word| bad[word] & group.mask[word])
    }

    /// Sends the flows that start at a switch to which no flows came up. Most entries are read here. Equally many flows
    /// go to each destination, so ports only count destinations.
    #[inline]
    fn start(
        &self,
        s: u32,
        group: &TargetGroup<'_>,
        waiting: &mut WaitingFlows,
        counts: &mut AllCounts,
    ) {
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
                waiting.up[next.switch as usize].put(at, own);
            } else {
                waiting.down[s as usize].put(at, own);
            }
        }
        for (entry, &count) in destinations.iter().enumerate().filter(|(_, count)| **count > 0) {
            let port = self.paths.next(s, entry as u8).port();
            counts.ports[port as usize].pass_many(own, count, group.sign);
        }
    }

    /// Sends the flows that start at a switch or came up to it: they go on up, or wait to go down.
    #[inline]
    fn go_up(
        &self,
        s: u32,
        group: &TargetGroup<'_>,
        waiting: &mut WaitingFlows,
        counts: &mut AllCounts,
    ) {
        let own = self.weight[s as usize];
        let mut some = std::mem::take(&mut waiting.up[s as usize].some);
        if own > 0 {
            some = group.mask;
        }
        let row = self.paths.row(s, &group.targets[0]);
        for (word, bits) in some.into_iter().enumerate() {
            each(word, bits, |at| {
                let target = &group.targets[at];
                let flows = waiting.up[s as usize].take(at) + own;
                if target.home == s {
                    return;
                }
                let next = self.paths.next(s, row[target.at as usize]);
                if next.is_up() {
                    counts.ports[next.port() as usize].pass(flows, group.sign);
                    waiting.up[next.switch as usize].put(at, flows);
                } else {
                    // They leave together with the flows that come down to here.
                    waiting.down[s as usize].put(at, flows);
                }
            });
        }
    }

    /// Sends the flows that came down to a switch on down. Destinations for which that is not possible are marked in
    /// `bad`.
    #[inline]
    fn go_down(
        &self,
        s: u32,
        group: &TargetGroup<'_>,
        waiting: &mut WaitingFlows,
        counts: &mut AllCounts,
        bad: &mut TargetBits,
    ) {
        let some = std::mem::take(&mut waiting.down[s as usize].some);
        if some == [0; WORDS] {
            return;
        }
        let row = self.paths.row(s, &group.targets[0]);
        for (word, bits) in some.into_iter().enumerate() {
            each(word, bits, |at| {
                let target = &group.targets[at];
                let flows = waiting.down[s as usize].take(at);
                if target.home == s {
                    return;
                }
                let next = self.paths.next(s, row[target.at as usize]);
                // Nowhere, or up again.
                if next.switch == NOWHERE || next.is_up() {
                    bad[word] |= 1 << (at % 64);
                } else {
                    counts.ports[next.port() as usize].pass(flows, group.sign);
                    waiting.down[next.switch as usize].put(at, flows);
                }
            });
        }
    }

    /// Follows the routes from every switch to one destination.
    fn follow_each(&self, target: &FlowTarget, counts: &mut AllCounts) {
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
                if s != target.home {
                    counts.bundles.count(&self.cuts, (s, target.home), own, -1);
                }
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
