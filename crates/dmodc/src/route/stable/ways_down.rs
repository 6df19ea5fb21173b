//! Several ways down to a target, as the spine chips of directors have them.
//!
//! Groups of such a switch are closer to different targets, so R differs from target to target. But R has equally many groups for all
//! targets as a rule, and then they can be numbered alike: *way* i of a target is the i-th group of its R. In ways, every switch looks
//! like one that has all its groups for each target, which is the simple case: a set of ways is a word with a bit for each, the slot of
//! quotient q is way q mod #R, and what is lost is what is missing.
//!
//! An example: the groups a and b lead to the targets 0 and 1, c and d to target 2. Way 0 is a for the targets 0 and 1, and c for target 2;
//! way 1 is b and d.

use crate::bits::bits;
use crate::cost::Hops;
use crate::group::Side;
use crate::id::SwitchIndex;
use crate::kernel::{Choices, Kernel};

/// The ways down of one switch of the reference to the targets of one tile. Switches with the same switches below have the same.
#[derive(Clone, Debug)]
pub(super) struct WaysDown {
    /// The number of ways to each target that has several: #R, at most [`MOST_WAYS`].
    pub(super) count: usize,
    /// The targets with that many ways.
    pub(super) targets: u64,
    /// The targets with one way.
    pub(super) single: u64,
    /// The targets of `targets` by R.
    pub(super) classes: Vec<WayClass>,
    parts: Vec<WayPart>,
}

/// Targets with the same R.
#[derive(Clone, Debug)]
pub(super) struct WayClass {
    pub(super) targets: u64,
    /// The group of each way.
    pub(super) groups: Vec<u8>,
}

/// A group that is a certain way, and the targets for which it is that way.
#[derive(Clone, Copy, Debug)]
struct WayPart {
    way: u8,
    group: u8,
    targets: u64,
}

/// Two sets of ways fit into one word.
pub(super) const MOST_WAYS: usize = 32;

/// The greatest number of parts. If nearly every target has its own R, there are more, and ways save no time.
const MOST_PARTS: usize = 256;

impl WaysDown {
    /// Returns the ways of a switch with these targets below, to each of which the groups of `through` are closer, unless the
    /// targets have different numbers of ways.
    pub(super) fn new(kernel: Kernel, down: u64, through: &[u64]) -> Option<Self> {
        if through.len() > 64 {
            return None;
        }
        let mut sets = Choices::one_by_one();
        kernel.gather(&mut sets, down, through);
        let mut ways = WaysDown { count: 0, targets: 0, single: 0, classes: vec![], parts: vec![] };
        let mut class_sets: Vec<u64> = vec![];
        for target in bits(down) {
            let [set] = sets.words(target as u8);
            let count = set.count_ones() as usize;
            if count == 1 {
                ways.single |= 1 << target;
                continue;
            }
            if ways.count != 0 && ways.count != count {
                return None;
            }
            ways.count = count;
            ways.targets |= 1 << target;
            match class_sets.iter().position(|known| *known == set) {
                Some(class) => ways.classes[class].targets |= 1 << target,
                None => {
                    class_sets.push(set);
                    let groups = bits(set).map(|group| group as u8).collect();
                    ways.classes.push(WayClass { targets: 1 << target, groups });
                }
            }
        }
        let parts = ways.classes.len() * ways.count;
        ways.find_parts(through);
        (1..=MOST_PARTS).contains(&parts).then_some(ways).filter(|ways| ways.count <= MOST_WAYS)
    }

    fn find_parts(&mut self, through: &[u64]) {
        let WaysDown { classes, parts, .. } = self;
        for class in classes {
            let groups = class.groups.iter().enumerate();
            let part = |(way, &group)| WayPart { way: way as u8, group, targets: class.targets };
            parts.extend(groups.map(part));
        }
        // The only way of a target is the first one.
        for (group, targets) in through.iter().enumerate() {
            let targets = targets & self.single;
            if targets != 0 {
                parts.push(WayPart { way: 0, group: group as u8, targets });
            }
        }
    }

    /// Returns all targets below.
    #[inline(always)]
    pub(super) fn all_targets(&self) -> u64 {
        self.targets | self.single
    }

    /// Replaces `to`, which has a word for each way, by the targets that each way leads to. `by_group` says which targets a
    /// group leads to.
    #[inline(always)]
    pub(super) fn find(&self, to: &mut [u64], by_group: impl Fn(usize) -> u64) {
        to.fill(0);
        for &WayPart { way, group, targets } in &self.parts {
            to[usize::from(way)] |= targets & by_group(usize::from(group));
        }
    }

