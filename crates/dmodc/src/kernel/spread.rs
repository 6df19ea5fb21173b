//! From closer sets to entries: eqs. (3) and (4) for the destination switches of a tile at once,
//! if all groups of a direction have the same number of ports.
//!
//! ```text
//! for each segment of consecutive numbers d, d + 1 …:
//!     cycle = the first ports of the closer set's groups, in order, then the second ones, and so on
//!     entry of number d = cycle[(⌊d / Π⌋ + k) mod #cycle]     (k-th LID; only for single ports)
//! ```
//!
//! Π stands for the divider of the direction that the closer set is in.
//!
//! An example: the closer set has two groups with the ports 1 and 3, so the cycle is 1, 3, and a segment has the numbers 5 to 8.
//! With Π = 1 the quotients are 5, 6, 7, 8 and the entries 3 1 3 1. With Π = 2 the quotients are 2, 3, 3, 4 and the entries 1 3 3 1.
//!
//! Departures from that:
//! 1. Segments that continue each other under the same closer set are one run, for which the cycle is
//!    written down once.
//! 2. Divisions are multiplications: by the reciprocal of Π, one to a direction, and by that of #cycle, from
//!    a table.
//! 3. Entries are written 64 at a time. What that writes behind a run belongs to the next one and
//!    is written again, or is slack behind the row.
//! 4. For Π = 1 the entries are the cycle itself, rotated, and so 64 of them are one copy out of the
//!    cycle written down twice; for Π > 1 each port of the cycle is repeated.
//! 5. The cycles of a batch of runs are written first, then repeated, then copied. Reading a cycle immediately after
//!    writing it makes the processor wait, because one load that spans several recent stores has to wait until they are in
//!    the cache. A few runs later they are.

use super::choices::Choices;
use super::divide::{Divisor, SIZES};
use crate::tables::{NO_ROUTE, Segment};

/// How many bytes behind its last entry a row needs.
pub(crate) const SLACK: usize = 64;

/// What is to be written: segments of one tile, ascending, for one switch.
pub(crate) struct Spread<'a> {
    pub(crate) segments: &'a [Segment],
    /// The targets whose numbers continue those of the target before. Not 0 only if all targets of the
    /// tile are given, and each has one segment.
    pub(crate) chained: u64,
    pub(crate) up: &'a Choices,
    pub(crate) down: &'a Choices,
    /// Π, or the divider of the level, for targets that are reached upwards.
    pub(crate) up_divider: Divisor,
    /// The same for targets that are reached downwards.
    pub(crate) down_divider: Divisor,
}

/// Returns which segments continue the numbers of the segment before, if each target has one segment; else 0.
pub(crate) fn chains(segments: &[Segment]) -> u64 {
    let in_order = |(at, segment): (usize, &Segment)| usize::from(segment.target) == at;
    if !segments.iter().enumerate().all(in_order) {
        return 0;
    }
    let follows = |a: &Segment, b: &Segment| {
        a.k == b.k && b.number == a.number.wrapping_add(a.length) && b.start == a.start + a.length
    };
    let pairs = segments.windows(2).enumerate();
    pairs
        .fold(0, |chained, (at, pair)| chained | u64::from(follows(&pair[0], &pair[1])) << (at + 1))
}

/// Where a target is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// No route.
    Nowhere,
    Up,
    Down,
}

/// Segments that follow each other in columns and in numbers and have the same closer set: in a healthy
/// fabric a whole row, in a damaged one most often one segment.
pub(super) struct Run {
    pub(super) way: Way,
    pub(super) target: u8,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) number: u32,
    pub(super) k: u8,
}

