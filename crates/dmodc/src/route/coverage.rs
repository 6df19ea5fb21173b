//! What routing reached, and what it could not.

use crate::id::SwitchIndex;

/// How many missing pairs are kept by name.
const NAMED: usize = 8;

/// The validity of a routing: whether every leaf reaches every other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Ordered pairs of different leaves that were to be connected.
    pub leaf_pairs: u64,
    /// Those without a route.
    pub unreachable_leaf_pairs: u64,
    /// The first of them (from, to), in the order of the columns.
    pub examples: Vec<(SwitchIndex, SwitchIndex)>,
}

impl Coverage {
    /// The paper's criterion: the cost of every leaf to every other is finite.
    pub fn is_valid(&self) -> bool {
        self.unreachable_leaf_pairs == 0
    }

    /// Keeps an unreachable pair by name, if it is among the first.
    pub(super) fn name(&mut self, from: SwitchIndex, to: SwitchIndex) {
        if self.examples.len() < NAMED {
            self.examples.push((from, to));
        }
    }

    /// Both together; the examples of `self` come first.
    pub(crate) fn and(mut self, other: Coverage) -> Coverage {
        self.leaf_pairs += other.leaf_pairs;
        self.unreachable_leaf_pairs += other.unreachable_leaf_pairs;
        self.examples.extend(other.examples);
        self.examples.truncate(NAMED);
        self
    }
}
