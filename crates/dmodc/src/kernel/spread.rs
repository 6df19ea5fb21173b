//! From closer sets to entries: eqs. (3) and (4) for the destination switches of a tile at once,
//! where every group has one port and no switch more than 64 groups in one direction.
//!
//! ```text
//! for each segment of consecutive numbers d, d + 1 …:
//!     cycle = the ports of the closer set, in order          (compress: the ports under a mask)
//!     entry of number d = cycle[(⌊d / Π⌋ + k) mod #cycle]     (with one port to a group, k-th LID)
//! ```
//!
//! Departures from that:
//! 1. Segments that continue each other under the same mask are one run, for which the cycle is
//!    compressed once.
//! 2. Divisions are multiplications: by the reciprocal of Π, one to a row, and by that of #cycle, from
//!    a table.
//! 3. Entries are written 64 at a time. What that writes behind a run belongs to the next one and
//!    is written again, or is slack behind the row.
//! 4. For Π = 1 the entries are the cycle itself, rotated, and so 64 of them are one copy out of the
//!    cycle written down twice; for Π > 1 each port of the cycle is repeated.

use super::rows::bits;
use super::transpose::transpose;
use crate::tables::{NO_ROUTE, Segment};

/// How many bytes behind its last entry a row needs.
pub(crate) const SLACK: usize = 64;

/// The groups of one switch in one direction, and which of them are closer to which targets.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// The targets that are reached in this direction.
    pub(crate) targets: u64,
    /// The port of each group.
    pub(crate) ports: [u8; 64],
    /// The closer set of each of the `targets`: a bit for each group. Groups beyond 64 have theirs in
    /// the words that follow; none of the loops here takes those.
    pub(crate) masks: [[u64; 64]; 4],
    /// The targets whose closer set (its first word) is that of the target before.
    same: u64,
}

impl Default for Choices {
    fn default() -> Self {
        Choices { targets: 0, ports: [0; 64], masks: [[0; 64]; 4], same: 0 }
    }
}

/// Up to so many targets, or groups, are looked at one by one.
const FEW: u32 = 4;

/// Questions about many words, answered with a bit for each. (A trait, so that [`Choices::gather`] is
/// compiled for each processor.)
pub(super) trait Words {
    /// Which of at most 64 words are not 0.
    fn nonzero(words: &[u64]) -> u64;
    /// Which of at most 64 words have this value.
    fn equal(words: &[u64], value: u64) -> u64;
    /// Which words equal the one before.
    fn same_as_before(words: &[u64; 64]) -> u64;
    /// Bit `i` of word `j` becomes bit `j` of word `i`.
    fn transpose(words: &mut [u64; 64]);
}

/// The portable answers.
pub(super) struct OneByOne;

impl Words for OneByOne {
    #[inline(always)]
    fn nonzero(words: &[u64]) -> u64 {
        words.iter().enumerate().fold(0, |set, (at, &word)| set | u64::from(word != 0) << at)
    }

    #[inline(always)]
    fn equal(words: &[u64], value: u64) -> u64 {
        words.iter().enumerate().fold(0, |set, (at, &word)| set | u64::from(word == value) << at)
    }

    #[inline(always)]
    fn same_as_before(words: &[u64; 64]) -> u64 {
        let pairs = words[1..].iter().zip(words).enumerate();
        pairs.fold(0, |same, (at, (now, before))| same | u64::from(now == before) << (at + 1))
    }

    #[inline(always)]
    fn transpose(words: &mut [u64; 64]) {
        transpose(words);
    }
}

