//! Groups of hosts: the leaves, the subtrees that they are in, and the whole fabric.
//!
//! With several rails, hosts of one group have their nodes on the same leaves, or in the same subtrees, on all rails.

use std::collections::HashMap;

use super::Placement;
use crate::id::SwitchIndex;
use crate::rails::RailHost;
use crate::union_find::UnionFind;

/// The groups of hosts by level: leaves first, and at last one group of all.
pub(super) struct HostGroups {
    levels: Vec<Level>,
}

struct Level {
    /// The group of each host.
    of: Vec<usize>,
    /// The number of hosts in each group.
    sizes: Vec<usize>,
}

/// Where a job meets others, estimated by groups. Less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MixedGroups {
    /// The sum over all groups that both leave: the lesser number of hosts.
    sum: usize,
    /// The greatest of these numbers.
    worst: usize,
}

impl HostGroups {
    pub(super) fn new(placement: &Placement<'_>, hosts: &[&RailHost<'_>]) -> Self {
        let (live, ranking) = (placement.live, placement.ranking);
        let count = live.fabric.switches().len();
        let mut levels = vec![Level::new(placement, hosts, |s| s)];
        let mut sets = UnionFind::new(count);
        let mut present = vec![false; count];
        let ranks = ranking.by_rank();
        for (rank, switches) in ranks.iter().enumerate() {
            for &s in switches {
                present[s.at()] = true;
            }
            for &s in switches {
                for (_, peer) in live.links(s).filter(|(_, peer)| present[peer.at()]) {
                    sets.join(s, peer);
                }
            }
            if rank > 0 && rank + 1 < ranks.len() {
                levels.push(Level::new(placement, hosts, |s| sets.root(s)));
            }
        }
        levels.push(Level { of: vec![0; hosts.len()], sizes: vec![hosts.len()] });
        HostGroups { levels }
    }

    /// Returns how much a job mixes with all other hosts. `is_chosen` is for each host.
    pub(super) fn mixed(&self, is_chosen: &[bool]) -> MixedGroups {
        let job = is_chosen.iter().filter(|chosen| **chosen).count();
        let others = is_chosen.len() - job;
        let mut mixed = MixedGroups { sum: 0, worst: 0 };
        for level in &self.levels {
            let mut chosen = vec![0; level.sizes.len()];
            for (&group, _) in level.of.iter().zip(is_chosen).filter(|(_, chosen)| **chosen) {
                chosen[group] += 1;
            }
            for (&size, &inside) in level.sizes.iter().zip(&chosen) {
                let strange = size - inside;
                // Who is all inside sends nothing out of the group.
                if inside < job && strange < others {
                    mixed.sum += inside.min(strange);
                    mixed.worst = mixed.worst.max(inside.min(strange));
                }
            }
        }
        mixed
    }

    /// Returns sets of `count` of these hosts, one for each group that has as many of them: whole groups first, so that the
    /// set shares few groups with other hosts.
    pub(super) fn fillings(&self, hosts: &[usize], count: usize) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (at, level) in self.levels.iter().enumerate() {
            for members in level.parts(hosts).into_iter().filter(|part| part.len() >= count) {
                add(&mut sets, self.fill(at, members, count));
            }
        }
        if count == 0 {
            add(&mut sets, Vec::new());
        }
        sets
    }

    /// Returns sets of `count` successive hosts of a list, from the first one of each leaf on.
    pub(super) fn runs(&self, hosts: &[usize], count: usize) -> Vec<Vec<usize>> {
        let leaf = &self.levels[0].of;
        let begins = |at: usize| at == 0 || leaf[hosts[at]] != leaf[hosts[at - 1]];
        let mut sets = Vec::new();
        for start in (0..hosts.len()).filter(|&at| at + count <= hosts.len() && begins(at)) {
            add(&mut sets, hosts[start..start + count].to_vec());
        }
        sets
    }

    /// Returns `count` of these hosts, which are all the hosts of one group of a level that may be chosen.
    fn fill(&self, level: usize, members: Vec<usize>, count: usize) -> Vec<usize> {
        if level == 0 || members.len() == count {
            return members.into_iter().take(count).collect();
        }
        let below = &self.levels[level - 1];
        let mut parts = below.parts(&members);
        // One part for all, as tight as possible.
        let fitting = parts.iter().filter(|part| part.len() >= count);
        if let Some(tight) = fitting.min_by_key(|part| part.len()) {
            return self.fill(level - 1, tight.clone(), count);
        }
        let is_whole = |part: &Vec<usize>| part.len() == below.sizes[below.of[part[0]]];
        parts.sort_by_key(|part| std::cmp::Reverse((is_whole(part), part.len())));
        let whole = parts.iter().take_while(|part| is_whole(part)).count();
        let sizes: Vec<usize> = parts[..whole].iter().map(Vec::len).collect();
        let taken = greatest_sum(&sizes, count);
        let mut set = Vec::new();
        let mut rest = Vec::new();
        for (at, part) in parts.into_iter().enumerate() {
            match taken.contains(&at) {
                true => set.extend(part),
                false => rest.push(part),
            }
        }
        while set.len() < count {
            let missing = count - set.len();
            let fitting = (0..rest.len()).filter(|&at| rest[at].len() >= missing);
            let tight = fitting.min_by_key(|&at| rest[at].len());
            // If no part is enough, the largest one is taken as a whole.
            let largest = || (0..rest.len()).rev().max_by_key(|&at| rest[at].len());
            let at = tight.or_else(largest).expect("there are enough members");
            let part = rest.swap_remove(at);
            let take = missing.min(part.len());
            set.extend(self.fill(level - 1, part, take));
        }
        set
    }
}

