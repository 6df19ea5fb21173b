//! Patterns of collective operations: rings, trees, exchanges, phases of all-to-all, and neighbours in a grid.
//!
//! All functions number the members of a job 0, 1, 2 … without gaps. [`on`](Step::on) puts a pattern on the positions of
//! members.

use std::num::NonZeroU32;

use super::steps::{Step, StepKind, recursive_doubling};

/// Returns the flows of a binary tree in which all edges are used in both directions at the same time, as in a pipelined
/// allreduce: member i sends to its children 2i + 1 and 2i + 2, and they send to it.
pub fn tree(members: u32) -> Vec<(u32, u32)> {
    (1..members).flat_map(|child| [(child, (child - 1) / 2), ((child - 1) / 2, child)]).collect()
}

/// Returns the steps of recursive halving, which scatters a reduced message. The exchanges are those of [recursive
/// doubling](recursive_doubling) from the greatest distance to the least, and messages become shorter: with p members that
/// exchange, those at distance k send k/p of the message. Members beyond a power of two send all of theirs to a neighbour
/// before, and get their part, 1/p, at the end.
pub fn halving(members: u32) -> Vec<Step> {
    let power = members.checked_ilog2().map_or(1, |bits| 1 << bits);
    let mut steps = recursive_doubling(0..members);
    let rank = |kind: StepKind| match kind {
        StepKind::FoldIn => (0, 0),
        StepKind::Exchange(distance) => (1, power - distance),
        _ => (2, 0),
    };
    steps.sort_by_key(|step| rank(step.kind));
    for step in &mut steps {
        step.parts = match step.kind {
            StepKind::FoldIn => 1,
            StepKind::Exchange(distance) => power / distance,
            _ => power,
        };
    }
    steps
}

/// Returns how many phases all-to-all by pairwise exchange has, if every member has this number of messages on the way at
/// the same time.
pub fn phase_count(members: u32, in_flight: NonZeroU32) -> u32 {
    members.saturating_sub(1).div_ceil(in_flight.get())
}

/// Returns the flows of a phase of all-to-all by pairwise exchange, counted from 0. With one message on the way, member i
/// sends to member i + 1 in the first phase, to i + 2 in the second one, and so on; with m messages, the first phase has
/// the distances 1 … m, the second one m + 1 … 2m.
pub fn phase(members: u32, in_flight: NonZeroU32, number: u32) -> Vec<(u32, u32)> {
    let first = number.saturating_mul(in_flight.get()).saturating_add(1);
    let distances = first..first.saturating_add(in_flight.get()).min(members);
    let to = |from: u32, distance: u32| {
        ((u64::from(from) + u64::from(distance)) % u64::from(members)) as u32
    };
    distances
        .flat_map(|distance| (0..members).map(move |from| (from, to(from, distance))))
        .collect()
}

/// A grid of members in three dimensions that closes around, as in simulations of a volume. Member (x, y, z) has the
/// number x + X·(y + Y·z).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The numbers of members in each dimension, X, Y and Z.
    pub lengths: [NonZeroU32; 3],
}

impl Grid {
    /// Returns how many members the grid has.
    pub fn members(&self) -> u64 {
        self.lengths.iter().map(|length| u64::from(length.get())).product()
    }

    /// Returns the flows of every member to its neighbours, all at the same time: the next and the one before in each
    /// dimension. In a dimension of two members both are the same, and it gets one flow; with one member there is none.
    pub fn neighbours(&self) -> Vec<(u32, u32)> {
        let lengths = self.lengths.map(u32::from);
        let mut pairs = Vec::new();
        for member in 0..self.members() as u32 {
            let mut stride = 1;
            for length in lengths {
                let at = member / stride % length;
                let moved = |to: u32| member - at * stride + to * stride;
                let (next, before) = (moved((at + 1) % length), moved((at + length - 1) % length));
                if next != member {
                    pairs.push((member, next));
                }
                if before != member && before != next {
                    pairs.push((member, before));
                }
                stride *= length;
            }
        }
        pairs
    }
}