impl Choices {
    /// Takes the closer sets of these targets from the masks of the groups (which have no other
    /// targets). In a healthy fabric all groups upwards have the same mask, and nothing is to be
    /// sorted out.
    #[inline(always)]
    pub(super) fn gather<W: Words>(&mut self, targets: u64, through: &[u64]) {
        self.targets = targets;
        self.same = 0;
        if targets.count_ones() <= FEW {
            for target in bits(targets) {
                for (word, through) in through.chunks(64).enumerate() {
                    let member = |(at, mask): (usize, &u64)| (mask >> target & 1) << at;
                    let set = through.iter().enumerate().map(member).fold(0, |set, bit| set | bit);
                    self.masks[word][target] = set;
                }
            }
            return;
        }
        let mut all_alike = true;
        for (by_target, through) in self.masks.iter_mut().zip(through.chunks(64)) {
            let set = W::nonzero(through);
            if W::equal(through, targets) == set {
                by_target.fill(set);
                continue;
            }
            all_alike = false;
            if set.count_ones() <= FEW {
                by_target.fill(0);
                for at in bits(set) {
                    for target in bits(through[at]) {
                        by_target[target] |= 1 << at;
                    }
                }
            } else {
                by_target[..through.len()].copy_from_slice(through);
                by_target[through.len()..].fill(0);
                W::transpose(by_target);
            }
        }
        self.same = if all_alike { u64::MAX } else { W::same_as_before(&self.masks[0]) };
    }

    /// The closer set of a target among so many groups: a bit for each.
    pub(crate) fn set(&self, target: u8, groups: usize) -> [u64; 4] {
        let word = |word: usize| match word * 64 < groups {
            true => self.masks[word][usize::from(target)],
            false => 0,
        };
        std::array::from_fn(word)
    }
}

/// A number to divide by, with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(crate) value: u32,
    /// ⌈2⁶⁴ / value⌉, which is exact for dividends of 32 bits; 0 stands for 2⁶⁴.
    reciprocal: u64,
}

impl Divisor {
    pub(crate) const fn new(value: u32) -> Self {
        Divisor { value, reciprocal: (u64::MAX / value as u64).wrapping_add(1) }
    }

    #[inline(always)]
    pub(crate) fn divide(&self, dividend: u32) -> u32 {
        match self.reciprocal {
            0 => dividend,
            reciprocal => ((u128::from(reciprocal) * u128::from(dividend)) >> 64) as u32,
        }
    }

    /// The rest: the fraction of the quotient, times the divisor.
    #[inline(always)]
    pub(crate) fn modulo(&self, dividend: u32) -> u32 {
        let fraction = self.reciprocal.wrapping_mul(u64::from(dividend));
        ((u128::from(fraction) * u128::from(self.value)) >> 64) as u32
    }
}

/// Divisors up to 64: the sizes of closer sets. (The first one is not used.)
pub(super) const SIZES: [Divisor; 65] = {
    let mut sizes = [Divisor::new(1); 65];
    let mut n = 1;
    while n <= 64 {
        sizes[n] = Divisor::new(n as u32);
        n += 1;
    }
    sizes
};

/// What is to be written: segments of one tile, ascending, for one switch.
pub(crate) struct Spread<'a> {
    pub(crate) segments: &'a [Segment],
    /// The targets whose numbers continue those of the target before. Not 0 only if all targets of the
    /// tile are given, and each has one segment.
    pub(crate) chained: u64,
    pub(crate) up: &'a Choices,
    pub(crate) down: &'a Choices,
    /// Π.
    pub(crate) divider: Divisor,
}

/// Which segments continue the one before in numbers, if each target has one; else 0.
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

/// A closer set: the direction, and a bit for each group in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// No route.
    None,
    Up(u64),
    Down(u64),
}

/// Segments that follow each other in columns and in numbers and have the same closer set: in a healthy
/// fabric a whole row, in a damaged one most often one segment.
pub(super) struct Run {
    pub(super) set: Set,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) number: u32,
    pub(super) k: u8,
}

impl Spread<'_> {
    #[inline(always)]
    pub(super) fn set(&self, target: u8) -> Set {
        let at = usize::from(target & 63);
        match (self.up.targets >> at & 1, self.down.targets >> at & 1) {
            (1, _) => Set::Up(self.up.masks[0][at]),
            (_, 1) => Set::Down(self.down.masks[0][at]),
            _ => Set::None,
        }
    }

    /// The segments that begin a run.
    #[inline(always)]
    fn starts(&self) -> u64 {
        let both = |targets: u64| targets & targets << 1;
        let (up, down) = (self.up.targets, self.down.targets);
        let as_before = both(up) & self.up.same | both(down) & self.down.same | both(!(up | down));
        let all = u64::MAX >> (64 - self.segments.len().clamp(1, 64));
        all & !(self.chained & as_before)
    }

    /// The segments as runs, in order.
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
                set: self.set(first.target),
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
    /// The `ports` whose bits are set, in order, from the start of `to`. What follows them is
    /// undefined. Says how many.
    fn compress(ports: &[u8; 64], mask: u64, to: &mut [u8; CYCLE]) -> usize;
}

