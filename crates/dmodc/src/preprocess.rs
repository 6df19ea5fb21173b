//! The paper's preprocessing (section III-A to III-C): everything that a route needs except costs.

use std::sync::Arc;

use crate::cost::TileCosts;
use crate::divider::dividers;
use crate::fabric::Live;
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::Kernel;
use crate::order::Orders;
use crate::rank::Ranking;

/// The dividers of a switch in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideDividers {
    /// What d is divided by to choose a group: Π, or the divider of the level.
    pub group: u32,
    /// What d is divided by to choose a port of the group; `None` for eq. (4).
    pub port: Option<u32>,
}

/// The dividers of a switch in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchDividers {
    /// For destinations that are reached upwards.
    pub up: SideDividers,
    /// For destinations that are reached downwards.
    pub down: SideDividers,
}

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
        let dividers = dividers(&groups, &ranking);
        Preprocessing { ranking, orders, groups, dividers, kernel: Kernel::best() }
    }

    /// Returns the dividers of a switch: those of its level, or Π where the level has none.
    #[inline]
    pub fn level_dividers(&self, s: SwitchIndex) -> SwitchDividers {
        let levels = self.orders.level_dividers();
        let paper = self.paper_dividers(s);
        if levels.are_the_papers() {
            return paper;
        }
        let rank = self.ranking.rank_among(s);
        let side = |up| {
            let rule = levels.rule(rank, up);
            SideDividers { group: rule.group.unwrap_or(paper.up.group), port: rule.port }
        };
        SwitchDividers { up: side(true), down: side(false) }
    }

    /// Returns the dividers of the paper: Π, and eq. (4) for ports.
    #[inline]
    pub fn paper_dividers(&self, s: SwitchIndex) -> SwitchDividers {
        let side = SideDividers { group: self.dividers[s.at()], port: None };
        SwitchDividers { up: side, down: side }
    }

    /// Replaces ranks, groups and dividers by those of another state of the same fabric.
    pub(crate) fn replace(&mut self, live: Live<'_>, ranking: Ranking) {
        self.ranking = ranking;
        self.groups.rebuild(live, &self.ranking);
        self.dividers = dividers(&self.groups, &self.ranking);
    }

    /// Returns room for the costs of one tile, in the form that this fabric allows.
    pub(crate) fn new_costs(&self) -> TileCosts {
        TileCosts::new(&self.ranking, &self.groups)
    }
}
