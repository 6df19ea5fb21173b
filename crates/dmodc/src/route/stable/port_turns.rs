//! The ports over which the lost slots of a switch are spread, in turns: the first port of each group, then the second port of
//! each group that has one, and so on. So a group with fewer ports is taken less often.
//!
//! An example: B has the groups 0, 1 and 2 with the ports [1, 2], [3] and [5, 6]. Turn 0 is 1, 3, 5 and turn 1 is 2, 6, so the
//! cycle is 1, 3, 5, 2, 6. With x = 8, the first lost slot takes place 8 mod 5 = 3 of it, which is port 2, and the next one
//! takes port 6. If all groups have equally many ports, this is eqs. (3) and (4) with x in place of ⌊d / Π⌋.

use super::group_set::GroupSet;
use crate::group::Side;
use crate::kernel::divide_by_count;

/// For each turn: the groups that have a port for it.
#[derive(Default)]
pub(super) struct PortTurns(Vec<GroupSet<4>>);

/// A place in the cycle.
#[derive(Clone, Copy)]
pub(super) struct PortTurn {
    pub(super) group: usize,
    /// The index of the port among those of the group.
    pub(super) turn: usize,
}

impl PortTurns {
    /// Finds the turns of some groups. `numbers` has the number of each group of `side`, ascending.
    pub(super) fn find(&mut self, side: &Side<'_>, numbers: impl Iterator<Item = usize>) {
        self.0.clear();
        if let Some(width) = side.width() {
            self.0.resize(width, GroupSet([u64::MAX; 4]));
            return;
        }
        for (at, number) in numbers.take(side.peers.len()).enumerate() {
            let ports = side.ports_of(at).len();
            self.0.resize(self.0.len().max(ports), GroupSet::EMPTY);
            self.0[..ports].iter_mut().for_each(|turn| turn.insert(number));
        }
    }

    /// Returns the number of turns.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns, for each turn, those of the first 64 groups that have a port for it.
    #[inline(always)]
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(|groups| groups.0[0])
    }

    /// Returns those of some groups that have a port for a turn.
    #[inline(always)]
    fn of<const W: usize>(&self, from: &GroupSet<W>, turn: usize) -> GroupSet<W> {
        self.0.get(turn).map_or(GroupSet::EMPTY, |groups| from.and(&groups.first_words()))
    }

    /// Returns place number x of the cycle over some groups, of which there must be one at least.
    #[inline(always)]
    pub(super) fn place<const W: usize>(&self, from: &GroupSet<W>, x: u64) -> PortTurn {
        let ports: u32 = (0..self.0.len()).map(|turn| self.of(from, turn).count()).sum();
        let (_, mut left) = divide_by_count(x, ports);
        let mut turn = 0;
        loop {
            let groups = self.of(from, turn);
            let count = groups.count();
            if left < count || count == 0 {
                return PortTurn { group: groups.nth(left), turn };
            }
            left -= count;
            turn += 1;
        }
    }

    /// Returns the place after this one.
    #[inline(always)]
    pub(super) fn after<const W: usize>(&self, from: &GroupSet<W>, place: PortTurn) -> PortTurn {
        let PortTurn { group, turn } = place;
        if let Some(group) = self.of(from, turn).after(group) {
            return PortTurn { group, turn };
        }
        let next = self.of(from, turn + 1);
        match next.is_empty() {
            true => PortTurn { group: from.nth(0), turn: 0 },
            false => PortTurn { group: next.nth(0), turn: turn + 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PortNumber, SwitchIndex};
    use crate::random::Random;

    /// Groups of any sizes, numbered as in a reference that had more of them: each place has the port of the written cycle.
    #[test]
    fn turns_are_as_a_written_cycle() {
        let mut random = Random::new(11, 0);
        for _ in 0..500 {
            let most_ports = 1 + random.below(4);
            let (mut firsts, mut ports, mut numbers) = (vec![], vec![], vec![]);
            for number in 0..60 {
                if random.below(3) > 0 {
                    continue;
                }
                firsts.push(ports.len() as u8);
                numbers.push(number);
                for _ in 0..1 + random.below(most_ports) {
                    ports.push(PortNumber(1 + ports.len() as u8));
                }
            }
            if numbers.is_empty() {
                continue;
            }
            let peers: Vec<SwitchIndex> = numbers.iter().map(|n| SwitchIndex::new(*n)).collect();
            let side = Side::alone(&peers, &firsts, &ports);
            let mut turns = PortTurns::default();
            turns.find(&side, numbers.iter().copied());
            let mut from = GroupSet::<1>::EMPTY;
            from.insert(numbers[random.below(numbers.len() as u64) as usize]);
            numbers.iter().filter(|_| random.below(2) == 0).for_each(|n| from.insert(*n));
            let members = || numbers.iter().enumerate().filter(|(_, n)| from.has(**n));
            let written: Vec<PortNumber> = (0..4)
                .flat_map(|turn| members().filter_map(move |(at, _)| side.ports_of(at).get(turn)))
                .copied()
                .collect();
            let x = random.below(1000);
            let mut place = turns.place(&from, x);
            for n in x..x + 70 {
                let at = numbers.iter().position(|number| *number == place.group);
                let port = at.and_then(|at| side.ports_of(at).get(place.turn));
                assert_eq!(port, written.get(n as usize % written.len()));
                place = turns.after(&from, place);
            }
        }
    }
}
