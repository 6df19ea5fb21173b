//! A short name for tables: equal tables have equal digests, whoever computed them and in what order.
//!
//! Each row of each tile is hashed with its place, and the hashes are added: so tiles can be digested
//! as they come, by any number of threads, and need not be kept. It tells mistakes, not forgeries.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use super::{ForwardingTables, Tile};
use crate::id::SwitchIndex;
use crate::parallel;

/// The digest of tables, or of a part of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest(u64);

/// An odd number with many bits: ⌊2⁶⁴ / φ⌋.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Digest {
    /// Returns the digest of the entries that one switch has for one tile.
    pub fn row(s: SwitchIndex, tile: &Tile, entries: &[u8]) -> Self {
        // Eight lanes, as one would be bound by the latency of its multiplications.
        let mut lanes: [u64; 8] = std::array::from_fn(|lane| lane as u64 + 1);
        let mut take = |line: &[u8; 64]| {
            for (lane, word) in lanes.iter_mut().zip(line.as_chunks::<8>().0) {
                *lane = (*lane ^ u64::from_le_bytes(*word)).wrapping_mul(ODD).rotate_left(29);
            }
        };
        let (lines, rest) = entries.as_chunks::<64>();
        lines.iter().for_each(&mut take);
        let mut last = [0; 64];
        last[..rest.len()].copy_from_slice(rest);
        take(&last);
        let place = [s.at(), tile.columns.start, entries.len()].map(|number| number as u64);
        Digest(place.into_iter().chain(lanes).fold(0, |hash, word| mix(hash ^ word)))
    }

    /// Returns the digest of some rows of a tile: its entries, switch by switch, from switch `first` on.
    pub fn rows(first: SwitchIndex, tile: &Tile, entries: &[u8]) -> Self {
        let rows = entries.chunks_exact(tile.columns.len()).enumerate();
        rows.map(|(at, row)| Digest::row(SwitchIndex::new(first.at() + at), tile, row)).sum()
    }
}

/// Returns a mixed word: every bit of it depends on every bit of `word`.
fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(ODD);
    let word = (word ^ word >> 29).wrapping_mul(ODD);
    word ^ word >> 32
}

impl From<u64> for Digest {
    /// Takes the sum of the digests of rows, computed elsewhere.
    fn from(sum: u64) -> Digest {
        Digest(sum)
    }
}

impl Add for Digest {
    type Output = Digest;

    fn add(self, other: Digest) -> Digest {
        Digest(self.0.wrapping_add(other.0))
    }
}

impl Sum for Digest {
    fn sum<I: Iterator<Item = Digest>>(parts: I) -> Digest {
        parts.fold(Digest::default(), Add::add)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl ForwardingTables {
    /// Returns the digest of all entries.
    pub fn digest(&self) -> Digest {
        let digest =
            |(tile, entries): (Tile, &[u8])| Digest::rows(SwitchIndex::new(0), &tile, entries);
        parallel::map(self.tiles(), digest).into_iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_entry_and_each_place_counts() {
        let tile = |index, start| Tile { index, switches: 0..64, columns: start..start + 200 };
        let entries: Vec<u8> = (0..200).map(|i| (i % 40) as u8).collect();
        let (first, later) = (tile(0, 0), tile(1, 200));
        let digest =
            |s, tile: &Tile, entries: &[u8]| Digest::row(SwitchIndex::new(s), tile, entries);
        let mut all = std::collections::HashSet::new();
        for at in 0..200 {
            let mut changed = entries.clone();
            changed[at] ^= 1;
            all.insert(digest(3, &first, &changed));
            changed.swap(0, 199);
            all.insert(digest(3, &first, &changed));
        }
        all.insert(digest(3, &first, &entries));
        all.insert(digest(4, &first, &entries));
        all.insert(digest(3, &later, &entries));
        all.insert(digest(3, &first, &entries[..199]));
        assert_eq!(all.len(), 404, "no two of them are the same");
    }
}
