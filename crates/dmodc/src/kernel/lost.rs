//! Some entries of a row, taken in turn from a cycle of ports; the entries between them stay.
//!
//! ```text
//! for each piece of at most 64 entries:
//!     cycle = the ports of some groups, in order
//!     the n-th of its lost entries = cycle[(at + n) mod #cycle]
//! ```
//!
//! An example: the groups have the ports 1, 2, 3, 4, and `groups = 0b1011`, so the cycle is 1, 2, 4. The piece has four
//! entries, 7 7 7 7, with `lost = 0b0110` and `at = 2`. The first lost entry gets the third port of the cycle, the next
//! one its first: the entries become 7 4 1 7.
//!
//! As in [`spread`](super::spread), the cycles of some pieces are written down before they are read, and each is written
//! often enough that 64 ports can be read from any place on. A piece with few lost entries gets them one by one: a cycle takes
//! longer.

use super::differ::{Compare, Difference};
use super::spread::{BATCH, BitByBit, CYCLE, Compress, Cycles, write_again};
use crate::bits::bits;

/// Pieces of one row: an element for each piece in each field.
#[derive(Clone, Copy)]
pub(crate) struct LostPieces<'a> {
    /// Where the pieces begin.
    pub(crate) starts: &'a [u32],
    /// The lost entries: a bit for each entry from there on. Pieces without any are skipped.
    pub(crate) lost: &'a [u64],
    /// The groups whose ports are taken in turn; at least one.
    pub(crate) groups: &'a [u64],
    /// The index, among these groups, of the one that the first lost entry takes.
    pub(crate) at: &'a [u32],
    /// The target that the entries belong to.
    pub(crate) targets: &'a [u8],
}

/// One of the pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LostPiece {
    pub(super) start: usize,
    pub(super) lost: u64,
    pub(super) groups: u64,
    pub(super) at: u32,
    pub(super) target: u8,
}

impl<'a> LostPieces<'a> {
    /// Returns the pieces with lost entries.
    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = LostPiece> + use<'a> {
        let mut next = 0;
        std::iter::from_fn(
            #[inline(always)]
            move || {
                next += self.lost.get(next..)?.iter().position(|lost| *lost != 0)? + 1;
                Some(self.piece(next - 1))
            },
        )
    }

    /// Returns whether all pieces have their lost entries among the first 32, and their groups, too. Pieces without lost entries
    /// count, so that some are called wide although they are narrow.
    #[inline(always)]
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "the portable loop is the same for all pieces")
    )]
    pub(super) fn are_narrow(self) -> bool {
        let all = self.lost.iter().chain(self.groups).fold(0, |all, word| all | word);
        all >> 32 == 0
    }

    /// Returns one piece.
    #[inline(always)]
    pub(super) fn piece(self, at: usize) -> LostPiece {
        LostPiece {
            start: self.starts[at] as usize,
            lost: self.lost[at],
            groups: self.groups[at],
            at: self.at[at],
            target: self.targets[at],
        }
    }
}

/// Puts bytes where the bits of a mask are. (A trait, so that [`each_piece`] is compiled for each
/// processor.)
pub(super) trait Expand: Compress {
    /// Writes the first bytes of `from` over those of `to` whose bits are set, in order. Those between
    /// them stay.
    fn expand(from: &[u8; 72], mask: u64, to: &mut [u8; 64]);

    /// Does the same with a copy of 32 bytes, and returns it.
    fn expand_32(from: &[u8; 72], mask: u32, to: &[u8; 32]) -> [u8; 32];

    /// Returns the position of the n-th set bit of a word, counted from 0. There must be more than n.
    fn nth_bit(word: u64, n: u32) -> usize;
}

impl Expand for BitByBit {
    #[inline(always)]
    fn expand(from: &[u8; 72], mask: u64, to: &mut [u8; 64]) {
        for (byte, bit) in from.iter().zip(bits(mask)) {
            to[bit & 63] = *byte;
        }
    }

    #[inline(always)]
    fn expand_32(from: &[u8; 72], mask: u32, to: &[u8; 32]) -> [u8; 32] {
        let mut new = *to;
        for (byte, bit) in from.iter().zip(bits(mask.into())) {
            new[bit & 31] = *byte;
        }
        new
    }

    #[inline(always)]
    fn nth_bit(word: u64, n: u32) -> usize {
        bits(word).nth(n as usize).unwrap_or(0)
    }
}

/// Calls `each` with the index of each piece that has lost entries, and with the group that the first of them takes.
#[inline(always)]
pub(super) fn each_first_group<E: Expand>(
    pieces: LostPieces<'_>,
    mut each: impl FnMut(usize, usize),
) {
    for (at, lost) in pieces.lost.iter().enumerate() {
        if *lost != 0 {
            each(at, E::nth_bit(pieces.groups[at], pieces.at[at]));
        }
    }
}

