//! The lost slots of all rounds of a row, and the groups that they go to. One loop without branches, so that the compiler
//! can do several rounds at once.

use super::found_pieces::FoundPieces;
use super::round_numbers::{Any64, Division, Numbers, SMALL, Small32, Small64};
use super::rounds::{Rounds, eights, eights_mut};
use crate::kernel::Kernel;
use crate::oracle::stable::are_enough_unharmed;

/// Finds the lost entries of each round, and the groups that they go to. Made to be reused.
#[derive(Default)]
pub(super) struct PieceFinder {
    /// What was found last.
    pub(super) pieces: FoundPieces,
    /// What the pieces were found from, besides σ, and σ itself; `None` if they are not to be used again.
    found: Option<(PieceKey, u32)>,
}

/// What pieces follow from, besides σ. Rows of one tile with equal keys have the same lost slots and the same groups for them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PieceKey {
    /// The number of the sets that the pieces were found from.
    pub(super) generation: u64,
    pub(super) rewritten: u64,
    pub(super) live: u64,
    pub(super) wanted: Wanted,
}

/// The closer sets of the target of each round: a bit for each group of the reference. The cables of the row are not
/// looked at yet.
#[derive(Clone, Copy)]
pub(super) struct RoundSets<'a> {
    /// All groups that are closer.
    pub(super) all: &'a [u64],
    /// Those whose switches lost nothing, `shift` bits further up.
    pub(super) unharmed: &'a [u64],
    pub(super) shift: u32,
    /// Those whose switches kept the slot.
    pub(super) kept: &'a [u64],
    /// The groups that are in one of `unharmed`, without its shift, and its value before the last update of the view, but not in
    /// the other.
    pub(super) unharmed_changes: &'a [u64],
    /// The same for `kept`.
    pub(super) kept_changes: &'a [u64],
}

/// Which of the lost entries of a row are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// Those that go to other groups than before the last update of the view.
    Changed,
}

/// What a row's lost entries depend on besides its rounds.
#[derive(Clone, Copy)]
pub(super) struct LostRow {
    /// The targets whose entries are written again where their slot is lost.
    pub(super) rewritten: u64,
    /// The groups that are there now: a bit for each of the reference's.
    pub(super) live: u64,
    /// All groups of the reference.
    pub(super) all_slots: u64,
    /// σ.
    pub(super) sigma: u32,
}

impl PieceFinder {
    /// Finds the pieces of a row. Returns whether some of them depend on `kept`.
    pub(super) fn find(
        &mut self,
        kernel: Kernel,
        rounds: &Rounds,
        sets: RoundSets<'_>,
        row: LostRow,
        wanted: Wanted,
    ) -> bool {
        self.found = None;
        // x is less than this.
        let most = u64::from(rounds.last_number) * 64 + 64 + u64::from(row.sigma);
        let is_small = most < SMALL;
        self.pieces.reset(rounds.targets.len(), is_small);
        let is_narrow = row.all_slots >> 32 == 0;
        let asked = kernel.run_wide(
            #[inline(always)]
            || match (is_small, is_narrow, wanted) {
                (true, true, Wanted::All) => self.find_with::<Small32, false>(rounds, sets, row),
                (true, true, Wanted::Changed) => self.find_with::<Small32, true>(rounds, sets, row),
                (true, false, Wanted::All) => self.find_with::<Small64, false>(rounds, sets, row),
                (true, false, Wanted::Changed) => {
                    self.find_with::<Small64, true>(rounds, sets, row)
                }
                (false, _, Wanted::All) => self.find_with::<Any64, false>(rounds, sets, row),
                (false, _, Wanted::Changed) => self.find_with::<Any64, true>(rounds, sets, row),
            },
        );
        asked != 0
    }

