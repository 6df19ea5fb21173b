//! A fabric that is routed again and again.
//!
//! A [`Router`] keeps orders, tables and everything computed on the way from re-route to re-route:
//! nothing is allocated anew, and what a change does not reach is not computed again. Its tables are
//! always the same bytes as those of a whole re-route of the fabric as it is then; they depend on what
//! is dead, never on how it came to be.

use std::sync::Arc;

use crate::fabric::{Degradation, Fabric, Joined, Live, Part};
use crate::judge::risk::Traffic;
use crate::judge::{self, Check};
use crate::kernel::Kernel;
use crate::leaf::LeafRule;
use crate::preprocess::Preprocessing;
use crate::route::{
    Coverage, Dmodc, Engine, FullRoute, Incremental, RouteError, RouteJob, Touched,
};
use crate::routing::{Routing, RoutingOptions};
use crate::tables::{ForwardingTables, TableDelta};

/// Something that happens to a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A part dies.
    Dies(Part),
    /// A part works again.
    Recovers(Part),
}

/// Routes one fabric by one engine, whatever happens to it.
///
/// ```
/// use dmodc::{Change, Pgft, Router};
///
/// let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse()?;
/// let mut router = Router::of(pgft.fabric(Default::default()))?;
///
/// let spine = router.fabric().find_part("L2-0")?;
/// let delta = router.apply(&[Change::Dies(spine)])?;
/// assert!(router.coverage().is_valid());
/// assert!(!delta.is_empty());
///
/// // The repair brings back the old tables, byte by byte.
/// let back = router.apply(&[Change::Recovers(spine)])?;
/// assert_eq!(back.entry_count(), delta.entry_count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Router {
    fabric: Arc<Fabric>,
    degradation: Degradation,
    routing: Routing,
    ready: Preprocessing,
    engine: Arc<dyn Engine>,
    kept: Incremental,
    tables: ForwardingTables,
    /// Whether an error or a panic left the tables without meaning.
    is_broken: bool,
}

