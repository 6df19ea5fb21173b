//! LIDs: who has one, and the least free ones for those who have none. Where InfiniBand's unicast range is too small for
//! all, they continue at [`Lid::FIRST_EXTENDED`]. (Who gets which is decided in `lids` at the root of the crate.)

use std::collections::HashSet;

use super::Fabric;
use crate::id::{Guid, Lid, NodeIndex, SwitchIndex};

/// Something that has a LID.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LidOwner {
    Node(NodeIndex),
    Switch(SwitchIndex),
}

impl Fabric {
    /// Returns those whose LIDs are unknown or taken; the LIDs of all others are taken now.
    pub(crate) fn without_lids(
        &self,
        claims: Vec<LidOwner>,
        taken: &mut HashSet<u32>,
    ) -> Vec<LidOwner> {
        let mut without = Vec::new();
        for owner in claims {
            let (base, count) = self.lids_of(owner);
            let usable = |lid: u32| lid != 0 && lid != 0xffff && !taken.contains(&lid);
            if (base.0..base.0.saturating_add(count)).all(usable) {
                taken.extend(base.0..base.0 + count);
            } else {
                without.push(owner);
            }
        }
        without
    }

    /// Returns the same fabric with free LIDs for the switches and nodes from these numbers on whose LIDs are unknown
    /// or belong to others; of two of them, the least GUID keeps it.
    #[must_use]
    pub(super) fn with_yielded_lids(self, switches: usize, nodes: usize) -> Fabric {
        let (mut taken, mut later) = (HashSet::new(), Vec::new());
        let all = self
            .node_indices()
            .map(LidOwner::Node)
            .chain(self.switch_indices().map(LidOwner::Switch));
        for owner in all {
            let is_later = match owner {
                LidOwner::Node(n) => n.at() >= nodes,
                LidOwner::Switch(s) => s.at() >= switches,
            };
            match self.lids_of(owner) {
                _ if is_later => later.push(owner),
                (base, count) => taken.extend(base.0..base.0 + count),
            }
        }
        later.sort_by_key(|&owner| self.guid_of(owner));
        let without = self.without_lids(later, &mut taken);
        self.numbered(&without, &taken)
    }

    pub(crate) fn guid_of(&self, owner: LidOwner) -> Guid {
        match owner {
            LidOwner::Node(n) => self.node(n).guid,
            LidOwner::Switch(s) => self.switch(s).guid,
        }
    }

    pub(crate) fn lids_of(&self, owner: LidOwner) -> (Lid, u32) {
        match owner {
            LidOwner::Node(n) => (self.node(n).lid, 1 << self.node(n).lmc),
            LidOwner::Switch(s) => (self.switch(s).lid, 1),
        }
    }

    /// Returns the same fabric with free LIDs for these owners.
    pub(crate) fn numbered(self, owners: &[LidOwner], taken: &HashSet<u32>) -> Fabric {
        let mut next = 1;
        let (mut nodes, mut switches) = (Vec::new(), Vec::new());
        let wanted: u64 = owners.iter().map(|&o| u64::from(self.lids_of(o).1)).sum();
        if wanted + taken.len() as u64 > u64::from(Lid::LAST_UNICAST.0) {
            next = Lid::FIRST_EXTENDED.0;
        }
        for &owner in owners {
            let (_, count) = self.lids_of(owner);
            // A range of 2^lmc LIDs is aligned, as the subnet manager would have it.
            next = next.next_multiple_of(count);
            loop {
                if next <= 0xffff && next + count > Lid::LAST_UNICAST.0 + 1 {
                    next = Lid::FIRST_EXTENDED.0;
                }
                if (next..next + count).all(|lid| !taken.contains(&lid)) {
                    break;
                }
                next += count;
            }
            match owner {
                LidOwner::Node(n) => nodes.push((n, Lid(next))),
                LidOwner::Switch(s) => switches.push((s, Lid(next))),
            }
            next += count;
        }
        self.with_lids(nodes, switches)
    }

