//! Sets of groups, or of slots, of one switch: a bit for each, in one word or four.

use crate::bits::bits;

/// A set of at most 64 · `W` groups or slots.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupSet<const W: usize>(pub(super) [u64; W]);

impl<const W: usize> GroupSet<W> {
    pub(super) const EMPTY: Self = GroupSet([0; W]);

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    #[inline(always)]
    pub(super) fn has(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    #[inline(always)]
    pub(super) fn without(&self, other: &Self) -> Self {
        GroupSet(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    #[inline(always)]
    pub(super) fn and(&self, other: &Self) -> Self {
        GroupSet(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// Returns the members that fit into fewer words.
    #[inline(always)]
    pub(super) fn first_words<const LESS: usize>(&self) -> GroupSet<LESS> {
        GroupSet(std::array::from_fn(|at| self.0[at]))
    }

    /// Returns the members below `end`.
    #[inline(always)]
    pub(super) fn before(&self, end: u32) -> Self {
        GroupSet(std::array::from_fn(|at| match end.saturating_sub(64 * at as u32) {
            within @ 0..64 => self.0[at] & ((1 << within) - 1),
            _ => self.0[at],
        }))
    }

    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let words = self.0.into_iter().enumerate();
        words.flat_map(|(at, word)| bits(word).map(move |bit| at * 64 + bit))
    }

    /// Returns the n-th member, counted from 0. There must be more than n members.
    #[inline(always)]
    pub(super) fn nth(&self, mut n: u32) -> usize {
        let mut at = 0;
        while at + 1 < W {
            let here = self.0[at].count_ones();
            if n < here {
                break;
            }
            n -= here;
            at += 1;
        }
        at * 64 + nth_bit(self.0[at], n)
    }

    /// Returns the first member. There must be one.
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        let word = self.0.iter().position(|word| *word != 0).unwrap_or(0);
        word * 64 + self.0[word].trailing_zeros() as usize
    }

    /// Returns the next member after this one.
    #[inline(always)]
    pub(super) fn after(&self, member: usize) -> Option<usize> {
        let mut at = member / 64;
        // Shifted twice, as a shift by 64 is none.
        let mut word = self.0[at] & (u64::MAX << (member % 64) << 1);
        while word == 0 {
            at += 1;
            if at >= W {
                return None;
            }
            word = self.0[at];
        }
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    /// Returns how many members are before this one.
    #[inline(always)]
    pub(super) fn index(&self, member: usize) -> usize {
        self.before(member as u32).count() as usize
    }

    /// Returns the indices of these members among those of `all`, which contains all of them. For example, the
    /// members 5 and 9 of {2, 5, 9} have the indices 1 and 2.
    #[inline(always)]
    pub(super) fn indices_within(&self, all: &Self) -> Self {
        let mut indices = Self::EMPTY;
        self.iter().for_each(|member| indices.insert(all.index(member)));
        indices
    }
}

/// Returns the position of the n-th set bit of a word. It first finds the byte, from the number of bits in all bytes
/// up to each one, and then the bit in that byte.
#[inline(always)]
fn nth_bit(word: u64, n: u32) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let pairs = word - ((word >> 1) & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333);
    let up_to = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(ONES);
    // The top bit of each byte is set where n is not before its end.
    let beyond = ((u64::from(n) * ONES) | TOPS).wrapping_sub(up_to) & TOPS;
    let byte = 8 * beyond.count_ones();
    let before = if byte == 0 { 0 } else { up_to >> (byte - 8) & 255 };
    let (bits, n) = ((word >> byte) as u8, n - before as u32);
    byte as usize + usize::from(NTH[usize::from(bits)][n as usize & 7])
}

/// The n-th set bit of each byte.
static NTH: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut n) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                all[byte][n] = bit as u8;
                n += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn sets_are_as_lists() {
        let mut random = Random::new(8, 0);
        for _ in 0..500 {
            let one_in = 1 + random.below(20);
            let list: Vec<usize> = (0..256).filter(|_| random.below(one_in) == 0).collect();
            let mut set = GroupSet::<4>::EMPTY;
            list.iter().for_each(|member| set.insert(*member));
            assert!(set.iter().eq(list.iter().copied()));
            assert_eq!((set.count() as usize, set.is_empty()), (list.len(), list.is_empty()));
            for (n, &member) in list.iter().enumerate() {
                assert!(set.has(member));
                assert_eq!(set.nth(n as u32), member);
                assert_eq!(set.after(member), list.get(n + 1).copied());
                assert_eq!(set.index(member), n);
            }
            assert!(list.first().is_none_or(|first| set.first() == *first));
            assert_eq!(set.before(256).count(), set.count());
            let mut some = set;
            some.0[random.below(4) as usize] &= random.below(u64::MAX);
            let indices: Vec<usize> = (0..list.len()).filter(|&at| some.has(list[at])).collect();
            assert!(some.indices_within(&set).iter().eq(indices));
            assert!(set.and(&some).iter().eq(some.and(&set).iter()));
            assert!(set.and(&some).iter().eq(list.iter().copied().filter(|&m| some.has(m))));
            assert!(set.without(&some).iter().eq(list.iter().copied().filter(|&m| !some.has(m))));
        }
    }
}
