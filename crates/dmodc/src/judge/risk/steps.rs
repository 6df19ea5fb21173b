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
use crate::parallel;

/// What happens in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// Positions beyond a power of two hand their part to a neighbour.
    FoldIn,
    /// Positions of this distance exchange.
    Exchange(u32),
    /// Positions beyond a power of two get the result.
    FoldOut,
    /// Nodes send to storage nodes.
    Write,
    /// Storage nodes send to the others.
    Read,
}

/// A step of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What happens.
    pub kind: StepKind,
    /// Who sends to whom.
    pub pairs: Vec<(u32, u32)>,
    /// Each flow sends this part of the message: the whole one divided by this number.
    pub parts: u32,
}

impl Step {
    /// Returns the step among these positions: member i of the step is the i-th of them.
    pub fn on(mut self, positions: &[u32]) -> Self {
        let place = |member: u32| positions[member as usize];
        self.pairs.iter_mut().for_each(|(from, to)| (*from, *to) = (place(*from), place(*to)));
        self
    }
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
    let mut steps = vec![Step { kind: StepKind::FoldIn, pairs: fold_in, parts: 1 }];
    for distance in (0..power.ilog2()).map(|bit| 1 << bit) {
        let pairs = (0..power).map(|i| (place(i), place(i ^ distance))).collect();
        steps.push(Step { kind: StepKind::Exchange(distance), pairs, parts: 1 });
    }
    steps.push(Step { kind: StepKind::FoldOut, pairs: fold_out, parts: 1 });
    steps.retain(|step| !step.pairs.is_empty());
    steps
}

/// Returns the loads of steps that happen one after the other; the `i`-th is drawn by `draw(i)`.
pub(super) fn series(
    traffic: &Traffic<'_>,
    count: usize,
    draw: impl Fn(usize) -> Vec<(u32, u32)> + Sync,
) -> Series {
    let small = |load: u64| u32::try_from(load).unwrap_or(u32::MAX);
    let empty = || Series {
        worst_by_port: vec![WorstLoad::default(); traffic.ports().len()],
        ..Series::default()
    };
    let chunk = parallel::piece_length(count, 4);
    let parts = parallel::map((0..count).step_by(chunk), |first| {
        let mut series = empty();
        for number in first..(first + chunk).min(count) {
            let loads = traffic.pairs(&draw(number));
            for (worst, &load) in series.worst_by_port.iter_mut().zip(&loads.by_port) {
                worst.take(small(load), number as u32);
            }
            series.maxima.push(small(loads.max()));
            series.bounds.push(small(loads.bound));
            series.undelivered += loads.undelivered;
        }
        series
    });
    let mut series = empty();
    for part in parts {
        for (most, worst) in series.worst_by_port.iter_mut().zip(part.worst_by_port) {
            most.take(worst.load, worst.pattern);
        }
        series.maxima.extend(part.maxima);
        series.bounds.extend(part.bounds);
        series.undelivered += part.undelivered;
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
