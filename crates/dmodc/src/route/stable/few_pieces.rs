//! The lost slots of a few rounds of a row, and the groups that they go to, found one by one. [`PieceFinder`] does the same for all
//! rounds of a row, but it would spend most of its time on rounds that are not needed.
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
    /// Returns whether the targets of a row are few and each has one round.
    #[inline]
    pub(super) fn are_few(rounds: &Rounds, row: LostRow) -> bool {
        // Bits are taken away one by one: only newer processors can count them at once.
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

#[cfg(test)]
mod tests {
    use super::super::lost_pieces::{PieceFinder, Wanted};
    use super::*;
    use crate::kernel::Kernel;
    use crate::random::Random;

    /// Returns 64 rounds, one for each target, of a switch with this number of groups.
    fn rounds(random: &mut Random, groups: u64) -> Rounds {
        let mut rounds = Rounds::default();
        rounds.are_targets = true;
        for target in 0..64 {
            let first_slot = random.below(groups);
            rounds.targets.push(target);
            rounds.numbers.push(random.below(2000) as u32);
            rounds.first_slots.push(first_slot as u32);
            let slots = 1 + random.below(groups - first_slot);
            rounds.slots.push(u64::MAX >> (64 - slots));
            rounds.starts.push(u32::from(target) * 64);
        }
        rounds.targets_of_eights = (0..8).map(|eight| 0xff << (8 * eight)).collect();
        rounds.last_number = 2000;
        rounds
    }

    /// Any sets and any few targets: the pieces are those that are found for all rounds at once.
    #[test]
    fn few_pieces_are_those_of_all_rounds() {
        let mut random = Random::new(11, 0);
        let mut some_changed = false;
        for _ in 0..if cfg!(miri) { 4 } else { 500 } {
            let groups = 1 + random.below(64);
            let all_slots = u64::MAX >> (64 - groups);
            let rounds = rounds(&mut random, groups);
            let mut words = |within: &[u64]| -> Vec<u64> {
                within.iter().map(|within| within & random.below(u64::MAX)).collect()
            };
            let all: Vec<u64> = words(&[all_slots; 64]).iter().map(|set| set | 1).collect();
            let [unharmed, kept, unharmed_changes, kept_changes] = [(); 4].map(|()| words(&all));
            let sets = RoundSets {
                all: &all,
                unharmed: &unharmed,
                shift: 0,
                kept: &kept,
                unharmed_changes: &unharmed_changes,
                kept_changes: &kept_changes,
            };
            let rewritten = (0..FEW).fold(0, |all, _| all | 1 << random.below(64));
            let live = all_slots & random.below(u64::MAX) | 1;
            let sigma = random.below(5000) as u32;
            let row = LostRow { rewritten, live, all_slots, sigma };
            for kernel in Kernel::all() {
                let mut few = FewPieces::default();
                assert!(FewPieces::are_few(&rounds, row));
                few.find(&rounds, sets, row);
                let mut finder = PieceFinder::default();
                finder.find(kernel, &rounds, sets, row, Wanted::Changed);
                let found = finder.pieces.pieces(&rounds);
                let places = (0..64).filter(|&at| found.lost[at] != 0);
                let wanted: Vec<_> = places
                    .map(|at| (found.starts[at], found.lost[at], found.groups[at], found.at[at]))
                    .collect();
                let few: Vec<_> = (0..few.count)
                    .map(|at| (few.starts[at], few.lost[at], few.groups[at], few.at[at]))
                    .collect();
                assert_eq!(few, wanted, "{}", kernel.name());
                some_changed |= !few.is_empty();
            }
        }
        assert!(some_changed);
    }

    #[test]
    fn more_targets_are_not_few() {
        let mut rounds = Rounds::default();
        rounds.are_targets = true;
        let row = |rewritten| LostRow { rewritten, live: 1, all_slots: 1, sigma: 0 };
        assert!(FewPieces::are_few(&rounds, row(0b1111)));
        assert!(!FewPieces::are_few(&rounds, row(0b11111)));
        let others = Rounds::default();
        assert!(!FewPieces::are_few(&others, row(1)), "a target may have several rounds");
    }
}
