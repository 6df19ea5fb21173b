//! Everybody to everybody, by counting subtrees.
//!
//! The routes to one destination form a tree. Flows are not followed one by one, but added up on the
//! way: first switches in ascending height, as long as flows go up, then in descending height, where they
//! go down. That is O(#switches) a destination instead of O(#nodes × hops), and the
//! destinations of one switch are counted side by side. A destination whose routes are not up\*down\*, or
//! that not everybody reaches, is taken back and counted by following its routes one by one.

use rayon::prelude::*;

use super::cuts::Demand;
use super::paths::{NOWHERE, Target};
use super::{Loads, Lost, Traffic, add};

/// At most so many destinations side by side: one bit for each.
const WIDTH: usize = 64;

/// Flows by directed port, and what was not delivered.
struct Counts {
    ports: Vec<Count>,
    demand: Demand,
    undelivered: u64,
    lost: Vec<Lost>,
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
        self.flows = self.flows.wrapping_add(u64::from(flows).wrapping_mul(sign));
        self.destinations = self.destinations.wrapping_add(sign as u32);
    }

    fn add(&mut self, other: Count) {
        self.flows += other.flows;
        self.destinations += other.destinations;
    }
}

/// Flows on their way to the destinations of one switch.
struct Fronts {
    /// By switch and destination: still going up, or going down.
    up: Vec<u32>,
    down: Vec<u32>,
    /// Whether a switch has any.
    has_up: Vec<bool>,
    has_down: Vec<bool>,
}

/// Destinations on one switch.
#[derive(Clone, Copy)]
struct Group<'a> {
    targets: &'a [Target],
    home: u32,
    /// Those that are counted.
    mask: u64,
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
    let chunk = groups.len().div_ceil(rayon::current_num_threads() * 4).max(1);
    let counted = groups.par_chunks(chunk).map(|groups| {
        let (mut counts, mut fronts) = (nothing(), Fronts::new(traffic));
        for targets in groups {
            traffic.count(targets, &mut fronts, &mut counts);
        }
        counts
    });
    // In the order of the groups, so that the first lost pairs are always the same.
    let counted: Vec<Counts> = counted.collect();
    let mut sum = nothing();
    sum.demand = traffic.cuts.all_to_all(traffic.nodes.len() as u64);
    for counts in counted {
        sum.ports.iter_mut().zip(counts.ports).for_each(|(sum, count)| sum.add(count));
        add(&mut sum.demand.out, &counts.demand.out);
        add(&mut sum.demand.into, &counts.demand.into);
        sum.undelivered += counts.undelivered;
        sum.lost.extend(counts.lost);
    }
    sum.lost.truncate(super::NAMED);
    sum
}

/// The destinations, switch by switch.
fn groups(traffic: &Traffic<'_>) -> Vec<Vec<Target>> {
    let mut targets = traffic.targets.clone();
    targets.sort_by_key(|target| target.home);
    let same = |a: &Target, b: &Target| a.home == b.home;
    targets.chunk_by(same).flat_map(|all| all.chunks(WIDTH)).map(<[Target]>::to_vec).collect()
}

impl Fronts {
    fn new(traffic: &Traffic<'_>) -> Self {
        let switches = traffic.weight.len();
        Fronts {
            up: vec![0; switches * WIDTH],
            down: vec![0; switches * WIDTH],
            has_up: vec![false; switches],
            has_down: vec![false; switches],
        }
    }
}

impl Traffic<'_> {
    fn count(&self, targets: &[Target], fronts: &mut Fronts, counts: &mut Counts) {
        let home = targets[0].home;
        let mask = u64::MAX >> (WIDTH - targets.len());
        let group = Group { targets, home, mask, sign: 1 };
        let bad = self.sweep(group, fronts, counts);
        if bad != 0 {
            self.sweep(Group { mask: bad, sign: u64::MAX, ..group }, fronts, counts);
            for (at, target) in targets.iter().enumerate() {
                if bad >> at & 1 == 1 {
                    self.follow_each(target, counts);
                }
            }
        }
    }

    /// Counts all flows to some destinations; those for which that does not work.
    fn sweep(&self, group: Group<'_>, fronts: &mut Fronts, counts: &mut Counts) -> u64 {
        let mut bad = 0;
        for (at, target) in group.targets.iter().enumerate() {
            if self.paths.entry(group.home, target) != target.port {
                bad |= 1 << at;
            }
        }
        for &s in &self.ascending {
            let own = if s == group.home { 0 } else { self.weight[s as usize] };
            if !std::mem::take(&mut fronts.has_up[s as usize]) && own == 0 {
                continue;
            }
            let row = self.paths.row(s, &group.targets[0]);
            for (at, target) in group.targets.iter().enumerate() {
                let waiting = &mut fronts.up[s as usize * WIDTH + at];
                let flows = std::mem::take(waiting) + own;
                if flows == 0 || s == group.home || group.mask >> at & 1 == 0 {
                    continue;
                }
                let next = self.paths.next(s, row[target.at as usize]);
                if next.is_up() {
                    counts.ports[next.port() as usize].pass(flows, group.sign);
                    fronts.up[next.switch as usize * WIDTH + at] += flows;
                    fronts.has_up[next.switch as usize] = true;
                } else {
                    // It leaves together with what comes down to here.
                    fronts.down[s as usize * WIDTH + at] += flows;
                    fronts.has_down[s as usize] = true;
                }
            }
        }
        for &s in self.ascending.iter().rev() {
            if !std::mem::take(&mut fronts.has_down[s as usize]) {
                continue;
            }
            let row = self.paths.row(s, &group.targets[0]);
            for (at, target) in group.targets.iter().enumerate() {
                let flows = std::mem::take(&mut fronts.down[s as usize * WIDTH + at]);
                if flows == 0 || s == group.home {
                    continue;
                }
                let next = self.paths.next(s, row[target.at as usize]);
                // Nowhere, or up again.
                if next.switch == NOWHERE || next.is_up() {
                    bad |= 1 << at;
                } else {
                    counts.ports[next.port() as usize].pass(flows, group.sign);
                    fronts.down[next.switch as usize * WIDTH + at] += flows;
                    fronts.has_down[next.switch as usize] = true;
                }
            }
        }
        bad & group.mask
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