impl Spread<'_> {
    #[inline(always)]
    fn way(&self, target: u8) -> Way {
        match (self.up.targets >> (target & 63) & 1, self.down.targets >> (target & 63) & 1) {
            (1, _) => Way::Up,
            (_, 1) => Way::Down,
            _ => Way::Nowhere,
        }
    }

    /// Returns the divider of a direction.
    #[inline(always)]
    pub(super) fn divider(&self, way: Way) -> &Divisor {
        match way {
            Way::Down => &self.down_divider,
            // Where there is no route, any will do.
            Way::Up | Way::Nowhere => &self.up_divider,
        }
    }

    /// Returns the segments that begin a run.
    #[inline(always)]
    fn starts(&self) -> u64 {
        let both = |targets: u64| targets & targets << 1;
        let (up, down) = (self.up.targets, self.down.targets);
        let as_before = both(up) & self.up.same | both(down) & self.down.same | both(!(up | down));
        let all = u64::MAX >> (64 - self.segments.len().clamp(1, 64));
        all & !(self.chained & as_before)
    }

    /// Returns the segments as runs, in order.
    #[inline(always)]
    pub(super) fn runs(&self) -> impl Iterator<Item = Run> {
        let chained = self.chained != 0;
        let mut starts = if chained { self.starts() } else { 0 };
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = self.segments.get(next)?;
            if chained {
                starts &= starts - 1;
                next = if starts == 0 {
                    self.segments.len()
                } else {
                    starts.trailing_zeros() as usize
                };
            } else {
                next += 1;
            }
            let last = self.segments.get(next - 1)?;
            Some(Run {
                way: self.way(first.target),
                target: first.target,
                start: first.start as usize,
                end: (last.start + last.length) as usize,
                number: first.number,
                k: first.k,
            })
        })
    }
}

/// Picks bytes by a mask. (A trait, so that [`each_run`] is compiled for each processor.)
pub(super) trait Compress {
    /// Writes those `ports` whose bits are set in `mask` to the start of `to`, in order, and returns how many there are.
    /// Bytes of `to` after them may be overwritten, too: `to` must have room for 64 bytes more.
    fn compress(ports: &[u8; 64], mask: u64, to: &mut [u8]) -> usize;
}

/// A cycle and its repetition: room for 254 ports, the first 64 again, and one copy of 64 bytes over
/// the end.
pub(super) const CYCLE: usize = 384;

/// The number of runs in a batch.
pub(super) const BATCH: usize = 16;

/// Room for the cycles of some runs; what is in it means nothing between two calls.
#[derive(Clone, Debug)]
pub(crate) struct Cycles(pub(super) Box<[[u8; CYCLE]; BATCH]>);

impl Default for Cycles {
    fn default() -> Self {
        Cycles(Box::new([[NO_ROUTE; CYCLE]; BATCH]))
    }
}

pub(super) struct BitByBit;

impl Compress for BitByBit {
    #[inline(always)]
    fn compress(ports: &[u8; 64], mask: u64, to: &mut [u8]) -> usize {
        let (mut left, mut count) = (mask, 0);
        while left != 0 {
            to[count] = ports[left.trailing_zeros() as usize & 63];
            count += 1;
            left &= left - 1;
        }
        count
    }
}

pub(super) fn portable(spread: &Spread<'_>, cycles: &mut Cycles, row: &mut [u8]) {
    each_run::<BitByBit>(spread, cycles, row);
}

/// A run whose cycle is known.
#[derive(Clone, Copy, Default)]
struct PreparedRun {
    start: usize,
    end: usize,
    size: usize,
    /// ⌊d / Π⌋ and d mod Π for the first number d of the run.
    quotient: u32,
    rest: u32,
    /// Π.
    divider: u32,
    k: u8,
}

impl PreparedRun {
    /// Returns whether one copy of 32 bytes is enough.
    #[inline(always)]
    fn is_short(&self) -> bool {
        self.end - self.start <= 32
    }
}

/// The loop, over any way to compress.
#[inline(always)]
pub(super) fn each_run<C: Compress>(spread: &Spread<'_>, cycles: &mut Cycles, row: &mut [u8]) {
    let mut runs = spread.runs();
    let mut batch = [PreparedRun::default(); BATCH];
    loop {
        let mut count = 0;
        for (cycle, ready) in cycles.0.iter_mut().zip(&mut batch) {
            let Some(Run { way, target, start, end, number, k }) = runs.next() else { break };
            let size = match way {
                Way::Nowhere => {
                    cycle[0] = NO_ROUTE;
                    1
                }
                Way::Up => write_down::<C>(spread.up, target, cycle),
                Way::Down => write_down::<C>(spread.down, target, cycle),
            };
            let divisor = spread.divider(way);
            let (quotient, divider) = (divisor.divide(number), divisor.value);
            let rest = number - quotient * divider;
            *ready = PreparedRun { start, end, size, quotient, rest, divider, k };
            count += 1;
        }
        for (cycle, ready) in cycles.0.iter_mut().zip(&batch[..count]) {
            match (ready.divider, ready.is_short()) {
                (1, true) => write_again::<32>(cycle, ready.size),
                (1, false) => write_again::<64>(cycle, ready.size),
                _ => {}
            }
        }
        for (cycle, ready) in cycles.0.iter().zip(&batch[..count]) {
            match ready.divider {
                1 => copy(cycle, ready, row),
                divider => repeat_each(cycle, ready, divider as usize, row),
            }
        }
        if count < BATCH {
            return;
        }
    }
}