/// Writes the lost entries of a row. A row has [`SLACK`](super::SLACK) behind its entries.
#[inline(always)]
pub(super) fn write<E: Expand>(
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    cycles: &mut Cycles,
    row: &mut [u8],
) {
    each_piece::<E>(ports, pieces, cycles, |piece, new| {
        let entries = &mut row[piece.start..];
        match new {
            NewPorts::Few(few) => few.each(|at, port| entries[at] = port),
            NewPorts::Turned(from) => {
                E::expand(from, piece.lost, entries.first_chunk_mut().expect("a row has slack"));
            }
        }
    });
}

/// Writes the lost entries of a row without slack, if they differ, and returns what that changes.
#[inline(always)]
pub(super) fn patch<E: Expand, C: Compare>(
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    cycles: &mut Cycles,
    row: &mut [u8],
) -> Difference {
    let mut difference = Difference::default();
    each_piece::<E>(ports, pieces, cycles, |piece, new| {
        let entries = &mut row[piece.start..];
        let differing = match new {
            NewPorts::Few(few) => {
                let mut differing = 0;
                few.each(|at, port| {
                    differing |= u64::from(entries[at] != port) << at;
                    entries[at] = port;
                });
                differing
            }
            // The entries of the next piece are not read and written again, so it does not have to wait for them.
            NewPorts::Turned(from) if piece.lost >> 32 == 0 => {
                with_slack(entries, |entries: &mut [u8; 32]| {
                    let new = E::expand_32(from, piece.lost as u32, entries);
                    let differing = C::differ_32(entries, &new);
                    if differing != 0 {
                        *entries = new;
                    }
                    differing.into()
                })
            }
            NewPorts::Turned(from) => with_slack(entries, |entries: &mut [u8; 64]| {
                let mut new = *entries;
                E::expand(from, piece.lost, &mut new);
                let differing = C::differ(entries, &new);
                if differing != 0 {
                    *entries = new;
                }
                differing
            }),
        };
        if differing != 0 {
            difference.add(differing, piece.target);
        }
    });
    difference
}

/// Calls `change` with the first N entries, or with a copy if there are less. Returns what it returns.
#[inline(always)]
pub(super) fn with_slack<const N: usize, T>(
    entries: &mut [u8],
    change: impl FnOnce(&mut [u8; N]) -> T,
) -> T {
    match entries.first_chunk_mut() {
        Some(entries) => change(entries),
        None => {
            let mut room = [0; N];
            room[..entries.len()].copy_from_slice(entries);
            let result = change(&mut room);
            entries.copy_from_slice(&room[..entries.len()]);
            result
        }
    }
}

/// Up to this number of lost entries are written one by one.
const FEW: u32 = 4;

/// The ports of the lost entries of a piece.
enum NewPorts<'a> {
    Few(FewPorts<'a>),
    /// The ports in turn, from that of the first lost entry on.
    Turned(&'a [u8; 72]),
}

/// A piece whose lost entries are written one by one.
struct FewPorts<'a> {
    ports: &'a [u8; 64],
    lost: u64,
    groups: u64,
    /// The group of the first lost entry.
    group: usize,
}

impl FewPorts<'_> {
    /// Calls `each` with each lost entry and its port.
    #[inline(always)]
    fn each(self, mut each: impl FnMut(usize, u8)) {
        let FewPorts { ports, lost, groups, mut group } = self;
        for at in bits(lost) {
            each(at, ports[group & 63]);
            // Shifted twice, as a shift by 64 is none.
            let later = groups & (u64::MAX << (group & 63) << 1);
            let from = if later == 0 { groups } else { later };
            group = from.trailing_zeros() as usize;
        }
    }
}

/// Repeats the first `size` ports, so that N can be read from any of them on.
#[inline(always)]
pub(super) fn repeat<const N: usize>(cycle: &mut [u8; CYCLE], size: usize) {
    if size == 1 {
        let only = cycle[0];
        cycle[..64].fill(only);
    } else {
        write_again::<N>(cycle, size);
    }
}

