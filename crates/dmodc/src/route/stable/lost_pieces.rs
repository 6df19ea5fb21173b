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
    ) -> bool {
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
            || match most < SMALL {
                true => self.find_with(rounds, sets, row, divide_small),
                false => self.find_with(rounds, sets, row, divide_any),
            },
        );
        asked != 0
    }

    #[inline(always)]
    fn find_with(
        &mut self,
        rounds: &Rounds,
        sets: RoundSets<'_>,
        LostRow { rewritten, live, all_slots, sigma }: LostRow,
        divide: impl Fn(u64, u32) -> Division,
    ) -> u64 {
        let count = rounds.targets.len();
        // The lengths are said once, so that the loop has no checks in it.
        let (all, unharmed, kept) =
            (&sets.all[..count], &sets.unharmed[..count], &sets.kept[..count]);
        let (targets, numbers) = (&rounds.targets[..count], &rounds.numbers[..count]);
        let (first_slots, slots) = (&rounds.first_slots[..count], &rounds.slots[..count]);
        let (lost_to, groups_to) = (&mut self.lost[..count], &mut self.groups[..count]);
        let (at_to, quotients_to) = (&mut self.at[..count], &mut self.quotients[..count]);
        let mut asked = 0;
        for i in 0..count {
            let here = GroupSet([all[i] & live]);
            let ahead = GroupSet([unharmed[i] >> (sets.shift & 63) & live]);
            let kept = kept[i] & live;
            let lost = all_slots & !here.0[0];
            let is_rewritten = (rewritten >> (targets[i] & 63) & 1).wrapping_neg();
            let first_slot = first_slots[i] & 63;
            let lost_here = lost >> first_slot & slots[i] & is_rewritten;
            let from = spread_over(here, ahead, || {
                asked |= lost_here;
                GroupSet([kept])
            });
            let before = lost & ((1 << first_slot) - 1);
            let x = u64::from(numbers[i]) * u64::from(lost.count_ones())
                + u64::from(before.count_ones())
                + u64::from(sigma);
            lost_to[i] = lost_here;
            groups_to[i] = from.0[0];
            let Division { quotient, remainder } = divide(x, from.count());
            (quotients_to[i], at_to[i]) = (quotient, remainder);
        }
        asked
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
