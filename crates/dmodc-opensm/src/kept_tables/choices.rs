//! The choices of a configuration that the engine needs.

use std::collections::HashMap;

use dmodc::{
    Degradation, DestinationOrder, Fabric, Guid, LeafRule, Live, Routing, RoutingOptions,
    SavedOrders, SwitchOrder, validity,
};

/// How a fabric is to be routed.
#[derive(Clone, Debug)]
pub(crate) struct RoutingChoices {
    pub(crate) leaves: LeafRule,
    pub(crate) destinations: DestinationOrder,
    pub(crate) switches: SwitchOrder,
    pub(crate) connect_roots: bool,
    /// Switches that have 2^LMC LIDs, by GUID (OpenSM's `lmc_esp0`). All their LIDs get the entry of the first.
    pub(crate) switch_lmc: HashMap<Guid, u8>,
}

impl RoutingChoices {
    /// Returns the options for the engine. Saved orders take precedence over the chosen ones.
    pub(super) fn options(&self, leaves: LeafRule, saved: Option<&SavedOrders>) -> RoutingOptions {
        let (destinations, switches) = match saved {
            Some(saved) => {
                (DestinationOrder::Saved(saved.clone()), SwitchOrder::Saved(saved.clone()))
            }
            None => (self.destinations.clone(), self.switches.clone()),
        };
        RoutingOptions { leaves, destinations, switches, switch_lids: true }
    }

    /// Returns whether all leaves of a fabric reach each other.
    pub(crate) fn connect_all_leaves(&self, fabric: &Fabric) -> bool {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        let routing = Routing::new(live, &self.options(self.leaves.clone(), None));
        let coverage = validity(live, &routing.preprocess(live), routing.columns());
        coverage.is_ok_and(|coverage| coverage.is_valid())
    }
}