/// The loop, over any way to compress: calls `each` with each piece and its ports.
#[inline(always)]
fn each_piece<E: Expand>(
    ports: &[u8; 64],
    pieces: LostPieces<'_>,
    cycles: &mut Cycles,
    mut each: impl FnMut(&LostPiece, NewPorts<'_>),
) {
    let mut pieces = pieces.iter();
    let mut batch = [LostPiece::default(); BATCH];
    loop {
        let mut count = 0;
        while count < BATCH
            && let Some(piece) = pieces.next()
        {
            let LostPiece { lost, groups, at, .. } = piece;
            if lost.count_ones() <= FEW {
                let group = E::nth_bit(groups, at);
                each(&piece, NewPorts::Few(FewPorts { ports, lost, groups, group }));
            } else {
                batch[count] = piece;
                count += 1;
            }
        }
        let batch = &batch[..count];
        let mut sizes = [0; BATCH];
        for ((piece, cycle), size) in batch.iter().zip(cycles.0.iter_mut()).zip(&mut sizes) {
            *size = E::compress(ports, piece.groups, cycle);
        }
        for ((piece, cycle), size) in batch.iter().zip(cycles.0.iter_mut()).zip(sizes) {
            match piece.lost.count_ones() {
                0..=32 => repeat::<32>(cycle, size),
                _ => repeat::<64>(cycle, size),
            }
        }
        for (piece, cycle) in batch.iter().zip(cycles.0.iter()) {
            let from = cycle[piece.at as usize..].first_chunk().expect("a cycle has more room");
            each(piece, NewPorts::Turned(from));
        }
        if count < BATCH {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, SLACK};
    use crate::random::Random;

    /// Returns the index of each piece with lost entries, and the group of the first one.
    fn first_groups(pieces: LostPieces<'_>) -> Vec<(usize, usize)> {
        let with_lost = (0..pieces.lost.len()).filter(|&at| pieces.lost[at] != 0);
        let group = |at: usize| (0..64).filter(move |bit| pieces.groups[at] >> bit & 1 == 1);
        with_lost.map(|at| (at, group(at).nth(pieces.at[at] as usize).unwrap())).collect()
    }

    /// Any pieces, with every twin: each entry is the one that the words above say, or as it was.
    #[test]
    fn every_twin_writes_the_same_entries() {
        let mut random = Random::new(9, 0);
        // Miri is some thousand times as slow.
        for round in 0..if cfg!(miri) { 6 } else { 400 } {
            let ports: [u8; 64] = std::array::from_fn(|_| 1 + random.below(254) as u8);
            let mut start = 0;
            let (mut starts, mut losts, mut sets, mut places) = (vec![], vec![], vec![], vec![]);
            let mut targets = vec![];
            // Some forms have a loop of its own for narrow pieces.
            let widest = if round % 4 < 2 { 64 } else { 32 };
            for _ in 0..random.below(150) {
                let length = 1 + random.below(widest);
                let few = random.below(u64::MAX) & random.below(u64::MAX);
                let lost = [few, random.below(u64::MAX), u64::MAX][round % 3];
                let others = random.below(u64::MAX) >> (64 - widest) >> random.below(widest);
                let groups = 1 << random.below(widest) | others;
                let groups = if round % 5 == 0 { groups & groups.wrapping_neg() } else { groups };
                let at = random.below(groups.count_ones().into()) as u32;
                starts.push(start as u32);
                losts.push(lost >> (64 - length));
                sets.push(groups);
                places.push(at);
                targets.push(random.below(64) as u8);
                start += length as usize;
            }
            let before: Vec<u8> = (0..start + SLACK).map(|_| random.below(255) as u8).collect();
            let mut wanted = before.clone();
            let pieces = LostPieces {
                starts: &starts,
                lost: &losts,
                groups: &sets,
                at: &places,
                targets: &targets,
            };
            let targets_of = |rows: [&[u8]; 2]| {
                let differs = |piece: &LostPiece| {
                    let [a, b] = rows.map(|row| &row[piece.start..][..64.min(start - piece.start)]);
                    bits(piece.lost).any(|bit| a[bit] != b[bit])
                };
                pieces.iter().filter(differs).fold(0, |all, piece| all | 1 << piece.target)
            };
            for piece in pieces.iter() {
                let cycle: Vec<u8> = bits(piece.groups).map(|group| ports[group]).collect();
                for (n, bit) in bits(piece.lost).enumerate() {
                    wanted[piece.start + bit] = cycle[(piece.at as usize + n) % cycle.len()];
                }
            }
            for kernel in Kernel::all() {
                let mut row = before.clone();
                kernel.write_lost(&ports, pieces, &mut Cycles::default(), &mut row);
                assert_eq!(row, wanted, "{}", kernel.name());
                let mut row = before[..start].to_vec();
                let difference =
                    kernel.patch_lost(&ports, pieces, &mut Cycles::default(), &mut row);
                assert_eq!(row, wanted[..start], "{}", kernel.name());
                let entries = row.iter().zip(&before).filter(|(new, old)| new != old).count();
                assert_eq!(difference.entries, entries as u64);
                assert_eq!(difference.targets, targets_of([&row, &before]));
                let mut found = vec![];
                kernel.each_lost(pieces, |at, group| found.push((at, group)));
                assert_eq!(found, first_groups(pieces), "{}", kernel.name());
            }
        }
    }
}
