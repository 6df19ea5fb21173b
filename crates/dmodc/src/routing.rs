//! The whole pipeline behind one type.

use std::sync::Arc;

use crate::divider::dividers;
use crate::fabric::{Degradation, Fabric, Live};
use crate::group::{PortGroups, SortedLinks};
use crate::leaf::{Doubt, LeafRule};
use crate::order::{DestinationOrder, Orders, SavedOrders, SwitchOrder};
use crate::rank::Ranking;
use crate::route::{Coverage, Engine, Preprocessing, RouteError};
use crate::tables::{Columns, ForwardingTables, NoMemory};

/// What can be chosen about a routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingOptions {
    /// How leaves are found.
    pub leaves: LeafRule,
    /// How destinations are numbered.
    pub destinations: DestinationOrder,
    /// How port groups are sorted.
    pub switches: SwitchOrder,
    /// Whether switches' own LIDs are destinations, too.
    pub switch_lids: bool,
}

impl Default for RoutingOptions {
    fn default() -> Self {
        RoutingOptions {
            leaves: LeafRule::default(),
            destinations: DestinationOrder::default(),
            switches: SwitchOrder::default(),
            switch_lids: true,
        }
    }
}

impl RoutingOptions {
    /// What saved orders know of leaves, for each switch.
    fn known_leaves(&self, live: Live<'_>) -> Vec<Option<bool>> {
        match (&self.destinations, &self.switches) {
            (DestinationOrder::Saved(saved), _) | (_, SwitchOrder::Saved(saved)) => {
                saved.known_leaves(live)
            }
            _ => vec![],
        }
    }
}

/// The leaves, orders and columns of a fabric, fixed once from its first (healthy) state, so that re-routing
/// after a fault moves nothing that the fault did not.
#[derive(Clone, Debug)]
pub struct Routing {
    leaves: LeafRule,
    doubts: Vec<Doubt>,
    orders: Arc<Orders>,
    links: Arc<SortedLinks>,
    columns: Arc<Columns>,
}

impl Routing {
    /// Fixes leaves, orders and columns.
    pub fn new(live: Live<'_>, options: &RoutingOptions) -> Self {
        let (leaves, doubts) = options.leaves.fix(live, &options.known_leaves(live));
        let ranking = Ranking::new(live, &leaves);
        let orders = Orders::new(live, &ranking, &options.destinations, &options.switches);
        let links = Arc::new(SortedLinks::new(live.fabric, &orders));
        let columns = Arc::new(Columns::new(live.fabric, &orders, options.switch_lids));
        Routing { leaves, doubts, orders: Arc::new(orders), links, columns }
    }

    /// Both orders that a whole fabric has of its own accord, as lists.
    pub fn orders_of(fabric: &Fabric, options: &RoutingOptions) -> SavedOrders {
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let (leaves, _) = options.leaves.fix(live, &options.known_leaves(live));
        let ranking = Ranking::new(live, &leaves);
        Orders::new(live, &ranking, &options.destinations, &options.switches).save(live)
    }

    /// The orders.
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// The columns of all tables made here.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// The ranks of the fabric as it is now.
    pub fn ranking(&self, live: Live<'_>) -> Ranking {
        Ranking::new(live, &self.leaves)
    }

    /// The preprocessing of the fabric as it is now.
    pub fn preprocess(&self, live: Live<'_>) -> Preprocessing {
        let ranking = self.ranking(live);
        let groups = PortGroups::of(self.links.clone(), live, &ranking);
        Preprocessing::new(ranking, self.orders.clone(), groups)
    }

    /// The same into a preprocessing of the same fabric.
    pub(crate) fn preprocess_again(&self, live: Live<'_>, ready: &mut Preprocessing) {
        ready.ranking = self.ranking(live);
        ready.groups.rebuild(live, &ready.ranking);
        ready.dividers = dividers(&ready.groups);
    }

    /// The switches of which it is uncertain whether they are leaves, ascending by index.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// The leaves as they were fixed.
    pub(crate) fn leaf_rule(&self) -> &LeafRule {
        &self.leaves
    }

    /// Tables to be filled by [`Engine::route`], as often as wanted.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn empty_tables(&self, live: Live<'_>) -> Result<ForwardingTables, NoMemory> {
        ForwardingTables::new(self.columns.clone(), live.fabric.switches().len())
    }

    /// Routes the fabric as it is now.
    ///
    /// # Errors
    /// If the engine cannot route it.
    pub fn route(
        &self,
        live: Live<'_>,
        engine: &dyn Engine,
    ) -> Result<(ForwardingTables, Coverage), RouteError> {
        let mut tables = self.empty_tables(live)?;
        let coverage = engine.route(live, &self.preprocess(live), &mut tables)?;
        Ok((tables, coverage))
    }
}
