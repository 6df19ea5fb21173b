//! Patterns of collective operations: a ring, and the steps of recursive doubling.
//!
//! In a ring, each position sends to the next one, and the last to the first. Recursive doubling exchanges in steps: in the
//! step of distance k = 1, 2, 4 …, position i exchanges with position i xor k. This needs a power of two. With n
//! positions and r more than the greatest power of two, MPI libraries fold: in a first step, each even position below 2r
//! sends to the next one, and takes no part until the last step, in which it gets the result back. All others are
//! numbered again without gaps. With 6 positions (r = 2):
//!
//! ```text
//! fold in      0 → 1, 2 → 3
//! distance 1   1 ↔ 3, 4 ↔ 5      (numbered 0 1 2 3)
//! distance 2   1 ↔ 4, 3 ↔ 5
//! fold out     1 → 0, 3 → 2
//! ```

use std::ops::Range;

use super::Traffic;
use super::loads::{Series, WorstLoad};

/// What happens in a step of recursive doubling. Steps are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// Positions beyond a power of two hand their part to a neighbour.
    FoldIn,
    /// Positions of this distance exchange.
    Exchange(u32),
    /// Positions beyond a power of two get the result.
    FoldOut,
}

/// A step of recursive doubling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happens.
    pub kind: StepKind,
    /// Who sends to whom.
    pub pairs: Vec<(u32, u32)>,
}

/// Returns the flows of a ring over these positions; none for fewer than two.
pub fn ring(positions: Range<u32>) -> Vec<(u32, u32)> {
    let next = |i: u32| if i + 1 < positions.end { i + 1 } else { positions.start };
    positions.clone().map(|i| (i, next(i))).filter(|(from, to)| from != to).collect()
}

/// Returns the steps of recursive doubling over these positions; none for fewer than two.
pub fn recursive_doubling(positions: Range<u32>) -> Vec<Step> {
    let (start, count) = (positions.start, positions.len() as u32);
    if count < 2 {
        return Vec::new();
    }
    let power = 1 << count.ilog2();
    let folded = count - power;
    // The position of each of the power of two that exchange.
    let place = |i: u32| if i < folded { start + 2 * i + 1 } else { start + folded + i };
    let even = |i: u32| start + 2 * i;
    let fold_in = (0..folded).map(|i| (even(i), even(i) + 1)).collect();
    let fold_out = (0..folded).map(|i| (even(i) + 1, even(i))).collect();
    let mut steps = vec![Step { kind: StepKind::FoldIn, pairs: fold_in }];
    for distance in (0..power.ilog2()).map(|bit| 1 << bit) {
        let pairs = (0..power).map(|i| (place(i), place(i ^ distance))).collect();
        steps.push(Step { kind: StepKind::Exchange(distance), pairs });
    }
    steps.push(Step { kind: StepKind::FoldOut, pairs: fold_out });
    steps.retain(|step| !step.pairs.is_empty());
    steps
}

/// Returns the loads of steps that happen one after the other.
pub(super) fn series(traffic: &Traffic<'_>, steps: &[Step]) -> Series {
    let small = |load: u64| u32::try_from(load).unwrap_or(u32::MAX);
    let mut series = Series {
        worst_by_port: vec![WorstLoad::default(); traffic.ports().len()],
        ..Series::default()
    };
    for (number, step) in (0..).zip(steps) {
        let loads = traffic.pairs(&step.pairs);
        for (worst, &load) in series.worst_by_port.iter_mut().zip(&loads.by_port) {
            worst.take(small(load), number);
        }
        series.maxima.push(small(loads.max()));
        series.bounds.push(small(loads.bound));
        series.undelivered += loads.undelivered;
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_one_flow_for_each_position() {
        assert_eq!(ring(0..3), [(0, 1), (1, 2), (2, 0)]);
        assert_eq!(ring(5..7), [(5, 6), (6, 5)]);
        assert_eq!(ring(4..5), []);
        assert_eq!(ring(4..4), []);
    }

    #[test]
    fn positions_beyond_a_power_of_two_are_folded() {
        let steps = recursive_doubling(10..16);
        let kinds: Vec<StepKind> = steps.iter().map(|step| step.kind).collect();
        let exchange = StepKind::Exchange;
        assert_eq!(kinds, [StepKind::FoldIn, exchange(1), exchange(2), StepKind::FoldOut]);
        assert_eq!(steps[0].pairs, [(10, 11), (12, 13)]);
        assert_eq!(steps[1].pairs, [(11, 13), (13, 11), (14, 15), (15, 14)]);
        assert_eq!(steps[2].pairs, [(11, 14), (13, 15), (14, 11), (15, 13)]);
        assert_eq!(steps[3].pairs, [(11, 10), (13, 12)]);
        assert_eq!(recursive_doubling(0..4).len(), 2);
        assert_eq!(recursive_doubling(0..1), []);
    }

    /// After the last step every position has the parts of all others.
    #[test]
    fn everybody_gets_everything() {
        for count in 2..40u32 {
            let mut known: Vec<u64> = (0..count).map(|i| 1 << i).collect();
            for step in recursive_doubling(0..count) {
                let before = known.clone();
                for (from, to) in step.pairs {
                    known[to as usize] |= before[from as usize];
                }
            }
            assert!(known.iter().all(|&parts| parts == (1 << count) - 1), "{count}");
        }
    }
}
