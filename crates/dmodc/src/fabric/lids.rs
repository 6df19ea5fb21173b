//! LIDs for ports that have none.
//!
//! Files leave LIDs out, or give one twice. Routing needs each destination named once, and two
//! commands that read one file must agree, so the missing are given here from the fabric alone:
//! the least free numbers, to nodes in topological order first, then to switches by GUID. Where
//! InfiniBand's unicast range is too small for all, they continue at [`Lid::FIRST_EXTENDED`].

use std::collections::HashSet;

use super::{Degradation, Fabric, Live};
use crate::id::{Guid, Lid, NodeIndex, SwitchIndex};
use crate::leaf::LeafRule;
use crate::order::{DestinationOrder, Orders, SwitchOrder};
use crate::rank::Ranking;

/// Something that has a LID.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Node(NodeIndex),
    Switch(SwitchIndex),
}

impl Fabric {
    /// Returns the same fabric with a LID for every port whose LID is unknown or belongs to another port already; a
    /// LID claimed twice stays with the least GUID. Returns also who was given one, with the LID that was claimed.
    #[must_use]
    pub fn with_missing_lids(self) -> (Fabric, Vec<(Guid, Lid)>) {
        let mut claims: Vec<Owner> = self.node_indices().map(Owner::Node).collect();
        claims.extend(self.switch_indices().map(Owner::Switch));
        claims.sort_by_key(|&owner| self.guid_of(owner));
        let mut taken = HashSet::new();
        let mut without = self.without_lids(claims, &mut taken);
        if without.is_empty() {
            return (self, Vec::new());
        }
        self.sort_topologically(&mut without);
        let claimed =
            without.iter().map(|&owner| (self.guid_of(owner), self.lids_of(owner).0)).collect();
        (self.numbered(&without, &taken), claimed)
    }

    /// Those whose LIDs are unknown or taken; the LIDs of all others are taken now.
    fn without_lids(&self, claims: Vec<Owner>, taken: &mut HashSet<u32>) -> Vec<Owner> {
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
        let all =
            self.node_indices().map(Owner::Node).chain(self.switch_indices().map(Owner::Switch));
        for owner in all {
            let is_later = match owner {
                Owner::Node(n) => n.at() >= nodes,
                Owner::Switch(s) => s.at() >= switches,
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

    fn guid_of(&self, owner: Owner) -> Guid {
        match owner {
            Owner::Node(n) => self.node(n).guid,
            Owner::Switch(s) => self.switch(s).guid,
        }
    }

    fn lids_of(&self, owner: Owner) -> (Lid, u32) {
        match owner {
            Owner::Node(n) => (self.node(n).lid, 1 << self.node(n).lmc),
            Owner::Switch(s) => (self.switch(s).lid, 1),
        }
    }

    fn sort_topologically(&self, owners: &mut [Owner]) {
        let healthy = Degradation::none(self);
        let live = Live::new(self, &healthy);
        let ranking = Ranking::new(live, &LeafRule::Detect);
        let orders =
            Orders::new(live, &ranking, &DestinationOrder::Topological, &SwitchOrder::Plane);
        owners.sort_by_key(|&owner| match owner {
            Owner::Node(n) => {
                let number = orders.node_number(n);
                (u8::from(!number.on_leaf), u64::from(number.number))
            }
            Owner::Switch(s) => (2, self.switch(s).guid.0),
        });
    }

    /// Returns the same fabric with free LIDs for these owners.
    fn numbered(self, owners: &[Owner], taken: &HashSet<u32>) -> Fabric {
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
                Owner::Node(n) => nodes.push((n, Lid(next))),
                Owner::Switch(s) => switches.push((s, Lid(next))),
            }
            next += count;
        }
        self.with_lids(nodes, switches)
    }

    /// Whether OpenSM could use every LID; if not, the first that it could not.
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
        let owners = [1, 2].map(|n| Owner::Node(NodeIndex::new(n)));
        let fabric = fabric.numbered(&owners, &taken);
        assert_eq!((fabric.nodes[1].lid, fabric.nodes[2].lid), (Lid(0x1_0000), Lid(0x1_0001)));
        assert_eq!(fabric.infiniband_lids(), Err(Lid(0x1_0000)));
    }
}