impl Router {
    /// Routes a whole fabric by [`Dmodc`], with the default orders and leaves.
    ///
    /// # Errors
    /// If the tables do not fit into memory, or a route is too long.
    pub fn of(fabric: impl Into<Arc<Fabric>>) -> Result<Self, RouteError> {
        let fabric = fabric.into();
        let whole = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &whole), &RoutingOptions::default());
        Self::new(fabric, routing, whole)
    }

    /// Routes a fabric by [`Stable`](crate::Stable): routes stay those of the reference wherever they can. The fabric of
    /// the router is the union of both, in which everything that the present lacks has failed.
    ///
    /// # Errors
    /// If the reference is of another fabric, the tables do not fit into memory, or a route is too long.
    pub fn by_reference(reference: &Fabric, present: &Fabric) -> Result<Self, RouteError> {
        let joined = Joined::new(reference, present)?;
        let orders = Routing::orders_of(reference, &RoutingOptions::default());
        let (routing, stable) = joined.stable(LeafRule::Detect, orders);
        let Joined { fabric, now, .. } = joined;
        Self::with_engine(Arc::new(stable), Arc::new(fabric), routing, now)
    }

    /// Routes a fabric with these faults by [`Dmodc`] for the first time. Orders and columns are those of `routing`.
    ///
    /// # Errors
    /// If the tables do not fit into memory, or a route is too long.
    ///
    /// # Panics
    /// If the routing or the degradation is of another fabric.
    pub fn new(
        fabric: Arc<Fabric>,
        routing: Routing,
        degradation: Degradation,
    ) -> Result<Self, RouteError> {
        Self::with_engine(Arc::new(Dmodc), fabric, routing, degradation)
    }

    /// Routes a fabric with these faults by any engine for the first time.
    ///
    /// # Errors
    /// If the engine cannot route the fabric, or the tables do not fit into memory.
    ///
    /// # Panics
    /// If the routing, the degradation or the engine's reference is of another fabric.
    pub fn with_engine(
        engine: Arc<dyn Engine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        degradation: Degradation,
    ) -> Result<Self, RouteError> {
        let live = Live::new(&fabric, &degradation);
        let tables = routing.empty_tables(live)?;
        let ready = routing.preprocess(live);
        let route_again = || Incremental::route_again(engine.clone());
        let kept = engine.incremental().unwrap_or_else(route_again);
        let mut router =
            Router { fabric, degradation, routing, ready, engine, kept, tables, is_broken: false };
        router.route(FullRoute::Overwrite)?;
        Ok(router)
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// Returns the fabric.
    pub fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// Returns its faults.
    pub fn degradation(&self) -> &Degradation {
        &self.degradation
    }

    /// Returns the fabric under its faults.
    pub fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.degradation)
    }

    /// Returns the routing: leaves, orders and columns.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    /// Returns the ranks, groups and dividers of the present.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.ready
    }

    /// Returns the present tables.
    pub fn tables(&self) -> &ForwardingTables {
        &self.tables
    }

    /// Returns which pairs the tables reach.
    pub fn coverage(&self) -> Coverage {
        self.kept.coverage()
    }

    /// Returns a judgement of the tables: whether every pair is delivered, by which kind of route, and without deadlock.
    pub fn check(&self) -> Check {
        judge::check(self.live(), &self.ready.ranking, self.routing.orders(), &self.tables)
    }

    /// Returns the traffic over the tables, which counts the flows on every port for any pattern.
    pub fn traffic(&self) -> Traffic<'_> {
        Traffic::new(self.live(), &self.ready.ranking, self.routing.orders(), &self.tables)
    }

    /// Uses this form of the inner loops from now on. The tables do not depend on it.
    pub fn use_kernel(&mut self, kernel: Kernel) {
        self.ready.kernel = kernel;
    }

    /// Routes the whole fabric with other faults.
    ///
    /// # Errors
    /// If a route is too long; the tables mean nothing then until the next re-route.
    ///
    /// # Panics
    /// If the degradation is of another fabric.
    pub fn reroute(&mut self, degradation: &Degradation) -> Result<(), RouteError> {
        assert!(degradation.fits(&self.fabric), "a degradation of another fabric");
        self.degradation.clone_from(degradation);
        let live = Live::new(&self.fabric, &self.degradation);
        self.routing.preprocess_again(live, &mut self.ready);
        self.route(FullRoute::Overwrite)?;
        Ok(())
    }

    /// Routes again what these changes affect, and returns which entries are new. The tables are those of a
    /// [`reroute`](Self::reroute) with all faults that there are after the changes; changes that cancel each other do
    /// nothing. If the changes touch more than a quarter of the switches, everything is routed again and compared.
    ///
    /// # Errors
    /// If a route is too long. The changes stay, but the tables mean nothing until a later call succeeds,
    /// whose delta then has every entry.
    ///
    /// # Panics
    /// If a part is of another fabric.
    pub fn apply(&mut self, changes: &[Change]) -> Result<TableDelta, RouteError> {
        let mut now = self.degradation.clone();
        for &change in changes {
            match change {
                Change::Dies(part) => now.set(part, true),
                Change::Recovers(part) => now.set(part, false),
            }
        }
        if self.is_broken {
            self.reroute(&now)?;
            return Ok(TableDelta::all(&self.tables));
        }
        let changed: Vec<Part> = now.difference(&self.degradation).collect();
        if changed.is_empty() {
            return Ok(TableDelta::default());
        }
        self.degradation = now;
        let live = Live::new(&self.fabric, &self.degradation);
        if let Some(touched) = Touched::new(live, &changed, &self.routing, &mut self.ready) {
            let job = RouteJob::new(live, &self.ready, self.routing.columns());
            // If a panic in here is caught, the tables are half updated.
            self.is_broken = true;
            let delta = self.kept.update(&job, &mut self.tables, &touched);
            self.is_broken = false;
            if let Some(delta) = delta {
                return Ok(delta);
            }
        }
        self.route(FullRoute::Compare)
    }

    /// Routes everything, and returns what changed.
    fn route(&mut self, how: FullRoute) -> Result<TableDelta, RouteError> {
        self.is_broken = true;
        let live = Live::new(&self.fabric, &self.degradation);
        let job = RouteJob::new(live, &self.ready, self.routing.columns());
        let delta = self.kept.route(&job, &mut self.tables, how)?;
        self.is_broken = false;
        Ok(delta)
    }
}
