//! The destinations that count when dividers are measured, and sets of them.

use std::ops::Range;

use crate::bits::bits;
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::order::Orders;
use crate::tables::BLOCK;

/// All nodes on leaves, one leaf after the other.
pub(super) struct Destinations {
    /// The switches with such nodes, ascending by index.
    targets: Vec<SwitchIndex>,
    /// Those of the i-th target start at `starts[i]`.
    starts: Vec<u32>,
    /// d of each.
    numbers: Vec<u32>,
}

impl Destinations {
    pub(super) fn new(live: Live<'_>, orders: &Orders) -> Self {
        let mut of = Destinations { targets: vec![], starts: vec![0], numbers: vec![] };
        for s in live.switches() {
            let nodes = live.nodes(s).map(|n| orders.node_number(n));
            of.numbers.extend(nodes.filter(|number| number.on_leaf).map(|number| number.number));
            let first = of.starts[of.targets.len()] as usize;
            if of.numbers.len() > first {
                of.numbers[first..].sort_unstable();
                of.targets.push(s);
                of.starts.push(of.numbers.len() as u32);
            }
        }
        of
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the switches that have some.
    pub(super) fn targets(&self) -> &[SwitchIndex] {
        &self.targets
    }

    /// Returns these switches, at most 64 at a time.
    pub(super) fn tiles(&self) -> impl ExactSizeIterator<Item = &[SwitchIndex]> {
        self.targets.chunks(BLOCK)
    }

    /// Returns the destinations of the i-th target, by their positions.
    pub(super) fn of_target(&self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }

    /// Returns d of a destination.
    pub(super) fn number(&self, at: usize) -> u32 {
        self.numbers[at]
    }
}

/// For each switch, the set of destinations that reach it: a bit for each.
#[derive(Clone, PartialEq)]
pub(super) struct DestinationSets {
    /// How many words a set has.
    width: usize,
    words: Vec<u64>,
}

impl DestinationSets {
    /// Returns the sets in which each switch with destinations has all of them, since its nodes send to all.
    pub(super) fn new(destinations: &Destinations, switches: usize) -> Self {
        let width = destinations.len().div_ceil(64);
        let mut sets = DestinationSets { width, words: vec![0; width * switches] };
        for target in destinations.targets() {
            let set = sets.of_mut(*target);
            set.fill(u64::MAX);
            if let (Some(last), spare @ 1..) = (set.last_mut(), 64 * width - destinations.len()) {
                *last >>= spare;
            }
        }
        sets
    }

    /// Returns the bytes of all sets.
    pub(super) fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    /// Returns how many words a set has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn of(&self, s: SwitchIndex) -> &[u64] {
        &self.words[s.at() * self.width..][..self.width]
    }

    pub(super) fn of_mut(&mut self, s: SwitchIndex) -> &mut [u64] {
        &mut self.words[s.at() * self.width..][..self.width]
    }
}

/// Returns the members of a set within a range, ascending.
pub(super) fn members(set: &[u64], range: Range<usize>) -> impl Iterator<Item = usize> {
    let (first, end) = (range.start / 64, range.end.div_ceil(64));
    (first..end).flat_map(move |word| {
        let mut mask = set[word];
        if word == first {
            mask &= u64::MAX << (range.start % 64);
        }
        if word + 1 == end && !range.end.is_multiple_of(64) {
            mask &= u64::MAX >> (64 - range.end % 64);
        }
        bits(mask).map(move |bit| word * 64 + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_within_the_range() {
        let set = [u64::MAX << 60, 0b101, u64::MAX];
        assert!(members(&set, 0..192).eq((60..64).chain([64, 66]).chain(128..192)));
        assert!(members(&set, 61..66).eq([61, 62, 63, 64]));
        assert!(members(&set, 130..131).eq([130]));
        assert!(members(&set, 65..66).eq([]));
        assert!(members(&set, 64..128).eq([64, 66]));
        assert!(members(&set, 62..62).eq([]));
    }
}
