//! What can be chosen about a router.

use std::collections::HashSet;
use std::sync::Arc;

use dmodc::{
    DestinationOrder, Fabric, Guid, LeafChoice, LeafRule, RoutingOptions, SavedOrders, SwitchIndex,
    SwitchOrder,
};

use crate::error::{DmodcStatus, Failure};
use crate::records::DmodcEngine;

/// The choices.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) engine: DmodcEngine,
    /// The whole fabric, for the engine stable.
    pub(crate) reference: Option<Arc<Fabric>>,
    /// Orders of an earlier router.
    pub(crate) orders: Option<Arc<SavedOrders>>,
    /// Whether numbers are meant to be saved, so that empty places have numbers, too.
    pub(crate) lasting: bool,
    /// Exactly these switches are leaves.
    pub(crate) leaves: Option<HashSet<Guid>>,
    /// Ranks are counted down from these switches.
    pub(crate) roots: Option<HashSet<Guid>>,
    /// Leaves are the switches with at least this number of nodes.
    pub(crate) least_nodes: Option<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            engine: DmodcEngine::Dmodc,
            reference: None,
            orders: None,
            lasting: false,
            leaves: None,
            roots: None,
            least_nodes: None,
        }
    }
}

/// Returns the engine with a number.
pub(crate) fn engine_of(engine: u32) -> Result<DmodcEngine, Failure> {
    let all = [DmodcEngine::Dmodc, DmodcEngine::Stable, DmodcEngine::Paper];
    let found = all.into_iter().find(|known| *known as u32 == engine);
    found.ok_or_else(|| Failure::argument(format!("{engine} is no engine")))
}

impl Settings {
    /// Returns the rule for the leaves of a fabric.
    pub(crate) fn leaf_rule(&self, fabric: &Fabric) -> Result<LeafRule, Failure> {
        let none = |message: String| Failure::new(DmodcStatus::NotFound, message);
        let Some(leaves) = &self.leaves else {
            let roots = self.roots.as_ref().map(|roots| roots.iter().copied().collect());
            let choice = LeafChoice { roots, at_least: self.least_nodes, ..LeafChoice::default() };
            return choice.rule(fabric).map_err(|error| none(error.to_string()));
        };
        let flags: Vec<bool> =
            fabric.switches().iter().map(|switch| leaves.contains(&switch.guid)).collect();
        if !flags.contains(&true) {
            return Err(none("none of the leaves is a switch of the fabric".into()));
        }
        let Some(roots) = &self.roots else { return Ok(LeafRule::These(flags)) };
        let is_root = |s: &SwitchIndex| roots.contains(&fabric.switch(*s).guid);
        let roots: Vec<SwitchIndex> = fabric.switch_indices().filter(is_root).collect();
        match roots.is_empty() {
            true => Err(none("none of the roots is a switch of the fabric".into())),
            false => Ok(LeafRule::RootsAndLeaves(roots, flags)),
        }
    }

    /// Returns the options of a routing with these leaves.
    pub(crate) fn options(&self, leaves: LeafRule) -> RoutingOptions {
        let (destinations, switches) = match (&self.orders, self.lasting) {
            (Some(saved), _) => (
                DestinationOrder::Saved(SavedOrders::clone(saved)),
                SwitchOrder::Saved(SavedOrders::clone(saved)),
            ),
            (None, true) => (DestinationOrder::Places, SwitchOrder::AgreedPlane),
            (None, false) => (DestinationOrder::Topological, SwitchOrder::Plane),
        };
        RoutingOptions { leaves, destinations, switches, switch_lids: true }
    }
}
