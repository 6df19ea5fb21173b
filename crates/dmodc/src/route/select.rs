//! Eqs. (3) and (4): from a closer set and a destination's number to one port.
//!
//! With Π and C fixed, the port depends on q = ⌊d / Π⌋ alone and repeats: group q mod #C, port
//! ⌊q / #C⌋ mod #g. Where the period is short the ports of one period are written down once, a
//! [`PortCycle`], and a segment of destinations is copied from it. This is the general form, for
//! parallel cables and switches with very many groups; the [kernel](crate::kernel) has the usual one.

use crate::group::Group;
use crate::tables::Segment;

/// The longest period that is written down. Groups whose sizes have a larger common multiple are
/// computed one destination at a time.
const LONGEST_CYCLE: usize = 1024;

/// The choice among one closer set.
#[derive(Default)]
pub(super) struct PortCycle {
    /// The ports of one period; empty where it is too long.
    cycle: Vec<u8>,
    /// The groups of the closer set; ports of the i-th are `ports[starts[i]..starts[i + 1]]`.
    ports: Vec<u8>,
    starts: Vec<u32>,
    divider: u32,
}

impl PortCycle {
    /// Prepares the choice for a closer set that is not empty, under the divider Π.
    pub(super) fn prepare<'a>(&mut self, closer: impl Iterator<Item = Group<'a>>, divider: u32) {
        self.divider = divider;
        self.ports.clear();
        self.starts.clear();
        self.starts.push(0);
        let mut rounds = 1usize;
        for group in closer {
            self.ports.extend(group.ports.iter().map(|p| p.0));
            self.starts.push(self.ports.len() as u32);
            if !rounds.is_multiple_of(group.ports.len()) {
                rounds = least_common_multiple(rounds, group.ports.len()).min(LONGEST_CYCLE + 1);
            }
        }
        let groups = self.starts.len() - 1;
        debug_assert!(groups > 0, "nothing can be chosen from an empty closer set");
        self.cycle.clear();
        if self.ports.len() == groups {
            // No parallel cables: each group has its one port.
            self.cycle.extend_from_slice(&self.ports);
        } else if rounds * groups <= LONGEST_CYCLE {
            for round in 0..rounds {
                for group in self.starts.windows(2) {
                    let size = (group[1] - group[0]) as usize;
                    self.cycle.push(self.ports[group[0] as usize + round % size]);
                }
            }
        }
    }

    /// Eqs. (3) and (4) for q = ⌊d / Π⌋ and the k-th LID of a node.
    fn choose(&self, q: u32, k: u8) -> u8 {
        let groups = self.starts.len() as u32 - 1;
        let k = u32::from(k);
        let g = ((u64::from(q) + u64::from(k)) % u64::from(groups)) as usize;
        let ports = &self.ports[self.starts[g] as usize..self.starts[g + 1] as usize];
        ports[(q / groups + k / groups) as usize % ports.len()]
    }

    /// Writes the entries of a segment of destinations.
    pub(super) fn fill(&self, segment: &Segment, row: &mut [u8]) {
        let out = &mut row[segment.start as usize..(segment.start + segment.length) as usize];
        let (q, within) = (segment.number / self.divider, segment.number % self.divider);
        if self.cycle.is_empty() || segment.k != 0 {
            self.fill_singly(q, within, segment.k, out);
        } else if self.divider == 1 {
            self.copy(q, out);
        } else {
            self.repeat(q, within, out);
        }
    }

    /// Π = 1: the entries are the cycle itself.
    fn copy(&self, q: u32, mut out: &mut [u8]) {
        let mut at = q as usize % self.cycle.len();
        while !out.is_empty() {
            let length = out.len().min(self.cycle.len() - at);
            let (now, later) = out.split_at_mut(length);
            now.copy_from_slice(&self.cycle[at..at + length]);
            out = later;
            at = 0;
        }
    }

    /// Π > 1: each port of the cycle stands Π times.
    fn repeat(&self, q: u32, within: u32, mut out: &mut [u8]) {
        let mut at = q as usize % self.cycle.len();
        let mut left = (self.divider - within) as usize;
        while !out.is_empty() {
            let length = out.len().min(left);
            let (now, later) = out.split_at_mut(length);
            now.fill(self.cycle[at]);
            out = later;
            left = self.divider as usize;
            at += 1;
            if at == self.cycle.len() {
                at = 0;
            }
        }
    }

    fn fill_singly(&self, mut q: u32, mut within: u32, k: u8, out: &mut [u8]) {
        for entry in out {
            *entry = self.choose(q, k);
            within += 1;
            if within == self.divider {
                (q, within) = (q + 1, 0);
            }
        }
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PortNumber, SwitchIndex};

    #[test]
    fn segments_equal_the_formula_for_every_divider_and_mix_of_groups() {
        let numbers: Vec<PortNumber> = (1..=254).map(PortNumber).collect();
        let mixes: [&[usize]; 7] =
            [&[1], &[5], &[1, 1, 1], &[2, 2], &[1, 3], &[3, 4, 5, 7, 11, 13], &[2, 1, 2, 2]];
        for sizes in mixes {
            let mut from = 0;
            let groups: Vec<Group<'_>> = sizes
                .iter()
                .map(|&size| {
                    from += size;
                    Group { peer: SwitchIndex::new(0), ports: &numbers[from - size..from] }
                })
                .collect();
            for divider in [1, 2, 3, 7, 64, 1000, u32::MAX] {
                let mut cycle = PortCycle::default();
                cycle.prepare(groups.iter().copied(), divider);
                for number in [0, 1, 5, 63, 997, 4_000_000] {
                    for k in [0, 1, 3, 7] {
                        let mut out = vec![0; 102];
                        let segment = Segment { start: 1, length: 100, number, target: 0, k };
                        cycle.fill(&segment, &mut out);
                        for (i, &entry) in out[1..101].iter().enumerate() {
                            let (d, pi) = (u64::from(number) + i as u64, u64::from(divider));
                            let (c, k) = (groups.len() as u64, u64::from(k));
                            let group = groups[((d / pi + k) % c) as usize].ports;
                            let port = (d / (pi * c) + k / c) % group.len() as u64;
                            assert_eq!(entry, group[port as usize].0);
                        }
                        assert_eq!((out[0], out[101]), (0, 0), "nothing else is touched");
                    }
                }
            }
        }
    }
}
