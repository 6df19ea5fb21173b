//! The lost slots of all rounds of a row, as they were found, and the ports that they take.
//!
//! An example: a switch had the groups 0, 1 and 2 with two ports each, and group 1 kept only one of them. A piece goes to the
//! groups 0 and 1 = `0b011` with x = 7. Turn 0 has a port for both groups, turn 1 for group 0 only. If each port is a group of
//! its own, group 0 of turn 1 is number 1 · 3 + 0 = 3, so the piece goes to `0b001_011`. The first lost slot takes place
//! 7 mod 3 = 1 of these three ports, which is the port of group 1, and the next one takes the second port of group 0.

use super::group_set::GroupSet;
use super::port_turns::PortTurns;
use super::round_numbers::{Division, divide_small, place_any, place_small};
use super::rounds::{Rounds, eights, eights_mut};
use crate::bits::bits;
use crate::group::Side;
use crate::kernel::{Kernel, LostPieces};

/// For each round: its lost entries and where they go. Made to be reused.
#[derive(Default)]
pub(super) struct FoundPieces {
    /// The lost slots, counted from the first slot of the round.
    pub(super) lost: Vec<u64>,
    /// The groups B that they go to. They are unspecified where nothing is lost, as are the numbers below.
    pub(super) groups: Vec<u64>,
    /// The remainders x mod #B of the first lost slots.
    pub(super) at: Vec<u32>,
    /// The quotients ⌊x / #B⌋ of the first lost slots.
    pub(super) quotients: Vec<u32>,
    /// Whether all x are below [`SMALL`](super::round_numbers::SMALL).
    is_small: bool,
    /// The turns of the ports, if groups have several.
    turns: PortTurns,
}

/// The ports of the present, for groups that are numbered as in the reference.
pub(super) enum PresentPorts<'a> {
    /// The port of each group. (Or each port is a group: see [`FoundPieces::several_ports`].)
    Single([u8; 64]),
    /// The groups that are there, as bits, and their ports.
    Several { live: u64, side: Side<'a> },
}

impl FoundPieces {
    /// Makes room for some rounds, whose pieces are to be written next. `is_small`: whether all x are below
    /// [`SMALL`](super::round_numbers::SMALL).
    pub(super) fn reset(&mut self, rounds: usize, is_small: bool) {
        self.is_small = is_small;
        for words in [&mut self.lost, &mut self.groups] {
            words.resize(rounds, 0);
        }
        for words in [&mut self.at, &mut self.quotients] {
            words.resize(rounds, 0);
        }
    }

    /// Adds `step` to all x, of which only the remainders stay known. Remainders and `step` are below
    /// [`SMALL`](super::round_numbers::SMALL) together.
    pub(super) fn turn(&mut self, kernel: Kernel, step: u32) {
        let FoundPieces { at, groups, .. } = self;
        kernel.run_wide(
            #[inline(always)]
            || {
                for (at, groups) in at.iter_mut().zip(groups) {
                    *at = divide_small(at.wrapping_add(step), groups.count_ones()).remainder;
                }
            },
        );
    }