/// Writes the cycle of a target and returns its length.
#[inline(always)]
fn write_down<C: Compress>(choices: &Choices, target: u8, cycle: &mut [u8; CYCLE]) -> usize {
    let ports = |from: usize| choices.ports[from..].first_chunk().expect("64 can be read");
    if choices.is_narrow() {
        let mask = choices.masks[0][usize::from(target & 63)];
        if mask.is_power_of_two() {
            cycle[0] = choices.ports[mask.trailing_zeros() as usize];
            return 1;
        }
        return C::compress(ports(0), mask, cycle);
    }
    let set = choices.set(target);
    let words = choices.groups.div_ceil(64);
    let mut size = 0;
    for j in 0..choices.width {
        for (word, &mask) in set[..words].iter().enumerate() {
            let from = j * choices.groups + word * 64;
            size += C::compress(ports(from), mask, &mut cycle[size..]);
        }
    }
    size
}

/// Repeats the first `size` bytes, so that N can be read from any of them on.
#[inline(always)]
pub(super) fn write_again<const N: usize>(cycle: &mut [u8; CYCLE], size: usize) {
    let first: [u8; N] = *cycle.first_chunk().expect("a cycle has more room");
    let mut have = size;
    if size >= 16 {
        while have < size + N {
            // Of these the first `size` are right; the rest is overwritten, or never read.
            cycle[have..have + N].copy_from_slice(&first);
            have += size;
        }
    } else if size > 1 {
        while have < size + N {
            let block: [u8; N] = *cycle.first_chunk().expect("a cycle has more room");
            cycle[have..have + N].copy_from_slice(&block);
            let whole = have.min(N);
            have += whole - whole % size;
        }
    }
}

/// Π = 1: the entries are the cycle, from some place in it on.
#[inline(always)]
fn copy(cycle: &[u8; CYCLE], ready: &PreparedRun, row: &mut [u8]) {
    let &PreparedRun { start, end, size, quotient, k, .. } = ready;
    if size == 1 {
        repeat(cycle[0], row, start, end);
        return;
    }
    let mut at = SIZES[size & 255].modulo(quotient) as usize;
    if k != 0 {
        at = (at + usize::from(k)) % size;
    }
    if ready.is_short() {
        row[start..start + 32].copy_from_slice(&cycle[at..at + 32]);
        return;
    }
    let step = SIZES[size & 255].modulo(64) as usize;
    let mut column = start;
    while column < end {
        row[column..column + 64].copy_from_slice(&cycle[at..at + 64]);
        column += 64;
        at += step;
        if at >= size {
            at -= size;
        }
    }
}

/// Π > 1: each port of the cycle stands Π times.
#[inline(always)]
fn repeat_each(cycle: &[u8; CYCLE], ready: &PreparedRun, divider: usize, row: &mut [u8]) {
    let &PreparedRun { start, end, size, quotient, rest, k, .. } = ready;
    let mut at = SIZES[size & 255].modulo(quotient) as usize;
    if k != 0 {
        at = (at + usize::from(k)) % size;
    }
    let mut column = start;
    let mut left = divider - rest as usize;
    while column < end {
        let stop = if size == 1 { end } else { end.min(column.saturating_add(left)) };
        repeat(cycle[at], row, column, stop);
        column = stop;
        left = divider;
        at = if at + 1 == size { 0 } else { at + 1 };
    }
}