/// A cycle and its repetition: room for 64 ports, those again, and one copy of 64 bytes over the end.
pub(super) const CYCLE: usize = 192;

struct BitByBit;

impl Compress for BitByBit {
    #[inline(always)]
    fn compress(ports: &[u8; 64], mask: u64, to: &mut [u8; CYCLE]) -> usize {
        let (mut left, mut count) = (mask, 0);
        while left != 0 {
            to[count] = ports[left.trailing_zeros() as usize & 63];
            count += 1;
            left &= left - 1;
        }
        count
    }
}

pub(super) fn portable(spread: &Spread<'_>, row: &mut [u8]) {
    each_run::<BitByBit>(spread, row);
}

/// The loop, over any way to compress.
#[inline(always)]
pub(super) fn each_run<C: Compress>(spread: &Spread<'_>, row: &mut [u8]) {
    let mut cycle = [NO_ROUTE; CYCLE];
    let mut last = Set::None;
    let mut size = 1;
    for Run { set, start, end, number, k } in spread.runs() {
        if set != last {
            size = match set {
                Set::None => {
                    cycle[0] = NO_ROUTE;
                    1
                }
                Set::Up(mask) => C::compress(&spread.up.ports, mask, &mut cycle),
                Set::Down(mask) => C::compress(&spread.down.ports, mask, &mut cycle),
            };
            double(&mut cycle, size);
            last = set;
        }
        if size == 1 {
            repeat(cycle[0], row, start, end);
            continue;
        }
        let q = spread.divider.divide(number);
        let mut at = SIZES[size].modulo(q) as usize;
        if k != 0 {
            at = (at + usize::from(k)) % size;
        }
        let mut column = start;
        if spread.divider.value == 1 {
            while column < end {
                row[column..column + 64].copy_from_slice(&cycle[at..at + 64]);
                column += 64;
                at = (at + 64) % size;
            }
            continue;
        }
        let divider = spread.divider.value as usize;
        let mut left = divider - (number - q * spread.divider.value) as usize;
        while column < end {
            let stop = end.min(column + left);
            repeat(cycle[at], row, column, stop);
            column = stop;
            left = divider;
            at = if at + 1 == size { 0 } else { at + 1 };
        }
    }
}

/// Writes one value from `start` to `end`, and over it.
#[inline(always)]
fn repeat(value: u8, row: &mut [u8], start: usize, end: usize) {
    let mut column = start;
    while column < end {
        row[column..column + 64].copy_from_slice(&[value; 64]);
        column += 64;
    }
}