impl Level {
    /// Groups hosts whose nodes are on switches of the same groups on all rails.
    fn new(
        placement: &Placement<'_>,
        hosts: &[&RailHost<'_>],
        mut group: impl FnMut(SwitchIndex) -> SwitchIndex,
    ) -> Self {
        let mut known: HashMap<Vec<Option<SwitchIndex>>, usize> = HashMap::new();
        let mut level = Level { of: Vec::with_capacity(hosts.len()), sizes: Vec::new() };
        for host in hosts {
            let switch = |rail| {
                let node = placement.node(host, rail)?;
                Some(group(placement.live.fabric.node(node).switch))
            };
            let label: Vec<Option<SwitchIndex>> = (0..host.nodes.len()).map(switch).collect();
            let next = known.len();
            let number = *known.entry(label).or_insert(next);
            if number == level.sizes.len() {
                level.sizes.push(0);
            }
            level.sizes[number] += 1;
            level.of.push(number);
        }
        level
    }

    /// Returns these hosts by group, in the order of their first ones.
    fn parts(&self, hosts: &[usize]) -> Vec<Vec<usize>> {
        let mut place = HashMap::new();
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for &host in hosts {
            let at = *place.entry(self.of[host]).or_insert_with(|| {
                parts.push(Vec::new());
                parts.len() - 1
            });
            parts[at].push(host);
        }
        parts
    }
}

/// Adds a set, sorted, unless it is known.
fn add(sets: &mut Vec<Vec<usize>>, mut set: Vec<usize>) {
    set.sort_unstable();
    if !sets.contains(&set) {
        sets.push(set);
    }
}

/// Returns which of these numbers have the greatest sum that is not above `most`. (Subset sum: for each sum, the first
/// number with which it was reached.)
fn greatest_sum(numbers: &[usize], most: usize) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut last = vec![NONE; most + 1];
    let mut reached = vec![false; most + 1];
    reached[0] = true;
    for (at, &number) in numbers.iter().enumerate() {
        for sum in (number..=most).rev() {
            if !reached[sum] && reached[sum - number] {
                (reached[sum], last[sum]) = (true, at);
            }
        }
    }
    let mut sum = (0..=most).rev().find(|&sum| reached[sum]).unwrap_or(0);
    let mut chosen = Vec::new();
    while sum > 0 {
        chosen.push(last[sum]);
        sum -= numbers[last[sum]];
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_as_great_as_possible() {
        for (numbers, most, expected) in [
            (&[][..], 5, 0),
            (&[5, 4, 3], 7, 7),
            (&[5, 4, 3], 6, 5),
            (&[4, 4, 4], 11, 8),
            (&[6], 5, 0),
            (&[3, 3, 2], 8, 8),
        ] {
            let chosen = greatest_sum(numbers, most);
            let sum: usize = chosen.iter().map(|&at| numbers[at]).sum();
            assert_eq!(sum, expected, "{numbers:?} {most}");
            let mut once = chosen.clone();
            once.dedup();
            assert_eq!(once, chosen);
        }
    }
}
