//! The lost slots of all rounds of a row, and the groups that they go to. One loop without branches, so that the compiler
//! can do several rounds at once.

use super::group_set::GroupSet;
use super::lookahead::spread_over;
use super::port_turns::PortTurns;
use super::rounds::Rounds;
use crate::bits::bits;
use crate::group::Side;
use crate::kernel::{Kernel, LostPieces};

/// For each round: its lost entries and where they go. Made to be reused.
#[derive(Default)]
pub(super) struct PieceFinder {
    lost: Vec<u64>,
    groups: Vec<u64>,
    at: Vec<u32>,
    /// The quotients ⌊x / #B⌋ of the first lost slots, whose remainders are `at`.
    quotients: Vec<u32>,
    /// The turns of the ports, if groups have several.
    turns: PortTurns,
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
        for words in [&mut self.lost, &mut self.groups] {
            words.resize(rounds.targets.len(), 0);
        }
        for words in [&mut self.at, &mut self.quotients] {
            words.resize(rounds.targets.len(), 0);
        }
        // x is less than this.
        let most = u64::from(rounds.last_number) * 64 + 64 + u64::from(row.sigma);
        let asked = kernel.run_wide(
            #[inline(always)]
            || match (most < SMALL, wanted) {
                (true, Wanted::All) => self.find_with::<false>(rounds, sets, row, divide_small),
                (true, Wanted::Changed) => self.find_with::<true>(rounds, sets, row, divide_small),
                (false, Wanted::All) => self.find_with::<false>(rounds, sets, row, divide_any),
                (false, Wanted::Changed) => self.find_with::<true>(rounds, sets, row, divide_any),
            },
        );
        asked != 0
    }

    /// `ONLY_CHANGED`: whether only those lost entries are wanted that go to other groups than before.
    #[inline(always)]
    fn find_with<const ONLY_CHANGED: bool>(
        &mut self,
        rounds: &Rounds,
        sets: RoundSets<'_>,
        LostRow { rewritten, live, all_slots, sigma }: LostRow,
        divide: impl Fn(u64, u32) -> Division,
    ) -> u64 {
        let (all, unharmed, kept) = (eights(sets.all), eights(sets.unharmed), eights(sets.kept));
        let unharmed_changes = eights(sets.unharmed_changes);
        let kept_changes = eights(sets.kept_changes);
        let (targets, numbers) = (eights(&rounds.targets), eights(&rounds.numbers));
        let (first_slots, slots) = (eights(&rounds.first_slots), eights(&rounds.slots));
        let (lost_to, groups_to) = (eights_mut(&mut self.lost), eights_mut(&mut self.groups));
        let (at_to, quotients_to) = (eights_mut(&mut self.at), eights_mut(&mut self.quotients));
        let mut asked = 0;
        for (eight, &of_eight) in rounds.targets_of_eights.iter().enumerate() {
            if of_eight & rewritten == 0 {
                lost_to[eight] = [0; 8];
                continue;
            }
            // Arrays on the stack: nothing else can point to them, so the compiler can do all eight at once.
            let (all, unharmed, kept) = (all[eight], unharmed[eight], kept[eight]);
            let unharmed_changes = unharmed_changes[eight];
            let kept_changes = kept_changes[eight];
            let (targets, numbers) = (targets[eight], numbers[eight]);
            let (first_slots, slots) = (first_slots[eight], slots[eight]);
            let (mut losts, mut groups) = ([0; 8], [0; 8]);
            let (mut at, mut quotients) = ([0; 8], [0; 8]);
            for i in 0..8 {
                let here = GroupSet([all[i] & live]);
                let ahead = GroupSet([unharmed[i] >> (sets.shift & 63) & live]);
                let kept = kept[i] & live;
                let lost = all_slots & !here.0[0];
                let is_rewritten = (rewritten >> (targets[i] & 63) & 1).wrapping_neg();
                let first_slot = first_slots[i] & 63;
                let mut lost_here = lost >> first_slot & slots[i] & is_rewritten;
                let from = spread_over(here, ahead, || {
                    asked |= lost_here;
                    GroupSet([kept])
                });
                if ONLY_CHANGED {
                    let ahead = GroupSet([ahead.0[0] ^ unharmed_changes[i] & live]);
                    let before = spread_over(here, ahead, || {
                        asked |= lost_here;
                        GroupSet([kept ^ kept_changes[i] & live])
                    });
                    lost_here &= u64::from(from != before).wrapping_neg();
                }
                let before = lost & ((1 << first_slot) - 1);
                let x = u64::from(numbers[i]) * u64::from(lost.count_ones())
                    + u64::from(before.count_ones())
                    + u64::from(sigma);
                losts[i] = lost_here;
                groups[i] = from.0[0];
                let Division { quotient, remainder } = divide(x, from.count());
                (quotients[i], at[i]) = (quotient, remainder);
            }
            (lost_to[eight], groups_to[eight]) = (losts, groups);
            (at_to[eight], quotients_to[eight]) = (at, quotients);
        }
        asked
    }

    /// Says what the pieces were found from, so that the next row can use them again. Groups must have single ports.
    pub(super) fn note(&mut self, key: PieceKey, sigma: u32) {
        self.found = Some((key, sigma));
    }

    /// Changes the pieces of the row before into those of a row with the same key but another σ. Returns whether that is
    /// possible.
    pub(super) fn turn(&mut self, kernel: Kernel, key: PieceKey, sigma: u32) -> bool {
        let Some((_, last)) = self.found.filter(|(found, _)| *found == key) else { return false };
        let Some(step) = sigma.checked_sub(last).filter(|step| u64::from(*step) < SMALL / 2) else {
            return false;
        };
        let PieceFinder { at, groups, .. } = self;
        kernel.run_wide(
            #[inline(always)]
            || {
                for (at, groups) in at.iter_mut().zip(groups) {
                    *at = divide_small((*at + step).into(), groups.count_ones()).remainder;
                }
            },
        );
        self.found = Some((key, sigma));
        true
    }

    /// Prepares the turns of groups with several ports. `live` has the numbers of the present groups in the reference, as bits.
    pub(super) fn several_ports<'a>(&mut self, live: u64, side: Side<'a>) -> PresentPorts<'a> {
        self.turns.find(&side, bits(live));
        PresentPorts::Several { live, side }
    }

    /// Calls `each` with the round, the slot and the port of each lost slot.
    #[inline(always)]
    pub(super) fn each_slot(
        &self,
        ports: &PresentPorts<'_>,
        mut each: impl FnMut(usize, usize, u8),
    ) {
        for (round, &lost) in self.lost.iter().enumerate().filter(|(_, lost)| **lost != 0) {
            let groups = GroupSet([self.groups[round]]);
            match ports {
                PresentPorts::Single(ports) => {
                    let mut group = groups.nth(self.at[round]);
                    for slot in bits(lost) {
                        each(round, slot, ports[group & 63]);
                        group = groups.after(group).unwrap_or_else(|| groups.nth(0));
                    }
                }
                PresentPorts::Several { live, side } => {
                    let count = u64::from(groups.count());
                    let x = u64::from(self.quotients[round]) * count + u64::from(self.at[round]);
                    let mut place = self.turns.place(&groups, x);
                    for slot in bits(lost) {
                        let before = live & ((1 << (place.group & 63)) - 1);
                        let ports = side.ports_of(before.count_ones() as usize);
                        each(round, slot, ports[place.turn].0);
                        place = self.turns.after(&groups, place);
                    }
                }
            }
        }
    }

    /// Returns the pieces that were found, as the kernel takes them.
    pub(super) fn pieces<'a>(&'a self, rounds: &'a Rounds) -> LostPieces<'a> {
        let PieceFinder { lost, groups, at, .. } = self;
        LostPieces { starts: &rounds.starts, lost, groups, at, targets: &rounds.targets }
    }
}