    /// Finds the ports of groups that have several, after the pieces were found for groups. If there is room for 64 ports in all
    /// turns at most, each port becomes a group of its own. `live` has the groups that are there, as bits, and `side` their
    /// ports; the reference has `groups` groups.
    pub(super) fn several_ports<'a>(
        &mut self,
        kernel: Kernel,
        live: u64,
        groups: usize,
        side: Side<'a>,
    ) -> PresentPorts<'a> {
        self.turns.find(&side, bits(live));
        if self.turns.count() * groups > 64 {
            return PresentPorts::Several { live, side };
        }
        kernel.run_wide(
            #[inline(always)]
            || match self.is_small {
                true => self.divide_groups(groups, place_small),
                false => self.divide_groups(groups, place_any),
            },
        );
        let mut ports = [0; 64];
        for (at, group) in bits(live).enumerate() {
            for (turn, port) in side.ports_of(at).iter().enumerate() {
                ports[(turn * groups + group) & 63] = port.0;
            }
        }
        PresentPorts::Single(ports)
    }

    /// Makes each port a group of its own, so that the cycle is these groups in order: port number `turn` of a group becomes
    /// group `turn` · `groups` + group. `place` is that of
    /// [`Numbers`](super::round_numbers::Numbers).
    #[inline(always)]
    fn divide_groups(&mut self, groups: usize, place: impl Fn(u32, u32, u32, u32) -> Division) {
        let (lost, sets) = (eights(&self.lost), eights_mut(&mut self.groups));
        let (at, quotients) = (eights_mut(&mut self.at), eights(&self.quotients));
        for (((lost, sets), at), quotients) in lost.iter().zip(sets).zip(at).zip(quotients) {
            if *lost == [0; 8] {
                continue;
            }
            let (from, first, mut ports) = (*sets, *at, [0; 8]);
            for (turn, with_port) in self.turns.words().enumerate() {
                let shift = (turn * groups) as u32 & 63;
                for i in 0..8 {
                    ports[i] |= (from[i] & with_port) << shift;
                }
            }
            for i in 0..8 {
                let (groups, ports) = (from[i].count_ones(), ports[i].count_ones());
                at[i] = place(quotients[i], groups, first[i], ports).remainder;
            }
            *sets = ports;
        }
    }

    /// Calls `each` with the round, the slot and the port of each lost slot.
    #[inline(always)]
    pub(super) fn each_slot(
        &self,
        kernel: Kernel,
        rounds: &Rounds,
        ports: &PresentPorts<'_>,
        mut each: impl FnMut(usize, usize, u8),
    ) {
        match ports {
            PresentPorts::Single(ports) => kernel.each_lost(
                self.pieces(rounds),
                #[inline(always)]
                |round, mut group| {
                    let groups = GroupSet([self.groups[round]]);
                    for slot in bits(self.lost[round]) {
                        each(round, slot, ports[group & 63]);
                        group = groups.after(group).unwrap_or_else(|| groups.first());
                    }
                },
            ),
            PresentPorts::Several { live, side } => kernel.run(
                #[inline(always)]
                || self.each_slot_in_turns(*live, side, each),
            ),
        }
    }

    /// Does what [`each_slot`](Self::each_slot) does if there are more than 64 ports.
    #[inline(always)]
    fn each_slot_in_turns(
        &self,
        live: u64,
        side: &Side<'_>,
        mut each: impl FnMut(usize, usize, u8),
    ) {
        for (round, &lost) in self.lost.iter().enumerate().filter(|(_, lost)| **lost != 0) {
            let groups = GroupSet([self.groups[round]]);
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

    /// Starts to load the first lost entries of each round.
    pub(super) fn prefetch(&self, kernel: Kernel, rounds: &Rounds, row: &[u8]) {
        for (round, _) in self.lost.iter().enumerate().filter(|(_, lost)| **lost != 0) {
            let start = rounds.starts[round] as usize;
            kernel.prefetch(&row[start..=start]);
        }
    }

    /// Returns the pieces as the kernel takes them.
    pub(super) fn pieces<'a>(&'a self, rounds: &'a Rounds) -> LostPieces<'a> {
        let FoundPieces { lost, groups, at, .. } = self;
        LostPieces { starts: &rounds.starts, lost, groups, at, targets: &rounds.targets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PortNumber, SwitchIndex};
    use crate::random::Random;

    /// Groups of some switch: those of the reference that are there, each with any number of ports.
    struct Groups {
        count: usize,
        live: u64,
        firsts: Vec<u8>,
        ports: Vec<PortNumber>,
        peers: Vec<SwitchIndex>,
    }

    impl Groups {
        fn random(random: &mut Random) -> Self {
            let count = 1 + random.below(64) as usize;
            let most_ports = 1 + random.below(match count {
                0..8 => 20,
                8..33 => 7,
                _ => 3,
            });
            let is_equal = random.below(3) == 0;
            let mut groups =
                Groups { count, live: 0, firsts: vec![], ports: vec![], peers: vec![] };
            for number in 0..count {
                if random.below(4) > 0 || groups.live == 0 && number + 1 == count {
                    groups.live |= 1 << number;
                    groups.peers.push(SwitchIndex::new(number));
                    groups.firsts.push(groups.ports.len() as u8);
                    let width = if is_equal { most_ports } else { 1 + random.below(most_ports) };
                    for _ in 0..width {
                        groups.ports.push(PortNumber(1 + groups.ports.len() as u8));
                    }
                }
            }
            groups
        }

        fn side(&self) -> Side<'_> {
            Side::alone(&self.peers, &self.firsts, &self.ports)
        }

        /// Returns the ports of some groups in turns.
        fn cycle(&self, of: u64) -> Vec<u8> {
            let side = self.side();
            let live = bits(self.live).enumerate();
            let members: Vec<usize> =
                live.filter(|(_, number)| of >> number & 1 == 1).map(|(at, _)| at).collect();
            let turn = |turn| members.iter().filter_map(move |&at| side.ports_of(at).get(turn));
            (0..20).flat_map(turn).map(|port| port.0).collect()
        }
    }

    /// Rounds with any lost slots, of which each x is known.
    struct AnyPieces {
        pieces: FoundPieces,
        rounds: Rounds,
        x: Vec<u64>,
    }

    impl AnyPieces {
        fn random(random: &mut Random, groups: &Groups, is_small: bool) -> Self {
            let most = if is_small { 1 << 23 } else { 1 << 31 };
            let count = 8 * random.below(5) as usize;
            let (mut pieces, mut rounds) = (FoundPieces::default(), Rounds::default());
            pieces.reset(count, is_small);
            rounds.starts.resize(count, 0);
            rounds.targets.resize(count, 0);
            let mut x = vec![0; count];
            for (round, x) in x.iter_mut().enumerate() {
                // Where nothing is lost, anything may be left from another row.
                pieces.groups[round] = random.below(u64::MAX);
                pieces.at[round] = random.below(1 << 32) as u32;
                pieces.quotients[round] = random.below(1 << 32) as u32;
                if random.below(3) == 0 {
                    continue;
                }
                let slots = u64::MAX >> (64 - groups.count);
                pieces.lost[round] =
                    random.below(u64::MAX) & slots | 1 << random.below(groups.count as u64);
                let live: Vec<usize> = bits(groups.live).collect();
                let one = 1 << live[random.below(live.len() as u64) as usize];
                pieces.groups[round] = random.below(u64::MAX) & groups.live | one;
                let size = pieces.groups[round].count_ones();
                *x = random.below(most);
                pieces.at[round] = (*x % u64::from(size)) as u32;
                pieces.quotients[round] = (*x / u64::from(size)) as u32;
            }
            AnyPieces { pieces, rounds, x }
        }

        /// Returns the round, the slot and the port of each lost slot.
        fn naive(&self, groups: &Groups) -> Vec<(usize, usize, u8)> {
            let mut all = vec![];
            for (round, lost) in self.pieces.lost.iter().enumerate() {
                let cycle = groups.cycle(self.pieces.groups[round]);
                for (n, slot) in bits(*lost).enumerate() {
                    let place = (self.x[round] + n as u64) % cycle.len() as u64;
                    all.push((round, slot, cycle[place as usize]));
                }
            }
            all
        }
    }

    /// Groups of any sizes: whether or not each port can be a group of its own, every slot has the port of the written cycle.
    #[test]
    fn slots_take_ports_as_in_a_written_cycle() {
        let mut occurred = [0; 2];
        for seed in 0..if cfg!(miri) { 4 } else { 600 } {
            let groups = Groups::random(&mut Random::new(seed, 0));
            for kernel in Kernel::all() {
                let mut random = Random::new(seed, 1);
                let mut any = AnyPieces::random(&mut random, &groups, seed % 2 == 0);
                let naive = any.naive(&groups);
                let AnyPieces { pieces, rounds, .. } = &mut any;
                let ports = pieces.several_ports(kernel, groups.live, groups.count, groups.side());
                occurred[usize::from(matches!(ports, PresentPorts::Single(_)))] += 1;
                let mut found = vec![];
                pieces.each_slot(kernel, rounds, &ports, |round, slot, port| {
                    found.push((round, slot, port));
                });
                assert_eq!(found, naive, "seed {seed}, {}", kernel.name());
            }
        }
        assert!(occurred.iter().all(|count| *count > 1), "both ways occur: {occurred:?}");
    }

    /// The example above.
    #[test]
    fn each_port_becomes_a_group() {
        let (peers, firsts) = ([0, 1, 2].map(SwitchIndex::new), [0, 2, 3]);
        let ports = [11, 12, 13, 15, 16].map(PortNumber);
        let (mut pieces, mut rounds) = (FoundPieces::default(), Rounds::default());
        pieces.reset(8, true);
        rounds.starts.resize(8, 0);
        rounds.targets.resize(8, 0);
        (pieces.lost[0], pieces.groups[0]) = (0b100, 0b011);
        (pieces.at[0], pieces.quotients[0]) = (7 % 2, 7 / 2);
        let side = Side::alone(&peers, &firsts, &ports);
        let PresentPorts::Single(by_group) = pieces.several_ports(Kernel::PORTABLE, 0b111, 3, side)
        else {
            panic!("six ports have room")
        };
        assert_eq!(by_group[..6], [11, 13, 15, 12, 0, 16]);
        assert_eq!((pieces.groups[0], pieces.at[0]), (0b001_011, 7 % 3));
    }

    #[test]
    fn turned_pieces_are_those_of_a_greater_x() {
        let mut random = Random::new(5, 0);
        let sizes: Vec<u64> = (0..64).map(|at| u64::MAX >> at).collect();
        let x: Vec<u32> = sizes.iter().map(|_| random.below(1 << 22) as u32).collect();
        for (kernel, step) in
            Kernel::all().into_iter().flat_map(|k| [(k, 0), (k, 1), (k, 4_000_001)])
        {
            let mut pieces = FoundPieces::default();
            pieces.reset(64, true);
            pieces.groups.clone_from(&sizes);
            let place = |step: u32| {
                let all = x.iter().zip(&sizes);
                all.map(move |(x, groups)| (x + step) % groups.count_ones()).collect::<Vec<u32>>()
            };
            pieces.at = place(0);
            pieces.turn(kernel, step);
            assert_eq!(pieces.at, place(step), "{}", kernel.name());
        }
    }
}
