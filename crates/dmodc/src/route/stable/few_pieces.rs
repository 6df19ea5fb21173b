//! The lost slots of a few rounds of a row, and the groups that they go to, found one by one. [`PieceFinder`] does the same for all
//! rounds of a row, but most of its time would go into rounds that nobody asked for.
//!
//! [`PieceFinder`]: super::lost_pieces::PieceFinder

use super::lost_pieces::{LostRow, RoundSets};
use super::rounds::Rounds;
use crate::bits::bits;
use crate::kernel::LostPieces;
use crate::oracle::stable::are_enough_unharmed;

/// The greatest number of targets that are looked at one by one.
const FEW: usize = 4;

/// Pieces of a few targets. Made to be reused.
#[derive(Default)]
pub(super) struct FewPieces {
    count: usize,
    starts: [u32; FEW],
    lost: [u64; FEW],
    groups: [u64; FEW],
    at: [u32; FEW],
    targets: [u8; FEW],
}

impl FewPieces {
    /// Takes the targets of a row, if they are few and each has one round. Returns whether that is so.
    #[inline]
    pub(super) fn take(&mut self, rounds: &Rounds, row: LostRow) -> bool {
        // Four bits are taken away, so that no bits have to be counted.
        let without_first = |set: u64| set & set.wrapping_sub(1);
        let rest = (0..FEW).fold(row.rewritten, |left, _| without_first(left));
        rounds.are_targets && rest == 0
    }

    /// Finds those pieces that go to other groups than before the last update of the view. `kept` must be known.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        rounds: &Rounds,
        sets: RoundSets<'_>,
        LostRow { rewritten, live, all_slots, sigma }: LostRow,
    ) {
        self.count = 0;
        for round in bits(rewritten).take_while(|round| *round < rounds.targets.len()) {
            let here = sets.all[round] & live & all_slots;
            let (unharmed, kept) = (sets.unharmed[round] >> (sets.shift & 63), sets.kept[round]);
            let from = spread(here, unharmed & live, kept & live);
            let unharmed_before = unharmed ^ sets.unharmed_changes[round];
            let kept_before = kept ^ sets.kept_changes[round];
            let before = spread(here, unharmed_before & live, kept_before & live);
            let (lost, first_slot) = (all_slots & !here, rounds.first_slots[round]);
            let lost_here = lost >> (first_slot & 63) & rounds.slots[round];
            if from == before || lost_here == 0 {
                continue;
            }
            let earlier = (lost & ((1 << (first_slot & 63)) - 1)).count_ones();
            let number = u64::from(rounds.numbers[round]);
            let x = number * u64::from(lost.count_ones()) + u64::from(earlier) + u64::from(sigma);
            let size = u64::from(from.count_ones()).max(1);
            let at = self.count;
            self.starts[at] = rounds.starts[round];
            (self.lost[at], self.groups[at]) = (lost_here, from);
            (self.at[at], self.targets[at]) = ((x % size) as u32, rounds.targets[round]);
            self.count += 1;
        }
    }

    /// Returns the pieces as the kernel takes them.
    pub(super) fn pieces(&self) -> LostPieces<'_> {
        let FewPieces { count, starts, lost, groups, at, targets } = self;
        LostPieces {
            starts: &starts[..*count],
            lost: &lost[..*count],
            groups: &groups[..*count],
            at: &at[..*count],
            targets: &targets[..*count],
        }
    }
}

/// Does what [`spread_over`](super::lookahead::spread_over) does for sets of at most 64 groups.
#[inline(always)]
fn spread(all: u64, unharmed: u64, kept: u64) -> u64 {
    let has_enough = are_enough_unharmed(unharmed.count_ones() as usize, all.count_ones() as usize);
    match (has_enough, kept == 0) {
        (true, _) => unharmed,
        (false, true) => all,
        (false, false) => kept,
    }
}