/// The ports of the present, for groups that are numbered as in the reference.
pub(super) enum PresentPorts<'a> {
    /// The port of each group.
    Single([u8; 64]),
    /// The groups that are there, as bits, and their ports.
    Several { live: u64, side: Side<'a> },
}

/// Returns the elements in eights. There are no others: [`Rounds`] sees to that.
#[inline(always)]
fn eights<T>(all: &[T]) -> &[[T; 8]] {
    all.as_chunks().0
}

/// Returns the elements in eights, to be written.
#[inline(always)]
fn eights_mut<T>(all: &mut [T]) -> &mut [[T; 8]] {
    all.as_chunks_mut().0
}

/// A quotient and a remainder.
struct Division {
    quotient: u32,
    remainder: u32,
}

/// Floating-point numbers of 32 bits have all integers up to twice this number, and no others from here on.
const SMALL: u64 = 1 << 23;

/// Divides x, which is below [`SMALL`], by n. Returns anything for n = 0. It divides floating-point numbers, because processors
/// divide many of these at once. The sum of a quotient and `SMALL` has an integer in its low bits: the quotient, rounded to the
/// nearest. If that is one too many, the remainder is negative.
#[inline(always)]
fn divide_small(x: u64, n: u32) -> Division {
    const BASE: f32 = SMALL as f32;
    let (x, n) = (x as i32, n as i32);
    let nearest = (x as f32 / n as f32 + BASE).to_bits().wrapping_sub(BASE.to_bits()) as i32;
    let rest = x.wrapping_sub(nearest.wrapping_mul(n));
    let too_many = rest >> 31;
    Division {
        quotient: nearest.wrapping_add(too_many) as u32,
        remainder: rest.wrapping_add(too_many & n) as u32,
    }
}

/// Divides any x by n. Returns anything for n = 0.
fn divide_any(x: u64, n: u32) -> Division {
    let n = u64::from(n.max(1));
    // The quotient is only used for groups of several ports, and there numbers of destinations are below 2³¹.
    Division { quotient: (x / n) as u32, remainder: (x % n) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_are_exact() {
        let edges = [0, 1, 63, 64, 65, 1 << 20, SMALL - 2, SMALL - 1];
        for n in 1..=64 {
            let near = [u64::from(n) - 1, u64::from(n), SMALL / u64::from(n) * u64::from(n) - 1];
            for x in edges.into_iter().chain(near) {
                let Division { quotient, remainder } = divide_small(x, n);
                let expected = (x / u64::from(n), x % u64::from(n));
                assert_eq!((quotient.into(), remainder.into()), expected, "{x} by {n}");
            }
        }
    }
}