/// Repeats the first `size` bytes, so that 64 can be read from any of them on.
#[inline(always)]
fn double(cycle: &mut [u8; CYCLE], size: usize) {
    let mut have = size;
    while have < size + 64 {
        let block: [u8; 64] = *cycle.first_chunk().expect("a cycle is longer than 64 bytes");
        // Only the first `whole` of these are right; what follows them is overwritten, or never read.
        cycle[have..have + 64].copy_from_slice(&block);
        let whole = have.min(64);
        have += whole - whole % size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::random::Random;

    #[test]
    fn reciprocals_divide_exactly() {
        let mut random = Random::new(2, 0);
        let edges = [0, 1, 2, 63, 64, 1 << 16, u32::MAX - 1, u32::MAX];
        for value in (1..=300).chain([1024, 65_537, u32::MAX - 1, u32::MAX]) {
            let divisor = Divisor::new(value);
            let drawn: Vec<u32> = (0..200).map(|_| random.below(1 << 32) as u32).collect();
            let near = [value - 1, value, value.saturating_add(1), u32::MAX / value * value];
            for dividend in edges.into_iter().chain(near).chain(drawn) {
                assert_eq!(divisor.divide(dividend), dividend / value);
                assert_eq!(divisor.modulo(dividend), dividend % value);
            }
        }
    }

    /// Closer sets by target are those by group, however few or many, alike or not.
    #[test]
    fn every_twin_gathers_the_same_sets() {
        let mut random = Random::new(6, 0);
        for round in 0..600 {
            let targets = match round % 3 {
                0 => 1 << random.below(64) | 1 << random.below(64),
                1 => u64::MAX,
                _ => random.below(u64::MAX),
            };
            let groups = [3, 32, 64, 72, 254][random.below(5) as usize];
            let through: Vec<u64> = (0..groups)
                .map(|_| match (round / 3 % 4, random.below(8)) {
                    (0, _) | (1, 1..) => targets,
                    (2, 1..) => 0,
                    _ => targets & random.below(u64::MAX),
                })
                .collect();
            for kernel in Kernel::all() {
                let mut choices = Choices { masks: [[7; 64]; 4], ..Choices::default() };
                kernel.gather(&mut choices, targets, &through);
                for target in bits(targets) {
                    let set = choices.set(target as u8, groups);
                    for (at, mask) in through.iter().enumerate() {
                        assert_eq!(set[at / 64] >> (at % 64) & 1, mask >> target & 1);
                    }
                    if choices.same >> target & 1 == 1
                        && target > 0
                        && targets >> (target - 1) & 1 == 1
                    {
                        assert_eq!(choices.masks[0][target], choices.masks[0][target - 1]);
                    }
                }
            }
        }
    }

    /// Any masks, any ports, segments of any length: each twin against eqs. (3) and (4) themselves.
    #[test]
    fn every_twin_equals_the_formula() {
        let mut random = Random::new(4, 0);
        for round in 0..400 {
            let mut side = |targets: u64, dense: bool| {
                let mut choices = Choices { targets, ..Choices::default() };
                choices.ports = std::array::from_fn(|_| 1 + random.below(254) as u8);
                let all = random.below(u64::MAX) | 1 << random.below(64);
                choices.masks[0] = std::array::from_fn(|at| match dense {
                    true if at % 5 > 1 => all,
                    true => all & random.below(u64::MAX) | 1 << random.below(64),
                    false => 1 << random.below(64),
                });
                choices.same = OneByOne::same_as_before(&choices.masks[0]);
                choices
            };
            let (up, down) = (
                side(0x1234_5678_9abc_def1u64.wrapping_mul(round), true),
                side(u64::MAX / 3, false),
            );
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
                    let k = random.below(3) as u8 * random.below(60) as u8;
                    segments.push(Segment { start, length, number, target, k });
                    start += length;
                }
            }
            let value = [1, 1, 2, 31, 32, 33, 1000, u32::MAX][random.below(8) as usize];
            let divider = Divisor::new(value);
            let chained = chains(&segments);
            let spread = Spread { segments: &segments, chained, up: &up, down: &down, divider };
            let mut expected = Vec::new();
            for segment in &segments {
                for i in 0..segment.length {
                    let choice = match spread.set(segment.target) {
                        Set::None => None,
                        Set::Up(mask) => Some((mask, &up.ports)),
                        Set::Down(mask) => Some((mask, &down.ports)),
                    };
                    expected.push(match choice {
                        None => NO_ROUTE,
                        Some((mask, ports)) => {
                            let q = u64::from(segment.number + i) / u64::from(value);
                            let wanted = (q + u64::from(segment.k)) % u64::from(mask.count_ones());
                            let bit = crate::kernel::bits(mask).nth(wanted as usize).unwrap();
                            ports[bit]
                        }
                    });
                }
            }
            for kernel in Kernel::all() {
                let mut row = vec![0; start as usize + SLACK];
                kernel.spread(&spread, &mut row);
                assert_eq!(row[..start as usize], expected, "{}", kernel.name());
            }
        }
    }
}
