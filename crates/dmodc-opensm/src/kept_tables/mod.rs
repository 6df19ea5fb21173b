//! Tables that are kept between runs of OpenSM.
//!
//! The first fabric is routed whole and kept. As long as a later fabric is the kept one without some parts, faults and
//! repairs are applied to the kept tables, and the result is the same as of routing everything again. Anything else (a
//! new device, another LID, a cable in another place) starts again, with the saved orders. With a reference, the kept
//! fabric is the reference and the present fabric joined, so that a part that returns is a repair, too.
//!
//! | file | subject |
//! |---|---|
//! | `choices` | how a fabric is to be routed |
//! | `reference` | a reference joined with the present fabric |
//! | `image` | the tables by switch and LID, as OpenSM wants them |
//! | `losses` | pairs that are not delivered, and the likely reason |

mod choices;
mod image;
mod losses;
mod reference;

use std::collections::HashMap;
use std::sync::Arc;

use dmodc::fabric::{Changes, Part};
use dmodc::judge::Delivery;
use dmodc::words::counted;
use dmodc::{
    Change, Coverage, Degradation, Fabric, Guid, Joined, Live, Ranking, RouteError, Router,
    Routing, SavedOrders, Stable, TableDelta, Unconnected, connect_roots,
};

use crate::balance::NumberedFabric;
use crate::presence::{GuidIndex, count_absent};
pub(crate) use choices::RoutingChoices;
use image::LftImage;
pub(crate) use losses::{LostLeafPairs, NodePlacement};
pub(crate) use reference::JoinedReference;
use reference::ReferenceComparison;

/// How a run made its tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteMode {
    /// Everything was routed, with saved orders if there were any.
    Whole,
    /// These numbers of faults and repairs were applied to the tables of before.
    Incremental { faults: usize, repairs: usize },
}

/// Tables that are kept between runs.
pub(crate) struct KeptTables {
    router: Router,
    choices: RoutingChoices,
    index: GuidIndex,
    image: LftImage,
    /// Both orders, with all parts that were ever present.
    pub(crate) saved: SavedOrders,
    /// With a reference, how the present fabric differs from it.
    comparison: Option<ReferenceComparison>,
    /// Why ranks are counted from a single root, if that was decided for this fabric.
    unconnected: Option<Unconnected>,
}

impl KeptTables {
    /// Routes a fabric without a reference, with the saved orders if there are any.
    ///
    /// # Errors
    /// If the fabric cannot be routed.
    pub(crate) fn new(
        fabric: Fabric,
        choices: RoutingChoices,
        mut saved: Option<SavedOrders>,
    ) -> Result<Self, RouteError> {
        if let Some(saved) = &mut saved {
            saved.hand_over_to(&fabric);
        }
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let route = |saved| Routing::new(live, &choices.options(choices.leaves.clone(), saved));
        let decided = route(saved.as_ref());
        let unconnected = decided.unconnected();
        let mut orders = decided.orders().save(live);
        if let Some(earlier) = &saved {
            orders.keep_absent(earlier);
        }
        // Routed by the orders as they are saved, so that the file gives the same tables to everybody.
        let routing = route(Some(&orders));
        let router = Router::new(Arc::new(fabric), routing, healthy)?;
        Ok(KeptTables { unconnected, ..KeptTables::of(router, choices, orders, None) })
    }

    /// Routes a fabric so that its routes stay close to those of a reference.
    ///
    /// # Errors
    /// If the fabric cannot be routed.
    pub(crate) fn with_reference(
        with: JoinedReference,
        choices: RoutingChoices,
        saved: Option<SavedOrders>,
    ) -> Result<Self, RouteError> {
        let JoinedReference { reference, reference_leaves, joined, joined_leaves, .. } = with;
        let options = choices.options(reference_leaves, saved.as_ref());
        let mut orders = Routing::orders_of(&reference, &options);
        if let Some(earlier) = &saved {
            orders.keep_absent(earlier);
        }
        joined.hand_over(&mut orders);
        let live = Live::new(&joined.fabric, &joined.now);
        let mut joined_orders = joined.routing(joined_leaves.clone(), &orders).orders().save(live);
        joined_orders.keep_absent(&orders);
        let routing = joined.routing(joined_leaves, &joined_orders);
        let engine = Arc::new(Stable { reference: Arc::new(joined.reference(&routing)) });
        let absent = count_absent(live);
        let Joined { fabric, now: missing, changes, news, .. } = joined;
        let router = Router::with_engine(engine, Arc::new(fabric), routing, missing)?;
        let comparison = ReferenceComparison::new(changes, news, absent);
        Ok(KeptTables::of(router, choices, joined_orders, Some(comparison)))
    }

