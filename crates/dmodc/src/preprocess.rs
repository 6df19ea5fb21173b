//! The paper's preprocessing (section III-A to III-C): everything that a route needs except costs.

use std::sync::Arc;

use crate::cost::TileCosts;
use crate::divider::dividers;
use crate::fabric::Live;
use crate::group::PortGroups;
use crate::kernel::Kernel;
use crate::order::Orders;
use crate::rank::Ranking;

/// What every engine starts from. Costs are not part of it: they are computed tile by tile while routing.
#[derive(Clone, Debug)]
pub struct Preprocessing {
    /// The rank of every switch.
    pub ranking: Ranking,
    /// The numbers of destinations and the positions of switches.
    pub orders: Arc<Orders>,
    /// Port groups, sorted and directed.
    pub groups: PortGroups,
    /// Π of every switch, by index.
    pub dividers: Vec<u32>,
    /// Which form of the inner loops is used; the results do not depend on it.
    pub kernel: Kernel,
}

impl Preprocessing {
    /// Computes the dividers and returns the preprocessing.
    pub fn new(ranking: Ranking, orders: Arc<Orders>, groups: PortGroups) -> Self {
        let dividers = dividers(&groups);
        Preprocessing { ranking, orders, groups, dividers, kernel: Kernel::best() }
    }

    /// Replaces ranks, groups and dividers by those of another state of the same fabric.
    pub(crate) fn replace(&mut self, live: Live<'_>, ranking: Ranking) {
        self.ranking = ranking;
        self.groups.rebuild(live, &self.ranking);
        self.dividers = dividers(&self.groups);
    }

    /// Returns room for the costs of one tile, in the form that this fabric allows.
    pub(crate) fn new_costs(&self) -> TileCosts {
        TileCosts::new(&self.ranking, &self.groups)
    }
}