/// Writes one value from `start` to at least `end`, in steps of 64 bytes.
#[inline(always)]
fn repeat(value: u8, row: &mut [u8], start: usize, end: usize) {
    let mut column = start;
    while column < end {
        row[column..column + 64].copy_from_slice(&[value; 64]);
        column += 64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::kernel::choices::{OneByOne, Words};
    use crate::random::Random;

    /// Groups, ports and closer sets of any kind.
    fn choices(random: &mut Random, targets: u64, (groups, width): (usize, usize)) -> Choices {
        let mut choices = Choices { targets, groups, ..Choices::default() };
        let ports: Vec<u8> = (0..groups * width).map(|_| 1 + random.below(254) as u8).collect();
        choices.take_ports(width, ports.into_iter());
        let dense = random.below(3) > 0;
        let mut some = || -> [u64; 4] {
            let mut set = [0; 4];
            let only = random.below(groups as u64);
            for group in 0..groups {
                if group as u64 == only || dense && random.below(4) > 0 {
                    set[group / 64] |= 1 << (group % 64);
                }
            }
            set
        };
        let usual = some();
        for target in 0..64 {
            let set = if dense && target % 5 > 1 { usual } else { some() };
            for (by_target, word) in choices.masks.iter_mut().zip(set) {
                by_target[target] = word;
            }
        }
        let same = choices.masks.iter().map(OneByOne::same_as_before);
        choices.same = same.fold(u64::MAX, |all, word| all & word);
        choices
    }

    /// Eqs. (3) and (4), one destination.
    fn chosen(choices: &Choices, target: u8, q: u64, k: u64) -> u8 {
        let set = choices.set(target);
        let members: Vec<usize> =
            (0..choices.groups).filter(|g| set[g / 64] >> (g % 64) & 1 == 1).collect();
        let count = members.len() as u64;
        let (group, j) = (members[((q + k) % count) as usize], (q / count + k / count));
        choices.ports[(j % choices.width as u64) as usize * choices.groups + group]
    }

    /// Any masks, any ports, segments of any length: each twin against eqs. (3) and (4) themselves.
    #[test]
    fn every_twin_equals_the_formula() {
        let mut random = Random::new(4, 0);
        // Miri is some thousand times as slow.
        for round in 0..if cfg!(miri) { 6 } else { 600 } {
            let narrow = [(64, 1), (32, 1), (7, 1), (1, 1)];
            let wide = [(65, 1), (72, 1), (144, 1), (254, 1), (10, 7), (4, 8), (1, 254), (127, 2)];
            let mut shape = || match round % 3 {
                0 => wide[random.below(8) as usize],
                _ => narrow[random.below(4) as usize],
            };
            let shapes = [shape(), shape()];
            let single = shapes.iter().all(|shape| shape.1 == 1);
            let drawn = 0x1234_5678_9abc_def1u64.wrapping_mul(round);
            let up = choices(&mut random, drawn, shapes[0]);
            let down = choices(&mut random, u64::MAX / 3, shapes[1]);
            let mut segments = Vec::new();
            let mut start = 0;
            for target in 0..random.below(65) as u8 {
                for _ in 0..1 + random.below(2) * (round % 2) {
                    let length = 1 + random.below(if round % 7 == 0 { 200 } else { 40 }) as u32;
                    let size = 1 + random.below(31);
                    // Some continue the segment before.
                    let number = match segments.last() {
                        Some(&Segment { number, length, .. }) if random.below(2) > 0 => {
                            number + length
                        }
                        _ => random.below(1 << size) as u32,
                    };
                    let k = random.below(3) as u8 * random.below(60) as u8 * u8::from(single);
                    segments.push(Segment { start, length, number, target, k });
                    start += length;
                }
            }
            let mut value = || [1, 1, 2, 31, 32, 33, 1000, u32::MAX][random.below(8) as usize];
            let (up_value, down_value) = (value(), value());
            let spread = Spread {
                segments: &segments,
                chained: chains(&segments),
                up: &up,
                down: &down,
                up_divider: Divisor::new(up_value),
                down_divider: Divisor::new(down_value),
            };
            let mut expected = Vec::new();
            for segment in &segments {
                for i in 0..segment.length {
                    let q = |value: u32| u64::from(segment.number + i) / u64::from(value);
                    let k = segment.k.into();
                    expected.push(match spread.way(segment.target) {
                        Way::Nowhere => NO_ROUTE,
                        Way::Up => chosen(&up, segment.target, q(up_value), k),
                        Way::Down => chosen(&down, segment.target, q(down_value), k),
                    });
                }
            }
            for kernel in Kernel::all() {
                let mut row = vec![0; start as usize + SLACK];
                kernel.spread(&spread, &mut Cycles::default(), &mut row);
                assert_eq!(row[..start as usize], expected, "{}", kernel.name());
            }
        }
    }
}
