//! What no regular shape has, and what is still no proof of a mistake.
//!
//! In a fat tree a cable leads one level up. A cable within a level is doubtful if few switches of that level have one: two
//! exchanged ends may have made it, or somebody joined two switches on purpose. A leaf without a cable upwards is doubtful if
//! most leaves have one.
//!
//! Example: among 12 leaves, only two have a cable to another leaf: the cable that joins them. It is doubtful. If all 12 have
//! such cables, the fabric was built so, and none is.

use super::Shape;
use crate::fabric::Cable;
use crate::id::SwitchIndex;

/// One in this number of switches may differ from the others.
const PART: usize = 4;

/// A part of a fabric that no regular shape has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeDoubt {
    /// A cable joins two switches of the same rank, and few others of that rank do so.
    SameRank(Cable),
    /// A leaf with nodes has no cable to a switch of the next rank, and most leaves have one.
    NoUplink(SwitchIndex),
}

impl ShapeDoubt {
    /// Returns the cable that is doubtful, if it is one.
    pub fn cable(self) -> Option<Cable> {
        match self {
            ShapeDoubt::SameRank(cable) => Some(cable),
            ShapeDoubt::NoUplink(_) => None,
        }
    }
}

impl Shape<'_> {
    /// Returns everything that is doubtful: cables in their order, then leaves in theirs.
    pub(super) fn doubts(&self) -> Vec<ShapeDoubt> {
        let cables = self.same_rank_cables().into_iter().map(ShapeDoubt::SameRank);
        cables.chain(self.leaves_without_uplinks().into_iter().map(ShapeDoubt::NoUplink)).collect()
    }

    fn same_rank_cables(&self) -> Vec<Cable> {
        let fabric = self.live.fabric;
        let rank = |s: SwitchIndex| self.ranking.rank(s);
        let within =
            |cable: &&Cable| rank(cable.a.0).is_some() && rank(cable.a.0) == rank(cable.b.0);
        let mut cables: Vec<Cable> =
            fabric.inter_switch_cables().iter().filter(within).copied().collect();
        let by_rank = self.ranking.by_rank();
        let mut has_one = vec![false; fabric.switches().len()];
        for cable in &cables {
            [cable.a.0, cable.b.0].into_iter().for_each(|s| has_one[s.at()] = true);
        }
        let is_rare: Vec<bool> = by_rank
            .iter()
            .map(|switches| {
                let count = switches.iter().filter(|s| has_one[s.at()]).count();
                // One cable concerns two switches, so one is rare among three switches already.
                count < switches.len() && count <= (switches.len() / PART).max(2)
            })
            .collect();
        cables.retain(|cable| rank(cable.a.0).is_some_and(|rank| is_rare[rank as usize]));
        cables
    }

    fn leaves_without_uplinks(&self) -> Vec<SwitchIndex> {
        let leaves: Vec<SwitchIndex> = self.ranking.leaves_with_nodes().collect();
        let lacks = |s: &SwitchIndex| self.above.of(*s).is_empty();
        let lacking: Vec<SwitchIndex> = leaves.iter().copied().filter(lacks).collect();
        match lacking.len() < leaves.len() && lacking.len() <= (leaves.len() / PART).max(1) {
            true => lacking,
            false => vec![],
        }
    }
}
