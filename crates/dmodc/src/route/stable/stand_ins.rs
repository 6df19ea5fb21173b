//! Stand-ins: ports that replace a failed port of a group that is still there.

use std::ops::Range;

use super::losses::{PresentGroup, ThinnedGroup};
use crate::group::Side;
use crate::id::PortNumber;
use crate::kernel::{Divisor, SIZES};
use crate::tables::Segment;

/// A port of a thinned group that is not there any more.
pub(super) struct GonePort {
    pub(super) group: usize,
    present: PresentGroup,
    /// The number of ports that the group had, and the index of this one among them.
    width: u8,
    at: u8,
}

/// The entries of a segment, and the slots that they are divided into.
#[derive(Clone, Copy)]
pub(super) struct StandInPlace<'a> {
    pub(super) segment: &'a Segment,
    /// Π, or the divider of the level.
    pub(super) divider: &'a Divisor,
    /// #R.
    pub(super) count: u32,
    /// The divider of ports; `None` for eq. (4).
    pub(super) port_divider: Option<u32>,
}

impl GonePort {
    /// Replaces `gone` by the ports that the groups of one direction of the reference lost. `now` has the groups of the
    /// present: in the same direction, and in the other one.
    pub(super) fn find(
        gone: &mut Vec<GonePort>,
        thinned: &[ThinnedGroup],
        then: Side<'_>,
        now: [Side<'_>; 2],
    ) {
        gone.clear();
        for &ThinnedGroup { group, present } in thinned {
            let were = then.ports_of(group);
            let are = now[usize::from(present.has_turned)].ports_of(present.at);
            let is_gone = |(_, port): &(usize, &PortNumber)| !are.contains(port);
            let width = were.len() as u8;
            gone.extend(were.iter().enumerate().filter(is_gone).map(|(at, _)| GonePort {
                group,
                present,
                width,
                at: at as u8,
            }));
        }
    }

    /// Writes the entries of a segment that had this port, which belongs to slot number `slot`: another port of the group
    /// stands in. A group is asked once in a round, and for the same port again when as many rounds have passed as it had
    /// ports.
    #[inline(always)]
    pub(super) fn write(
        &self,
        now: [Side<'_>; 2],
        slot: u32,
        StandInPlace { segment, divider, count, port_divider }: StandInPlace<'_>,
        row: &mut [u8],
    ) {
        let last = segment.number.saturating_add(segment.length - 1);
        let (first, last) = (divider.divide(segment.number), divider.divide(last));
        let first_round = SIZES[count as usize & 255].divide(first);
        let (k, later) = match segment.k {
            0 => (0, 0),
            k => (u32::from(k) % count, u32::from(k) / count),
        };
        // The place of the slot in its round. (The k-th LID of a node has the k-th slot after that of its first LID.)
        let place = if slot >= k { slot - k } else { slot + count - k };
        let are = now[usize::from(self.present.has_turned)].ports_of(self.present.at);
        let q_of = |round: u32| u64::from(round) * u64::from(count) + u64::from(place);
        let Some(port_divider) = port_divider else {
            let mut round = first_round + self.rounds_until(first_round + later);
            if q_of(round) < first.into() {
                round += u32::from(self.width);
            }
            let step = usize::from(self.width) * count as usize;
            let mut at = SIZES[are.len() & 255].modulo(round + later) as usize;
            let turn = SIZES[are.len() & 255].modulo(self.width.into()) as usize;
            for q in (q_of(round)..=last.into()).step_by(step) {
                write(segment, divider, q, are[at].0, row);
                at += turn;
                at -= if at >= are.len() { are.len() } else { 0 };
            }
            return;
        };
        // The ports of one slot may differ from destination to destination.
        let stand_in = |at: u32| are[SIZES[are.len() & 255].modulo(at) as usize].0;
        let quotients = (q_of(first_round)..=last.into()).step_by(count as usize);
        for q in quotients.filter(|q| *q >= first.into()) {
            for column in columns(segment, divider, q) {
                let d = segment.number + (column as u32 - segment.start);
                let at = d / port_divider + later;
                if at % u32::from(self.width) == u32::from(self.at) {
                    row[column] = stand_in(at);
                }
            }
        }
    }

    /// Returns the number of rounds from this one until the port is asked for.
    #[inline(always)]
    fn rounds_until(&self, round: u32) -> u32 {
        let (own, width) = (u32::from(self.at), u32::from(self.width));
        let at = SIZES[usize::from(self.width)].modulo(round);
        if own >= at { own - at } else { own + width - at }
    }
}

/// Joins segments that follow each other in columns and in numbers, and writes them to `runs`. The target of a run is that of its
/// first segment.
#[inline(always)]
pub(super) fn join<'s>(segments: impl Iterator<Item = &'s Segment>, runs: &mut Vec<Segment>) {
    runs.clear();
    for segment in segments {
        match runs.last_mut() {
            Some(run)
                if run.start + run.length == segment.start
                    && run.number.checked_add(run.length) == Some(segment.number)
                    && run.k == segment.k =>
            {
                run.length += segment.length;
            }
            _ => runs.push(*segment),
        }
    }
}

/// Writes one port for the destinations of q.
#[inline(always)]
pub(super) fn write(segment: &Segment, divider: &Divisor, q: u64, port: u8, row: &mut [u8]) {
    if divider.value == 1 {
        row[segment.start as usize + (q - u64::from(segment.number)) as usize] = port;
        return;
    }
    row[columns(segment, divider, q)].fill(port);
}

/// Returns the columns of the destinations of q.
#[inline(always)]
fn columns(segment: &Segment, divider: &Divisor, q: u64) -> Range<usize> {
    let Segment { start, length, number, .. } = *segment;
    let (start, number) = (start as usize, u64::from(number));
    let pi = u64::from(divider.value);
    let from = (q * pi).max(number) - number;
    let to = ((q + 1) * pi).min(number + u64::from(length)) - number;
    start + from as usize..start + to as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SwitchIndex;
    use crate::random::Random;

    /// Returns segments in ascending columns. Some of them follow each other, also in numbers.
    fn random_segments(random: &mut Random) -> Vec<Segment> {
        let (count, mut start, mut k) = (random.below(20), 0, 0);
        let mut number = random.below(1000) as u32;
        let segment = |target: u64| {
            let length = 1 + random.below(20) as u32;
            match random.below(5) {
                0 => start += random.below(3) as u32,
                1 => number = random.below(100_000) as u32,
                2 => k = [0, 0, 1, 3, 200][random.below(5) as usize],
                _ => {}
            }
            let segment = Segment { start, length, number, target: target as u8, k };
            (start, number) = (start + length, number + length);
            segment
        };
        (0..count).map(segment).collect()
    }

    /// The column, the number and k of one destination.
    type Place = (u32, u32, u8);

    fn places(segments: &[Segment]) -> Vec<Place> {
        let of = |s: &Segment| {
            let Segment { start, length, number, k, .. } = *s;
            (0..length).map(move |at| (start + at, number + at, k))
        };
        segments.iter().flat_map(of).collect()
    }

    /// Runs have the destinations of the segments, and no two of them could be one.
    #[test]
    fn runs_are_as_long_as_possible() {
        let mut joined = 0;
        for seed in 0..300 {
            let segments = random_segments(&mut Random::new(seed, 0));
            let mut runs = segments.clone();
            join(segments.iter(), &mut runs);
            assert_eq!(places(&runs), places(&segments), "seed {seed}");
            let follows = |a: Place, b: Place| (a.0 + 1, a.1 + 1, a.2) == b;
            let breaks =
                places(&segments).windows(2).filter(|pair| !follows(pair[0], pair[1])).count();
            assert_eq!(runs.len(), breaks + usize::from(!segments.is_empty()), "seed {seed}");
            joined += segments.len() - runs.len();
        }
        assert!(joined > 300, "{joined} were joined");
    }

    /// One group of a switch in both states, and the slots around it.
    struct Thinned {
        were: Vec<PortNumber>,
        are: Vec<PortNumber>,
        slot: u32,
        count: u32,
        divider: u32,
        port_divider: Option<u32>,
    }

    impl Thinned {
        fn random(random: &mut Random) -> Self {
            let width = [1 + random.below(4), 1 + random.below(250)][random.below(2) as usize];
            let were: Vec<PortNumber> = (1..=width as u8).map(PortNumber).collect();
            let one_in = 1 + random.below(3);
            let mut are: Vec<PortNumber> =
                were.iter().copied().filter(|_| random.below(one_in) == 0).collect();
            if are.is_empty() || random.below(8) == 0 {
                // A port that the reference did not have.
                are.push(PortNumber(width as u8 + 1));
            }
            let most_groups = [4, 255][random.below(2) as usize];
            let count = 1 + random.below(most_groups) as u32;
            Thinned {
                were,
                are,
                slot: random.below(count.into()) as u32,
                count,
                divider: [1, 1, 2, 5, 37][random.below(5) as usize],
                port_divider: [None, Some(1 + random.below(50) as u32)][random.below(2) as usize],
            }
        }

        /// Returns the port of a destination, if its slot is this group and its port is gone.
        fn naive(&self, (_, d, k): Place) -> Option<u8> {
            let (q, k) = (d / self.divider, u32::from(k));
            if (q + k) % self.count != self.slot {
                return None;
            }
            let turn = self.port_divider.map_or(q / self.count, |divider| d / divider);
            let at = (turn + k / self.count) as usize;
            let is_gone = !self.are.contains(&self.were[at % self.were.len()]);
            is_gone.then(|| self.are[at % self.are.len()].0)
        }
    }

    /// Groups of any sizes, any dividers and any LIDs.
    #[test]
    fn stand_ins_are_as_counted_one_by_one() {
        for seed in 0..2000 {
            let mut random = Random::new(seed, 1);
            let thinned = Thinned::random(&mut random);
            let segments = random_segments(&mut random);
            let peers = [SwitchIndex::new(0)];
            let [then, now] =
                [&thinned.were, &thinned.are].map(|ports| Side::alone(&peers, &[0], ports));
            let present = PresentGroup { has_turned: false, at: 0 };
            let mut gone = vec![];
            GonePort::find(&mut gone, &[ThinnedGroup { group: 0, present }], then, [now, now]);
            let length = segments.last().map_or(0, |last| last.start + last.length) as usize;
            let mut row = vec![0; length];
            let Thinned { slot, count, port_divider, .. } = thinned;
            let divider = Divisor::new(thinned.divider);
            let mut runs = vec![];
            join(segments.iter(), &mut runs);
            for segment in &runs {
                let place = StandInPlace { segment, divider: &divider, count, port_divider };
                gone.iter().for_each(|gone| gone.write([now, now], slot, place, &mut row));
            }
            let mut wanted = vec![0; length];
            for place in places(&segments) {
                wanted[place.0 as usize] = thinned.naive(place).unwrap_or(0);
            }
            assert_eq!(row, wanted, "seed {seed}");
        }
    }
}
