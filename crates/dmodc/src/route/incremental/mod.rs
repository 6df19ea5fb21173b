//! Re-routing only what a change affects.
//!
//! A [`Router`](crate::Router) keeps an [`Incremental`] between re-routes. After a change it does, in this order:
//!
//! 1. [`Touched`] (`touched`): ranks, groups and dividers are updated around the change. The result is the list of
//!    switches whose own arithmetic changed; or `None` if most of the fabric is affected.
//! 2. `update`: in every tile, costs are updated from those switches outwards ([`Sweep`](sweep::Sweep)); entries
//!    whose inputs changed are marked *dirty* ([`Marks`](super::marks::Marks)); dirty entries are computed again, and those that differ
//!    are written and listed in a [`TableDelta`].
//! 3. Where that does not work (most of the fabric is affected, the costs have another form, or the engine is not
//!    incremental), everything is computed again and compared.
//!
//! The tables are those of a whole re-route in each case.

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
use tiles::KeptTiles;
use whole::WholeAgain;

/// How a whole re-route writes its entries.
#[derive(Clone, Copy)]
pub(crate) enum Whole {
    /// Over whatever is there. The delta is empty.
    Write,
    /// Where they change, which the delta lists.
    Compare,
}

/// What a [`Router`](crate::Router) keeps of an engine between re-routes. Engines of this crate that choose from
/// closer sets have one; others do without.
#[derive(Clone, Debug)]
pub struct Incremental(Box<dyn Keep>);

impl Incremental {
    /// Returns one that keeps costs and states of all tiles.
    pub(super) fn by_tiles<P: PortChoice>(choice: P) -> Self {
        Incremental(Box::new(KeptTiles::new(choice)))
    }

    /// Returns one for any engine, which routes everything after each change.
    pub(crate) fn whole_again(engine: Arc<dyn Engine>) -> Self {
        Incremental(Box::new(WholeAgain::new(engine)))
    }

    /// Routes everything.
    ///
    /// # Errors
    /// If the engine cannot route the fabric; the tables mean nothing then.
    pub(crate) fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: Whole,
    ) -> Result<TableDelta, RouteError> {
        self.0.route(job, tables, how)
    }

    /// Routes what is touched. Returns `None`, without having changed anything, if everything must be routed.
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

/// The methods of an [`Incremental`], whatever it keeps.
trait Keep: fmt::Debug + Send + Sync {
    fn route(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        how: Whole,
    ) -> Result<TableDelta, RouteError>;

    fn update(
        &mut self,
        job: &RouteJob<'_>,
        tables: &mut ForwardingTables,
        touched: &Touched,
    ) -> Option<TableDelta>;

    fn coverage(&self) -> Coverage;

    fn clone_box(&self) -> Box<dyn Keep>;
}

impl Clone for Box<dyn Keep> {
    fn clone(&self) -> Self {
        // The trait's method, not that of the box, which would be this one again.
        (**self).clone_box()
    }
}