/// Returns the flows of an incast: these members, in this order, form groups of `senders` + 1, and in each group all
/// others send to the first one. The last group may be smaller.
pub fn incast(order: &[u32], senders: usize) -> Vec<(u32, u32)> {
    let group = |group: &[u32]| -> Vec<(u32, u32)> {
        group[1..].iter().map(|&from| (from, group[0])).collect()
    };
    order.chunks(senders.saturating_add(1)).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).expect("greater than 0")
    }

    #[test]
    fn a_tree_uses_every_edge_in_both_directions() {
        assert_eq!(tree(4), [(1, 0), (0, 1), (2, 0), (0, 2), (3, 1), (1, 3)]);
        assert_eq!((tree(1), tree(0)), (vec![], vec![]));
    }

    /// After the last step every member has its part of the sum of all: part i of the message has passed from everybody to
    /// the member that keeps it.
    #[test]
    fn halving_is_doubling_from_the_other_end() {
        let steps = halving(6);
        let kinds: Vec<StepKind> = steps.iter().map(|step| step.kind).collect();
        let exchange = StepKind::Exchange;
        assert_eq!(kinds, [StepKind::FoldIn, exchange(2), exchange(1), StepKind::FoldOut]);
        assert_eq!(steps.iter().map(|step| step.parts).collect::<Vec<_>>(), [1, 2, 4, 4]);
        for members in 2..40u32 {
            let mut gathered: Vec<u64> = (0..members).map(|i| 1 << i).collect();
            for step in halving(members) {
                let before = gathered.clone();
                for (from, to) in step.pairs {
                    gathered[to as usize] |= before[from as usize];
                }
            }
            assert!(gathered.iter().all(|&from| from == (1 << members) - 1), "{members}");
        }
        assert!(halving(1).is_empty() && halving(0).is_empty());
    }

    #[test]
    fn phases_are_all_to_all_in_parts() {
        for members in 0..12u32 {
            for in_flight in 1..14 {
                let count = phase_count(members, some(in_flight));
                let phases = (0..count).map(|number| phase(members, some(in_flight), number));
                let mut all = Vec::new();
                for pairs in phases {
                    let from_one = pairs.iter().filter(|(from, _)| *from == 0).count();
                    assert!((1..=in_flight as usize).contains(&from_one));
                    all.extend(pairs);
                }
                all.sort_unstable();
                let to =
                    |from| (0..members).filter(move |&to| to != from).map(move |to| (from, to));
                assert_eq!(all, (0..members).flat_map(to).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn neighbours_are_one_step_away() {
        let grid = |lengths: [u32; 3]| Grid { lengths: lengths.map(some) };
        assert_eq!(grid([3, 1, 1]).neighbours(), [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]);
        assert_eq!(grid([2, 1, 1]).neighbours(), [(0, 1), (1, 0)]);
        assert_eq!(grid([1, 1, 1]).neighbours(), []);
        for lengths in [[4, 3, 5], [2, 2, 2], [1, 6, 2]] {
            let grid = grid(lengths);
            let place = |member: u32| {
                let [x, y, _] = lengths;
                [member % x, member / x % y, member / x / y]
            };
            let mut expected = Vec::new();
            let members = grid.members() as u32;
            for from in 0..members {
                for to in 0..members {
                    let apart = (0..3).map(|i| {
                        let (a, b) = (place(from)[i], place(to)[i]);
                        a.abs_diff(b).min(lengths[i] - a.abs_diff(b))
                    });
                    if apart.sum::<u32>() == 1 {
                        expected.push((from, to));
                    }
                }
            }
            let mut pairs = grid.neighbours();
            pairs.sort_unstable();
            assert_eq!(pairs, expected, "{lengths:?}");
        }
    }

    #[test]
    fn an_incast_has_groups() {
        assert_eq!(incast(&[5, 1, 4, 2, 0], 2), [(1, 5), (4, 5), (0, 2)]);
        assert_eq!(incast(&[5, 1], 9), [(1, 5)]);
        assert_eq!(incast(&[], 1), []);
    }
}