    /// Replaces `lost` by the targets for which each way is lost, and returns all of them. `below` has the groups of the reference,
    /// and `live` which of them are there now, as bits.
    #[inline(always)]
    pub(super) fn find_lost(
        &self,
        below: Side<'_>,
        live: u64,
        hops: &Hops,
        lost: &mut Vec<u64>,
    ) -> u64 {
        let is_live = |group: usize| (live >> (group & 63) & 1).wrapping_neg();
        lost.resize(self.count, 0);
        self.find(lost, |group| reached_down(hops, below.peers[group]) & is_live(group));
        let mut all = 0;
        let mut targets = self.all_targets();
        for way in lost {
            *way = targets & !*way;
            all |= *way;
            targets = self.targets;
        }
        all
    }
}

/// Returns the targets that a switch reaches by going down.
#[inline(always)]
pub(super) fn reached_down(hops: &Hops, s: SwitchIndex) -> u64 {
    hops.of(s)[0]
}

impl WayClass {
    /// Returns the ways of these groups: from a bit for each group to a bit for each way.
    #[inline(always)]
    pub(super) fn ways(&self, groups: u64) -> u64 {
        let bit = |(way, group): (usize, &u8)| (groups >> (group & 63) & 1) << way;
        self.groups.iter().enumerate().map(bit).fold(0, |all, bit| all | bit)
    }

    /// Returns the port of each way, if groups have single ports.
    #[inline(always)]
    pub(super) fn ports(&self, side: Side<'_>) -> [u8; 64] {
        let mut ports = [0; 64];
        for (to, group) in ports.iter_mut().zip(&self.groups) {
            *to = side.ports[usize::from(*group)].0;
        }
        ports
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Any groups: each way of each target is the group that counting gives it.
    #[test]
    fn ways_are_counted_by_target() {
        let mut occurred = [0; 2];
        for seed in 0..if cfg!(miri) { 4 } else { 300 } {
            let mut random = Random::new(seed, 3);
            let (groups, sets) = (1 + random.below(40), 1 + random.below(5));
            let most = if random.below(2) == 0 { 2 } else { groups };
            let count = 1 + random.below(most.min(groups));
            let any_set = |random: &mut Random| {
                let mut set = 0_u64;
                while u64::from(set.count_ones()) < count {
                    set |= 1 << random.below(groups);
                }
                set
            };
            let sets: Vec<u64> = (0..sets).map(|_| any_set(&mut random)).collect();
            let mut through = vec![0; groups as usize];
            let (mut down, mut by_target) = (0, [0; 64]);
            for (target, to) in by_target.iter_mut().enumerate() {
                let set = sets[random.below(sets.len() as u64) as usize];
                *to = match random.below(6) {
                    0 => 0,
                    1 => set & set.wrapping_neg(),
                    _ => set,
                };
                down |= u64::from(*to != 0) << target;
                bits(*to).for_each(|group| through[group] |= 1 << target);
            }
            let has_several = by_target.iter().any(|set| set.count_ones() > 1);
            let is_wide = count as usize > MOST_WAYS;
            for kernel in Kernel::all() {
                let ways = WaysDown::new(kernel, down, &through);
                occurred[usize::from(ways.is_some())] += 1;
                assert_eq!(ways.is_some(), has_several && !is_wide, "seed {seed}");
                let Some(ways) = ways else { continue };
                assert_eq!((ways.all_targets(), ways.count), (down, count as usize));
                let mut found = vec![0; ways.count];
                for group in 0..groups as usize {
                    ways.find(&mut found, |of| if of == group { u64::MAX } else { 0 });
                    for (target, set) in by_target.iter().enumerate() {
                        let way = bits(*set).position(|of| of == group);
                        let is_way = |at: usize| found[at] >> target & 1 == 1;
                        assert!((0..ways.count).all(|at| is_way(at) == (way == Some(at))));
                    }
                }
                for class in &ways.classes {
                    let set = by_target[class.targets.trailing_zeros() as usize];
                    assert!(class.groups.iter().copied().eq(bits(set).map(|group| group as u8)));
                    assert_eq!(class.ways(set), u64::MAX >> (64 - ways.count));
                    assert_eq!(class.ways(set & !(set & set.wrapping_neg())) & 1, 0);
                }
            }
        }
        assert!(occurred.iter().all(|count| *count > 1), "both occur: {occurred:?}");
    }
}