    /// Checks whether OpenSM could use every LID.
    ///
    /// # Errors
    /// The LID outside InfiniBand's unicast range.
    pub fn infiniband_lids(&self) -> Result<(), Lid> {
        let nodes = self.nodes.iter().map(|n| Lid(n.lid.0 + (1 << n.lmc) - 1));
        let switches = self.switches.iter().map(|s| s.lid);
        match nodes.chain(switches).find(|lid| !lid.is_infiniband()) {
            Some(lid) => Err(lid),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GuidOrder, Pgft};

    fn fabric() -> Fabric {
        let pgft: Pgft = "2; 3,2; 1,2; 1,1".parse().unwrap();
        pgft.fabric(GuidOrder::Shuffled(5))
    }

    #[test]
    fn missing_lids_are_given_topologically_and_known_ones_stay() {
        let mut fabric = fabric();
        let lids: Vec<Lid> = fabric.nodes.iter().map(|n| n.lid).collect();
        let given;
        (fabric, given) = fabric.with_missing_lids();
        assert_eq!(given, []);
        for lid in [0, 0xffff] {
            fabric.nodes[2].lid = Lid(lid);
            let given;
            (fabric, given) = fabric.with_missing_lids();
            assert_eq!(given, [(fabric.nodes[2].guid, Lid(lid))]);
            assert_eq!(fabric.nodes.iter().map(|n| n.lid).collect::<Vec<_>>(), lids);
        }
        for n in &mut fabric.nodes {
            n.lid = Lid::UNKNOWN;
        }
        fabric.switches[0].lid = Lid(3);
        let (fabric, given) = fabric.with_missing_lids();
        assert_eq!(given.len(), 6);
        let given: Vec<u32> = fabric.nodes.iter().map(|n| n.lid.0).collect();
        assert_eq!(given, [1, 2, 4, 5, 6, 7]);
    }

    #[test]
    fn nodes_come_first_then_switches_by_guid() {
        let mut fabric = fabric();
        for n in &mut fabric.nodes {
            n.lid = Lid::UNKNOWN;
        }
        for s in &mut fabric.switches {
            s.lid = Lid::UNKNOWN;
        }
        let (fabric, _) = fabric.with_missing_lids();
        assert!(fabric.nodes.iter().map(|n| n.lid.0).eq(1..=6));
        let mut switches = fabric.switches.clone();
        switches.sort_by_key(|s| s.guid);
        assert!(switches.iter().map(|s| s.lid.0).eq(7..=10));
    }

    #[test]
    fn a_lid_claimed_twice_stays_with_the_least_guid() {
        let mut fabric = fabric();
        let (a, b) = (fabric.nodes[0].guid, fabric.nodes[5].guid);
        let lid = fabric.nodes[5].lid;
        fabric.nodes[0].lid = lid;
        let (fabric, given) = fabric.with_missing_lids();
        assert_eq!(given.len(), 1);
        assert_eq!(fabric.nodes[if a < b { 0 } else { 5 }].lid, lid);
        assert_ne!(fabric.nodes[0].lid, fabric.nodes[5].lid);
    }

    #[test]
    fn lid_ranges_are_aligned_and_overflow_leaves_infiniband() {
        let mut fabric = fabric();
        for n in &mut fabric.nodes {
            (n.lid, n.lmc) = (Lid::UNKNOWN, 2);
        }
        let (mut fabric, _) = fabric.with_missing_lids();
        assert!(fabric.nodes.iter().all(|n| n.lid.0 % 4 == 0 && n.lid.0 > 0));
        assert_eq!(fabric.infiniband_lids(), Ok(()));
        for (at, n) in fabric.nodes.iter_mut().enumerate() {
            (n.lid, n.lmc) = (Lid(if at == 0 { 0xbfff } else { 0 }), 0);
        }
        for s in &mut fabric.switches {
            s.lid = Lid::UNKNOWN;
        }
        let taken = (1..0xbffe).chain([0xbfff]).collect();
        let owners = [1, 2].map(|n| LidOwner::Node(NodeIndex::new(n)));
        let fabric = fabric.numbered(&owners, &taken);
        assert_eq!((fabric.nodes[1].lid, fabric.nodes[2].lid), (Lid(0x1_0000), Lid(0x1_0001)));
        assert_eq!(fabric.infiniband_lids(), Err(Lid(0x1_0000)));
    }
}
