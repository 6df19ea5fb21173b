//! All shifts at once.
//!
//! In the shift by k, position i sends to i + k. Neighbours on one switch share their routes: if positions a … b are on
//! switch s, the route from s to destination d is taken in the shifts d − b … d − a, once in each. So it is followed
//! once, and for each of its ports two differences are noted: +1 at shift d − b, and −1 after shift d − a. Their running
//! sums are the loads. Cuts are counted like ports. A block of shifts is counted at a time, so that the differences stay
//! in a cache. All N − 1 shifts of N nodes on L leaves then cost O(N × L × hops) instead of O(N² × hops).
//!
//! Example: positions 4, 5 and 6 are on one switch. Its route to destination 9 is taken in the shifts 3 (6 → 9),
//! 4 (5 → 9) and 5 (4 → 9): each port on it notes +1 at shift 3 and −1 at shift 6.

use std::ops::Range;

use super::Traffic;
use super::loads::{Series, WorstLoad};
use super::paths::NOWHERE;
use crate::parallel;

/// This many shifts are counted at a time. A row has one place more, for differences after the last shift.
const BLOCK: usize = 63;
const ROW: usize = BLOCK + 1;

/// A difference. Differences may wrap, but their running sums do not.
trait ShiftDifference: Copy + Default + Send {
    fn change(&mut self, up: bool);
    fn plus(self, other: Self) -> Self;
    fn value(self) -> u32;
}

macro_rules! word {
    ($word:ty) => {
        impl ShiftDifference for $word {
            #[inline]
            fn change(&mut self, up: bool) {
                *self = if up { self.wrapping_add(1) } else { self.wrapping_sub(1) };
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn value(self) -> u32 {
                self.into()
            }
        }
    };
}
word!(u16);
word!(u32);

/// Consecutive positions on one switch.
#[derive(Clone, Copy)]
struct PositionRun {
    switch: u32,
    first: usize,
    length: usize,
}

/// Returns the series of all shifts, 1 … N − 1.
pub(super) fn all(traffic: &Traffic<'_>) -> Series {
    match traffic.nodes.len() {
        // No load is greater than the number of flows.
        nodes if nodes < 1 << 16 => with::<u16>(traffic),
        _ => with::<u32>(traffic),
    }
}

fn with<W: ShiftDifference>(traffic: &Traffic<'_>) -> Series {
    let nodes = traffic.nodes.len();
    let runs = runs(traffic);
    let blocks: Vec<usize> = (1..nodes).step_by(BLOCK).collect();
    let chunk = parallel::piece_length(blocks.len(), 2);
    let parts = parallel::map(blocks.chunks(chunk), |blocks| {
        let mut counts = ShiftCounts::<W>::new(traffic);
        let mut series = Series::default();
        for &first in blocks {
            let last = (first + BLOCK).min(nodes) - 1;
            for run in &runs {
                series.undelivered += counts.run(traffic, *run, first, last);
            }
            counts.sum_up(traffic, first..last + 1, &mut series);
        }
        (series, counts.worst_by_port)
    });
    let mut whole = Series {
        worst_by_port: vec![WorstLoad::default(); traffic.paths.ports().len()],
        ..Series::default()
    };
    for (part, worst) in parts {
        whole.maxima.extend(part.maxima);
        whole.bounds.extend(part.bounds);
        whole.undelivered += part.undelivered;
        for (most, worst) in whole.worst_by_port.iter_mut().zip(worst) {
            most.take(worst.load, worst.pattern);
        }
    }
    whole
}

fn runs(traffic: &Traffic<'_>) -> Vec<PositionRun> {
    let mut runs: Vec<PositionRun> = Vec::new();
    for (position, target) in traffic.targets.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.switch == target.home => run.length += 1,
            _ => runs.push(PositionRun { switch: target.home, first: position, length: 1 }),
        }
    }
    runs
}

/// The counts of one thread.
struct ShiftCounts<W> {
    /// The differences of a block of shifts: of all directed ports, then of all cuts left, then of all cuts entered.
    differences: Vec<[W; ROW]>,
    worst_by_port: Vec<WorstLoad>,
    way: Vec<u32>,
}

impl<W: ShiftDifference> ShiftCounts<W> {
    fn new(traffic: &Traffic<'_>) -> Self {
        let (ports, cuts) = (traffic.paths.ports().len(), traffic.cuts.cuts.len());
        ShiftCounts {
            differences: vec![[W::default(); ROW]; ports + 2 * cuts],
            worst_by_port: vec![WorstLoad::default(); ports],
            way: Vec::new(),
        }
    }

    /// Counts what the positions of a run send in the shifts `first ..= last`. Returns how many flows do not arrive.
    fn run(&mut self, traffic: &Traffic<'_>, run: PositionRun, first: usize, last: usize) -> u64 {
        let (ports, cuts) = (traffic.paths.ports().len(), traffic.cuts.cuts.len());
        let nodes = traffic.nodes.len();
        let end = run.first + run.length - 1;
        let mut undelivered = 0;
        let mut to = (run.first + first) % nodes;
        for d in run.first + first..=end + last {
            let target = &traffic.targets[to];
            to = if to + 1 == nodes { 0 } else { to + 1 };
            // The shifts in which a position of the run sends to `d`.
            let from = d.saturating_sub(end).max(first) - first;
            let until = (d - run.first).min(last) - first + 1;
            self.way.clear();
            let way = &mut self.way;
            if !traffic.paths.follow(run.switch, target, |port| way.push(port)) {
                undelivered += (until - from) as u64;
                continue;
            }
            if run.switch != target.home {
                for (left, entered) in traffic.cuts.crossed(run.switch, target.home) {
                    for (cut, offset) in [(left, ports), (entered, ports + cuts)] {
                        if cut != NOWHERE {
                            way.push(cut + offset as u32);
                        }
                    }
                }
            }
            for &port in way.iter() {
                let row = &mut self.differences[port as usize];
                row[from].change(true);
                row[until].change(false);
            }
        }
        undelivered
    }

    /// Adds the maxima and bounds of a block of shifts to a series, and clears the differences.
    fn sum_up(&mut self, traffic: &Traffic<'_>, shifts: Range<usize>, series: &mut Series) {
        let ports = traffic.paths.ports().len();
        let cuts = &traffic.cuts.cuts;
        let (mut maxima, mut bounds) = ([0u32; ROW], [0u32; ROW]);
        for (at, row) in self.differences.iter_mut().enumerate() {
            let mut sum = W::default();
            let mut sums = [0u32; ROW];
            for (difference, value) in row.iter().zip(&mut sums) {
                sum = sum.plus(*difference);
                *value = sum.value();
            }
            *row = [W::default(); ROW];
            if at < ports {
                let mut worst = 0;
                for (most, &value) in maxima.iter_mut().zip(&sums) {
                    *most = (*most).max(value);
                    worst = worst.max(value);
                }
                let so_far = &mut self.worst_by_port[at];
                if worst > so_far.load {
                    let place = sums.iter().position(|&value| value == worst).unwrap_or(0);
                    // Shift 1 is the first of the series.
                    so_far.take(worst, (shifts.start + place) as u32 - 1);
                }
            } else {
                let cables = cuts[(at - ports) % cuts.len()].cables as u32;
                for (most, &value) in bounds.iter_mut().zip(&sums).filter(|_| cables > 0) {
                    *most = (*most).max(value.div_ceil(cables));
                }
            }
        }
        series.maxima.extend(&maxima[..shifts.len()]);
        series.bounds.extend(&bounds[..shifts.len()]);
    }
}
