//! The closer sets of one switch by destination switch (eq. (1)), gathered from masks by group.
//!
//! Costs give, for each group, the targets that it is closer to: one word of 64 targets for each group. Eqs. (3) and (4)
//! need, for each target, the groups that are closer to it: one word of 64 groups for each target (four words for up to
//! 256 groups). That is a [transposition](super::transpose) of a square of bits.
//!
//! Layout: `masks[w][t]` has bit `g % 64` set if group `g`, with `g / 64 = w`, is closer to target `t`.
//!
//! An example with the groups a, b, c and the targets 0 and 1: a is closer to both, b to target 0, c to target 1. By group,
//! the masks are `[0b11, 0b01, 0b10]`. By target, with bit 0 for a, they are `[0b011, 0b101]`: target 0 has the closer set
//! {a, b}, target 1 has {a, c}.
//!
//! Departures from a plain transposition: where every group is closer to every target, nothing is transposed
//! (`are_all`); few targets or few groups are looked at one by one; and targets whose set equals that of the target before
//! are marked (`same`), because `spread` then continues with the same cycle.

use super::transpose::transpose;
use crate::bits::bits;

/// Room for the ports of a switch, at most 254, and 64 bytes of padding.
const PORTS: usize = 256 + 64;

/// The groups of one switch in one direction, and which of them are closer to which targets.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// The targets that are reached in this direction.
    pub(crate) targets: u64,
    /// How many groups there are.
    pub(super) groups: usize,
    /// How many ports each group has.
    pub(super) width: usize,
    /// The first ports of all groups, then their second ports, and so on. Padding follows, so that 64 bytes can be read
    /// starting at any port.
    pub(super) ports: [u8; PORTS],
    /// The closer set of each of the `targets`: a bit for each group, in four words. On the heap, since a thread
    /// has many of these, and its stack may be small.
    pub(super) masks: Box<[[u64; 64]; 4]>,
    /// The targets whose closer set is that of the target before.
    pub(super) same: u64,
    /// Whether every set is that of all groups.
    pub(super) are_all: bool,
    /// Whether `same` is left unset, because the sets are only looked up target by target.
    pub(super) one_by_one: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Choices {
            targets: 0,
            groups: 0,
            width: 1,
            ports: [0; PORTS],
            masks: Box::new([[0; 64]; 4]),
            same: 0,
            are_all: false,
            one_by_one: false,
        }
    }
}

/// Up to this number of targets, or groups, are looked at one by one.
const FEW: u32 = 4;

/// Questions about many words, answered with a bit for each. (A trait, so that [`Choices::gather`] is
/// compiled for each processor.)
pub(super) trait Words {
    /// Returns which of at most 64 words are not 0.
    fn nonzero(words: &[u64]) -> u64;
    /// Returns which of at most 64 words have this value.
    fn equal(words: &[u64], value: u64) -> u64;
    /// Returns which words equal the one before.
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
    /// Returns choices whose sets are only looked up target by target.
    pub(crate) fn one_by_one() -> Self {
        Choices { one_by_one: true, ..Choices::default() }
    }

    /// Sets the closer set of each of these targets to all `groups` groups, of which there are at most 256.
    pub(crate) fn take_all(&mut self, targets: u64, groups: usize) {
        let are_taken = self.are_all && self.groups == groups;
        (self.targets, self.groups, self.same) = (targets, groups, u64::MAX);
        self.are_all = true;
        if !are_taken {
            for (word, by_target) in self.masks.iter_mut().enumerate() {
                let here = groups.saturating_sub(64 * word).min(64);
                by_target.fill(if here == 0 { 0 } else { u64::MAX >> (64 - here) });
            }
        }
    }

    /// Transposes closer sets: from `through` (for each group, the targets that it is closer to; no others than these)
    /// to `masks` (for each target, the groups that are closer to it). In a healthy fabric all groups upwards have the
    /// same mask, and nothing has to be transposed.
    #[inline(always)]
    pub(super) fn gather<W: Words>(&mut self, targets: u64, through: &[u64]) {
        self.targets = targets;
        self.groups = through.len();
        self.same = 0;
        self.are_all = false;
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
        if self.one_by_one {
            for (by_target, through) in self.masks.iter_mut().zip(through.chunks(64)) {
                by_target[..through.len()].copy_from_slice(through);
                by_target[through.len()..].fill(0);
                W::transpose(by_target);
            }
            return;
        }
        let mut same = u64::MAX;
        for (by_target, through) in self.masks.iter_mut().zip(through.chunks(64)) {
            let set = W::nonzero(through);
            if W::equal(through, targets) == set {
                by_target.fill(set);
                continue;
            }
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
            same &= W::same_as_before(by_target);
        }
        self.same = same;
    }

    /// Takes the ports of the groups, of which each has `width`, one group after the other.
    pub(crate) fn take_ports(&mut self, width: usize, ports: impl Iterator<Item = u8>) {
        self.width = width;
        if width == 1 {
            self.ports.iter_mut().zip(ports).for_each(|(to, port)| *to = port);
            return;
        }
        let (mut group, mut j) = (0, 0);
        for port in ports {
            self.ports[j * self.groups + group] = port;
            j += 1;
            if j == width {
                (group, j) = (group + 1, 0);
            }
        }
    }

    /// Returns the closer set of a target: a bit for each group.
    #[inline(always)]
    pub(crate) fn set(&self, target: u8) -> [u64; 4] {
        let at = usize::from(target & 63);
        let word = |word: usize| if word * 64 < self.groups { self.masks[word][at] } else { 0 };
        std::array::from_fn(word)
    }

    /// Returns the first word of the closer set of each target. Words of other targets mean nothing.
    pub(crate) fn first_words(&self) -> &[u64; 64] {
        &self.masks[0]
    }

    /// Returns the closer set of a target in as many words as there are groups for.
    #[inline(always)]
    pub(crate) fn words<const W: usize>(&self, target: u8) -> [u64; W] {
        std::array::from_fn(|word| match word * 64 < self.groups {
            true => self.masks[word][usize::from(target & 63)],
            false => 0,
        })
    }

    /// Returns whether one word has a bit for each port.
    pub(super) fn is_narrow(&self) -> bool {
        self.targets == 0 || self.groups <= 64 && self.width == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::random::Random;

    /// Closer sets by target are those by group, however few or many, alike or not.
    #[test]
    fn every_twin_gathers_the_same_sets() {
        let mut random = Random::new(6, 0);
        // Miri is some thousand times as slow.
        for round in 0..if cfg!(miri) { 6 } else { 600 } {
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
                let one_by_one = round % 2 == 0;
                let mut choices =
                    Choices { masks: Box::new([[7; 64]; 4]), one_by_one, ..Choices::default() };
                kernel.gather(&mut choices, targets, &through);
                for target in bits(targets) {
                    let set = choices.set(target as u8);
                    for (at, mask) in through.iter().enumerate() {
                        assert_eq!(set[at / 64] >> (at % 64) & 1, mask >> target & 1);
                    }
                    if choices.same >> target & 1 == 1
                        && target > 0
                        && targets >> (target - 1) & 1 == 1
                    {
                        assert_eq!(set, choices.set(target as u8 - 1));
                    }
                }
            }
        }
    }
}