    fn of(
        router: Router,
        choices: RoutingChoices,
        saved: SavedOrders,
        comparison: Option<ReferenceComparison>,
    ) -> Self {
        let mut kept = KeptTables {
            index: GuidIndex::new(router.fabric()),
            image: LftImage::empty(&router, &choices),
            router,
            choices,
            saved,
            comparison,
            unconnected: None,
        };
        kept.draw_all();
        kept
    }

    /// Applies the faults and repairs since the last run. Returns `None` if the fabric is not the known one without
    /// some parts; it must be routed whole then.
    ///
    /// # Errors
    /// If the fabric cannot be routed.
    pub(crate) fn update(
        &mut self,
        present: &Fabric,
    ) -> Result<Option<(RouteMode, TableDelta)>, RouteError> {
        let known = self.router.fabric();
        let Some(missing) = self.index.missing(known, present) else { return Ok(None) };
        if let Some(comparison) = &mut self.comparison
            && !comparison.update(Live::new(known, &missing))
        {
            return Ok(None);
        }
        let (mut faults, mut repairs) = (0, 0);
        let is_missing = |part: &Part| match *part {
            Part::Switch(s) => missing.switch_is_dead(s),
            Part::Cable(c) => missing.cable_is_dead(c),
        };
        let changes: Vec<Change> = missing
            .difference(self.router.degradation())
            .map(|part| match is_missing(&part) {
                true => {
                    faults += 1;
                    Change::Dies(part)
                }
                false => {
                    repairs += 1;
                    Change::Recovers(part)
                }
            })
            .collect();
        let delta = self.router.apply(&changes)?;
        if self.choices.connect_roots {
            self.draw_all();
        } else {
            self.image.draw_changes(self.router.tables(), &delta);
        }
        Ok(Some((RouteMode::Incremental { faults, repairs }, delta)))
    }

    /// Draws all tables, with the routes between roots filled in if that is chosen.
    fn draw_all(&mut self) {
        let filled = self.choices.connect_roots.then(|| {
            let mut tables = self.router.tables().clone();
            connect_roots(self.router.live(), self.router.preprocessing(), &mut tables);
            tables
        });
        self.image.draw_all(filled.as_ref().unwrap_or(self.router.tables()));
    }

    /// Returns the present fabric and how it is numbered.
    pub(crate) fn numbered(&self) -> NumberedFabric {
        NumberedFabric {
            fabric: self.router.fabric().clone(),
            absent: self.router.degradation().clone(),
            routing: self.router.routing().clone(),
            is_whole: self.router.degradation().removed().next().is_none()
                && self.saved.absent_nodes(self.router.fabric()) == 0,
        }
    }

    /// Returns the known fabric, absent parts included.
    pub(crate) fn fabric(&self) -> &Arc<Fabric> {
        self.router.fabric()
    }

    /// Returns which leaf pairs have routes.
    pub(crate) fn coverage(&self) -> Coverage {
        self.router.coverage()
    }

    /// Returns how many node pairs are delivered, lost and cut off.
    pub(crate) fn delivery(&self) -> Delivery {
        Delivery::of_route(self.router.live(), &self.coverage())
    }

    /// Returns the pairs of leaves that the tables lose, if there are any.
    pub(crate) fn lost_leaf_pairs(&self) -> Option<LostLeafPairs> {
        LostLeafPairs::find(self.router.live(), self.ranking(), &self.coverage())
    }

    /// Returns how many nodes are on leaves and on other switches.
    pub(crate) fn node_placement(&self) -> NodePlacement {
        NodePlacement::count(self.router.live(), self.ranking())
    }

    fn ranking(&self) -> &Ranking {
        &self.router.preprocessing().ranking
    }

    /// Returns whether switches have the same numbers of LIDs as when the tables were made.
    pub(crate) fn has_switch_lmc(&self, switch_lmc: &HashMap<Guid, u8>) -> bool {
        self.choices.switch_lmc == *switch_lmc
    }

    /// Returns a sentence for the log if ranks are counted from a single root and not from the leaves.
    pub(crate) fn single_root_line(&self) -> Option<String> {
        let live = self.router.live();
        let roots = self.ranking().single_roots(live);
        let first = live.fabric.switch(*roots.first()?);
        let why = match self.unconnected {
            Some(why) => format!(
                "with ranks counted from the leaves, {} would have no up*down* route",
                counted(why.pairs, "node pair")
            ),
            None => "this was decided for the reference or saved with the orders".into(),
        };
        Some(format!(
            "this is not a fat tree, so ranks are counted from one root, '{}' ({}); {why}",
            first.name, first.guid
        ))
    }

    /// Returns how the present fabric differs from the reference, if there is one.
    pub(crate) fn changes(&self) -> Option<Changes> {
        self.comparison.as_ref().map(|comparison| comparison.changes)
    }

    /// Returns the tables of the live switches: an entry for each LID up to the greatest that is in use.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (Guid, &[u8])> {
        self.image.rows(self.router.live(), self.router.routing().columns())
    }
}

#[cfg(test)]
mod tests;