    /// `N` says how sets are kept and numbers divided. `ONLY_CHANGED`: whether only those lost entries are wanted that go to
    /// other groups than before.
    #[inline(always)]
    fn find_with<N: Numbers, const ONLY_CHANGED: bool>(
        &mut self,
        rounds: &Rounds,
        sets: RoundSets<'_>,
        LostRow { rewritten, live, all_slots, sigma }: LostRow,
    ) -> u64 {
        let (all, unharmed, kept) = (eights(sets.all), eights(sets.unharmed), eights(sets.kept));
        let unharmed_changes = eights(sets.unharmed_changes);
        let kept_changes = eights(sets.kept_changes);
        let (targets, numbers) = (eights(&rounds.targets), eights(&rounds.numbers));
        let (first_slots, slots) = (eights(&rounds.first_slots), eights(&rounds.slots));
        let FoundPieces { lost, groups, at, quotients, .. } = &mut self.pieces;
        let (lost_to, groups_to) = (eights_mut(lost), eights_mut(groups));
        let (at_to, quotients_to) = (eights_mut(at), eights_mut(quotients));
        let (live, all_slots) = (N::set(live), N::set(all_slots));
        let mut asked = [N::set(0); 8];
        for (eight, &of_eight) in rounds.targets_of_eights.iter().enumerate() {
            if of_eight & rewritten == 0 {
                lost_to[eight] = [0; 8];
                continue;
            }
            // Arrays on the stack: nothing else can point to them, so the compiler can do all eight at once.
            let (all, kept) = (all[eight].map(N::set), kept[eight].map(N::set));
            let ahead = unharmed[eight].map(|groups| N::set(groups >> (sets.shift & 63)));
            let unharmed_changes = unharmed_changes[eight].map(N::set);
            let kept_changes = kept_changes[eight].map(N::set);
            let is_rewritten = targets[eight]
                .map(|target| N::set((rewritten >> (target & 63) & 1).wrapping_neg()));
            let (numbers, first_slots) = (numbers[eight], first_slots[eight]);
            let slots = slots[eight].map(N::set);
            let (mut losts, mut groups) = ([N::set(0); 8], [N::set(0); 8]);
            let (mut at, mut quotients) = ([0; 8], [0; 8]);
            for i in 0..8 {
                let (here, ahead, kept) = (all[i] & live, ahead[i] & live, kept[i] & live);
                let lost = all_slots & !here;
                let mut lost_here = N::from_slot(lost, first_slots[i]) & slots[i] & is_rewritten[i];
                let mut ask =
                    |has_enough: bool| asked[i] = asked[i] | N::unless(has_enough, lost_here);
                let from = spread::<N>(here, ahead, kept, &mut ask);
                if ONLY_CHANGED {
                    let ahead = ahead ^ unharmed_changes[i] & live;
                    let kept = kept ^ kept_changes[i] & live;
                    let before = spread::<N>(here, ahead, kept, &mut ask);
                    lost_here = N::unless(from == before, lost_here);
                }
                let before = N::before_slot(lost, first_slots[i]);
                let Division { quotient, remainder } =
                    N::place(numbers[i], N::count(lost), N::count(before) + sigma, N::count(from));
                (losts[i], groups[i]) = (lost_here, from);
                (quotients[i], at[i]) = (quotient, remainder);
            }
            (lost_to[eight], groups_to[eight]) = (losts.map(N::word), groups.map(N::word));
            (at_to[eight], quotients_to[eight]) = (at, quotients);
        }
        asked.into_iter().fold(0, |all, asked| all | N::word(asked))
    }

    /// Says what the pieces were found from, so that the next row can use them again. Groups must have single ports: pieces of
    /// others are changed once more, and need quotients.
    pub(super) fn note(&mut self, key: PieceKey, sigma: u32) {
        self.found = Some((key, sigma));
    }

    /// Changes the pieces of the row before into those of a row with the same key but another σ. Returns whether that is
    /// possible. Groups of both rows must have single ports.
    pub(super) fn turn(&mut self, kernel: Kernel, key: PieceKey, sigma: u32) -> bool {
        let Some((_, last)) = self.found.filter(|(found, _)| *found == key) else { return false };
        let Some(step) = sigma.checked_sub(last).filter(|step| u64::from(*step) < SMALL / 2) else {
            return false;
        };
        self.pieces.turn(kernel, step);
        self.found = Some((key, sigma));
        true
    }
}

/// Does what [`spread_over`](super::lookahead::spread_over) does, without branches. Calls `ask` with whether the answer is known
/// without `kept`.
#[inline(always)]
fn spread<N: Numbers>(
    all: N::Set,
    unharmed: N::Set,
    kept: N::Set,
    ask: &mut impl FnMut(bool),
) -> N::Set {
    let has_enough = are_enough_unharmed(N::count(unharmed) as usize, N::count(all) as usize);
    ask(has_enough);
    match (has_enough, kept == N::set(0)) {
        (true, _) => unharmed,
        (false, true) => all,
        (false, false) => kept,
    }
}
