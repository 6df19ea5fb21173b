//! Re-routing only what a change affects.
//!
//! A [`Router`](crate::Router) keeps an [`Incremental`] between re-routes. After a change it does, in this order:
//!
//! 1. [`Touched`] (`touched`): ranks, groups and dividers are updated around the change. The result lists the switches
//!    with other groups or dividers; it is `None` if these are too many for an update to pay off.
//! 2. `update`: in every tile, costs are updated from those switches outwards ([`Sweep`](sweep::Sweep)); entries
//!    whose inputs changed are marked *dirty* ([`Marks`](super::marks::Marks)); dirty entries are computed again, and
//!    those that differ are written and listed in a [`TableDelta`].
//! 3. If that is not possible (too much of the fabric is affected, the costs have another form, or the engine is not
//!    incremental), everything is computed again and compared.
//!
//! The tables are those of a complete re-route in each case.

mod sweep;
mod tiles;
mod touched;
mod update;
mod whole;

pub(crate) use touched::Touched;

use std::fmt;
use std::sync::Arc;

use super::job::RouteJob;
use super::port_choice::PortChoice;
use super::{Coverage, Engine, RouteError};
use crate::tables::{ForwardingTables, TableDelta};
use tiles::UpdateByTiles;
use whole::RouteAgain;

/// What a complete re-route does with the old entries.
#[derive(Clone, Copy)]
pub(crate) enum FullRoute {
    /// Overwrites all of them without comparing. The delta is empty.
    Overwrite,
    /// Overwrites those that differ, and lists them in the delta.
    Compare,
}

/// What a [`Router`](crate::Router) keeps of an engine between re-routes: a strategy to update tables, and its data.
/// Engines of this crate that choose from closer sets provide one; for others the router routes everything again.
#[derive(Clone, Debug)]
pub struct Incremental(Box<dyn UpdateStrategy>);

impl Incremental {
    /// Returns the strategy that keeps costs and states of all tiles, and updates what a change affects.
    pub(super) fn by_tiles<P: PortChoice>(choice: P) -> Self {
        Incremental(Box::new(UpdateByTiles::new(choice)))
    }

    /// Returns the strategy for any engine, which routes everything after each change.
    pub(crate) fn route_again(engine: Arc<dyn Engine>) -> Self {
        Incremental(Box::new(RouteAgain::new(engine)))
    }

    /// Routes everything, and returns what changed.
    ///
    /// # Errors
    /// If the engine cannot route the fabric; the tables mean nothing then.
    pub(crate) fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: FullRoute,
    ) -> Result<TableDelta, RouteError> {
        self.0.route(job, tables, how)
    }

    /// Routes what is touched, and returns what changed. Returns `None`, with the tables untouched, if everything must be
    /// routed.
    pub(crate) fn update(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        touched: &Touched,
    ) -> Option<TableDelta> {
        self.0.update(job, tables, touched)
    }

    /// Returns what the tables reach.
    pub(crate) fn coverage(&self) -> Coverage {
        self.0.coverage()
    }
}

/// How tables are brought up to date after a change. The methods are those of [`Incremental`].
trait UpdateStrategy: fmt::Debug + Send + Sync {
    fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: FullRoute,
    ) -> Result<TableDelta, RouteError>;

    fn update(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        touched: &Touched,
    ) -> Option<TableDelta>;

    fn coverage(&self) -> Coverage;

    fn clone_box(&self) -> Box<dyn UpdateStrategy>;
}

impl Clone for Box<dyn UpdateStrategy> {
    fn clone(&self) -> Self {
        // The trait's method, not that of the box, which would be this one again.
        (**self).clone_box()
    }
}
