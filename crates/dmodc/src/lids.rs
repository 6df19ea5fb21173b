//! LIDs for ports that have none, in topological order.
//!
//! Files leave LIDs out, or give one twice. Routing needs each destination named once, and two commands that read one file
//! must agree. So the missing LIDs are given from the fabric alone: the least free numbers, to nodes in topological order
//! first, then to switches by GUID.

use std::collections::HashSet;

use crate::fabric::{Degradation, Fabric, LidOwner, Live};
use crate::id::{Guid, Lid};
use crate::leaf::LeafRule;
use crate::order::{DestinationOrder, Orders, SwitchOrder};
use crate::rank::Ranking;

impl Fabric {
    /// Returns the same fabric with a LID for every port whose LID is unknown or belongs to another port already; a
    /// LID claimed twice stays with the least GUID. Returns also who was given one, with the LID that was claimed.
    #[must_use]
    pub fn with_missing_lids(self) -> (Fabric, Vec<(Guid, Lid)>) {
        let mut claims: Vec<LidOwner> = self.node_indices().map(LidOwner::Node).collect();
        claims.extend(self.switch_indices().map(LidOwner::Switch));
        claims.sort_by_key(|&owner| self.guid_of(owner));
        let mut taken = HashSet::new();
        let mut without = self.without_lids(claims, &mut taken);
        if without.is_empty() {
            return (self, Vec::new());
        }
        sort_topologically(&self, &mut without);
        let claimed =
            without.iter().map(|&owner| (self.guid_of(owner), self.lids_of(owner).0)).collect();
        (self.numbered(&without, &taken), claimed)
    }
}

/// Sorts nodes by their topological number, and switches after them by GUID.
fn sort_topologically(fabric: &Fabric, owners: &mut [LidOwner]) {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let ranking = Ranking::new(live, &LeafRule::Detect);
    let orders = Orders::new(live, &ranking, &DestinationOrder::Topological, &SwitchOrder::Plane);
    owners.sort_by_key(|&owner| match owner {
        LidOwner::Node(n) => {
            let number = orders.node_number(n);
            (u8::from(!number.on_leaf), u64::from(number.number))
        }
        LidOwner::Switch(s) => (2, fabric.switch(s).guid.0),
    });
}
