//! How even leaves are: their numbers of nodes and of cables to other switches.
//!
//! A leaf with more nodes than cables has two nodes on one cable in every pattern in which all of them send, or all receive,
//! whatever the tables. In a fabric whose leaves are all alike this is a property of the whole (it is tapered). Where only some
//! leaves are so, these are the bottleneck of the others.

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::rank::Ranking;

/// The numbers of nodes and cables of the leaves with nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafEvenness {
    /// The number of leaves with nodes.
    pub leaves: usize,
    /// The least and the greatest number of nodes on a leaf.
    pub nodes: (usize, usize),
    /// The least and the greatest number of cables of a leaf to other switches.
    pub cables: (usize, usize),
    /// The number of leaves that have cables, and more nodes than these.
    pub crowded: usize,
    /// The leaf with the most nodes for each cable.
    pub worst: CrowdedLeaf,
}

/// A leaf with its nodes and cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrowdedLeaf {
    /// The leaf.
    pub switch: SwitchIndex,
    /// The number of its nodes.
    pub nodes: usize,
    /// The number of its cables to other switches.
    pub cables: usize,
}

impl LeafEvenness {
    /// Counts nodes and cables of all leaves. Returns `None` if no leaf has nodes. Aggregation nodes do not count.
    pub fn new(live: Live<'_>, ranking: &Ranking) -> Option<Self> {
        let is_host = |n: &_| !live.fabric.is_aggregation(*n);
        let of = |switch: SwitchIndex| CrowdedLeaf {
            switch,
            nodes: live.nodes(switch).filter(is_host).count(),
            cables: live.links(switch).count(),
        };
        let leaves = ranking.leaves().iter().map(|&leaf| of(leaf)).filter(|leaf| leaf.nodes > 0);
        let leaves: Vec<CrowdedLeaf> = leaves.collect();
        let range = |number: fn(&CrowdedLeaf) -> usize| {
            let numbers = || leaves.iter().map(number);
            Some((numbers().min()?, numbers().max()?))
        };
        // Quotients are compared without division: nodes / cables.
        let crowd = |a: &&CrowdedLeaf, b: &&CrowdedLeaf| {
            (a.nodes * b.cables).cmp(&(b.nodes * a.cables)).then(b.switch.cmp(&a.switch))
        };
        Some(LeafEvenness {
            leaves: leaves.len(),
            nodes: range(|leaf| leaf.nodes)?,
            cables: range(|leaf| leaf.cables)?,
            crowded: leaves
                .iter()
                .filter(|leaf| leaf.cables > 0 && leaf.nodes > leaf.cables)
                .count(),
            worst: *leaves.iter().filter(|leaf| leaf.cables > 0).max_by(crowd)?,
        })
    }

    /// Returns whether all leaves have as many nodes and cables as the others.
    pub fn is_even(&self) -> bool {
        self.nodes.0 == self.nodes.1 && self.cables.0 == self.cables.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::departures::Departures;
    use crate::fabric::{Degradation, Directors, Fabric};
    use crate::leaf::LeafRule;

    fn evenness(fabric: &Fabric) -> LeafEvenness {
        let none = Degradation::none(fabric);
        let live = Live::new(fabric, &none);
        LeafEvenness::new(live, &Ranking::new(live, &LeafRule::Detect)).unwrap()
    }

    #[test]
    fn uneven_leaves_are_counted() {
        let fabric = Directors::default().fabric(Default::default()).unwrap();
        let even = evenness(&fabric);
        assert!(even.is_even());
        assert_eq!((even.leaves, even.nodes, even.cables, even.crowded), (16, (8, 8), (8, 8), 0));
        let departures = "uneven=25%,missing=2".parse::<Departures>().unwrap();
        let departed = departures.of(&fabric, 3).unwrap();
        let uneven = evenness(&departed);
        assert!(!uneven.is_even() && uneven.crowded > 0, "{uneven:?}");
        assert!(uneven.nodes.0 < 8 && uneven.nodes.1 > 8, "{uneven:?}");
        assert!(uneven.worst.nodes > uneven.worst.cables, "{uneven:?}");
    }
}
