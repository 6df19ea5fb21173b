//! Sets of parts of a list.

use crate::bits::bits;

/// A set of parts, by their places in the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PartSet {
    words: Vec<u64>,
}

impl PartSet {
    /// Returns the empty set, for a list of this length.
    pub(super) fn none(length: usize) -> Self {
        PartSet { words: vec![0; length.div_ceil(64)] }
    }

    /// Returns the set of these parts.
    pub(super) fn of(length: usize, parts: impl IntoIterator<Item = usize>) -> Self {
        let mut set = PartSet::none(length);
        parts.into_iter().for_each(|part| set.words[part / 64] |= 1 << (part % 64));
        set
    }

    pub(super) fn has(&self, part: usize) -> bool {
        self.words[part / 64] >> (part % 64) & 1 == 1
    }

    /// Returns the set with one part more.
    pub(super) fn with(&self, part: usize) -> Self {
        let mut set = self.clone();
        set.words[part / 64] |= 1 << (part % 64);
        set
    }

    /// Returns the set with one part fewer.
    pub(super) fn without(&self, part: usize) -> Self {
        let mut set = self.clone();
        set.words[part / 64] &= !(1 << (part % 64));
        set
    }

    /// Returns the parts, ascending.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, &word)| bits(word).map(move |bit| at * 64 + bit))
    }
}
