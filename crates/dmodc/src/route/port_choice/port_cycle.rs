//! Eqs. (3) and (4): from a closer set and a destination's number to one port, where groups have
//! different numbers of ports. (The [kernel](crate::kernel) has the usual case.)
//!
//! With Π and C fixed, the port depends on q = ⌊d / Π⌋ alone and repeats: group q mod #C, port
//! ⌊q / #C⌋ mod #g. Where every destination has its own q and the period is short, the ports of one
//! period are written down once, a [`PortCycle`], and a segment of destinations is copied from it.
//!
//! Some levels choose ports by a divider of their own: port ⌊d / divider⌋ mod #g. They are computed one destination at a time.

use std::ops::Range;

use crate::id::PortNumber;
use crate::kernel::{Divisor, SIZES};
use crate::preprocess::SideDividers;
use crate::tables::Segment;

/// The longest period that is written down. Groups whose sizes have a larger common multiple are
/// computed one port at a time.
const LONGEST_CYCLE: usize = 1024;

/// What numbers are divided by in one direction.
pub(super) struct PortDivisors {
    group: Divisor,
    /// `None` for eq. (4).
    port: Option<Divisor>,
}

impl PortDivisors {
    pub(super) fn new(dividers: SideDividers) -> Self {
        PortDivisors { group: Divisor::new(dividers.group), port: dividers.port.map(Divisor::new) }
    }
}

/// The choice among one closer set.
#[derive(Default)]
pub(super) struct PortCycle {
    /// Which ports of the side each group of the closer set has.
    groups: Vec<Range<u8>>,
    /// The ports of one period, if they are written down.
    cycle: Vec<u8>,
    /// How long the period is; 0 where it is not known yet.
    period: usize,
}

impl PortCycle {
    /// Prepares the choice for a closer set that is not empty.
    pub(super) fn prepare(&mut self, closer: impl Iterator<Item = Range<u8>>) {
        self.groups.clear();
        self.groups.extend(closer);
        debug_assert!(!self.groups.is_empty(), "nothing can be chosen from an empty closer set");
        self.cycle.clear();
        self.period = 0;
    }

    /// Writes the entries of a segment of destinations. `ports` are the ports of the side.
    pub(super) fn fill(
        &mut self,
        ports: &[PortNumber],
        divisors: &PortDivisors,
        segment: &Segment,
        row: &mut [u8],
    ) {
        let mut out = &mut row[segment.start as usize..(segment.start + segment.length) as usize];
        let divider = &divisors.group;
        if let Some(port) = &divisors.port {
            self.fill_by_port(ports, divider, port, segment, out);
            return;
        }
        let q = divider.divide(segment.number);
        if divider.value == 1 && segment.k == 0 && self.write_down(ports, out.len()) {
            self.copy(q, out);
            return;
        }
        // Eqs. (3) and (4) for q and the k-th LID, counted on from the first: group (q + k) mod #C,
        // port ⌊q / #C⌋ + ⌊k / #C⌋ mod #g.
        let (groups, k) = (self.groups.len() as u32, u32::from(segment.k));
        let (mut round, mut within) = (q / groups + k / groups, q % groups);
        let mut g = (within + k % groups) % groups;
        // Each port stands Π times, the first one perhaps less.
        let mut left = (divider.value - divider.modulo(segment.number)) as usize;
        while !out.is_empty() {
            let Range { start, end } = self.groups[g as usize];
            let port = SIZES[usize::from(end - start)].modulo(round);
            let (now, later) = out.split_at_mut(left.min(out.len()));
            now.fill(ports[usize::from(start) + port as usize].0);
            (out, left) = (later, divider.value as usize);
            (within, g) = (within + 1, g + 1);
            if within == groups {
                (within, round) = (0, round + 1);
            }
            if g == groups {
                g = 0;
            }
        }
    }

    /// Writes the entries of a segment where ports have a divider of their own: group (⌊d / divider⌋ + k) mod #C, port
    /// ⌊d / port divider⌋ + ⌊k / #C⌋ mod #g.
    fn fill_by_port(
        &self,
        ports: &[PortNumber],
        divider: &Divisor,
        port: &Divisor,
        segment: &Segment,
        out: &mut [u8],
    ) {
        let (groups, k) = (self.groups.len() as u32, u32::from(segment.k));
        for (d, entry) in (segment.number..).zip(out) {
            let q = SIZES[groups as usize].modulo(divider.divide(d));
            let Range { start, end } = self.groups[((q + k) % groups) as usize];
            let at = port.divide(d) + k / groups;
            let at = SIZES[usize::from(end - start)].modulo(at);
            *entry = ports[usize::from(start) + at as usize].0;
        }
    }

    /// Writes one period down, if `wanted` consecutive ports are enough for that to pay off. Returns whether it is written
    /// down.
    fn write_down(&mut self, ports: &[PortNumber], wanted: usize) -> bool {
        if self.cycle.is_empty() && wanted > self.groups.len() {
            if self.period == 0 {
                let sizes = self.groups.iter().map(|group| usize::from(group.end - group.start));
                let rounds = sizes.fold(1, |rounds, size| {
                    least_common_multiple(rounds, size).min(LONGEST_CYCLE + 1)
                });
                self.period = rounds * self.groups.len();
            }
            if self.period <= LONGEST_CYCLE.min(8 * wanted) {
                let rounds = self.period / self.groups.len();
                for round in 0..rounds {
                    let port = |group: &Range<u8>| {
                        ports[usize::from(group.start)
                            + round % usize::from(group.end - group.start)]
                        .0
                    };
                    self.cycle.extend(self.groups.iter().map(port));
                }
            }
        }
        !self.cycle.is_empty()
    }

    /// Copies entries from the cycle, for Π = 1: the entries are the cycle itself.
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

    #[test]
    fn segments_equal_the_formula_for_every_divider_and_mix_of_groups() {
        let numbers: Vec<PortNumber> = (1..=254).map(PortNumber).collect();
        let mixes: [&[u8]; 7] =
            [&[1], &[5], &[1, 1, 1], &[2, 2], &[1, 3], &[3, 4, 5, 7, 11, 13], &[2, 1, 2, 2]];
        for sizes in mixes {
            let mut from = 0;
            let groups: Vec<Range<u8>> = sizes
                .iter()
                .map(|&size| {
                    from += size;
                    from - size..from
                })
                .collect();
            for divider in [1, 2, 3, 7, 64, 1000, u32::MAX] {
                let mut cycle = PortCycle::default();
                cycle.prepare(groups.iter().cloned());
                let by = |port| PortDivisors::new(SideDividers { group: divider, port });
                for number in [0, 1, 5, 63, 997, 4_000_000] {
                    for k in [0, 1, 3, 7] {
                        for port_divider in [None, Some(1), Some(6), Some(64)] {
                            let mut out = vec![0; 102];
                            let segment = Segment { start: 1, length: 100, number, target: 0, k };
                            cycle.fill(&numbers, &by(port_divider), &segment, &mut out);
                            for (i, &entry) in out[1..101].iter().enumerate() {
                                let (d, pi) = (u64::from(number) + i as u64, u64::from(divider));
                                let (c, k) = (groups.len() as u64, u64::from(k));
                                let group = &groups[((d / pi + k) % c) as usize];
                                let by_port = port_divider.map_or(pi * c, u64::from);
                                let port = (d / by_port + k / c) % group.len() as u64;
                                let port = usize::from(group.start) + port as usize;
                                assert_eq!(entry, numbers[port].0);
                            }
                            assert_eq!((out[0], out[101]), (0, 0), "nothing else is touched");
                        }
                    }
                }
            }
        }
    }
}
