//! A fabric that is routed again and again.
//!
//! A [`Router`] keeps orders, tables and everything computed on the way from re-route to re-route:
//! nothing is allocated anew, and what a change does not reach is not computed again. Its tables are
//! always the same bytes as those of a whole re-route of the fabric as it is then; they depend on what
//! is dead, never on how it came to be.

mod marks;
mod sweep;
mod tiles;
mod touched;
mod update;

pub(crate) use marks::Marks;

use std::sync::Arc;

use crate::cost::{Hops, TooFar};
use crate::fabric::{Degradation, Fabric, Live, Part};
use crate::kernel::Kernel;
use crate::route::{Coverage, Dmodc, Preprocessing, Reference, RouteError, View, Work};
use crate::routing::Routing;
use crate::tables::{ForwardingTables, TableDelta};
use tiles::{Tiles, Whole};
use touched::Touched;

/// Something that happens to a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A part dies.
    Dies(Part),
    /// A part works again.
    Recovers(Part),
}

/// Routes one fabric by Dmodc, or by [`Stable`](crate::Stable) Dmodc, whatever happens to it.
///
/// ```
/// use std::sync::Arc;
/// use dmodc::{Change, Degradation, Live, Pgft, Router, Routing, fabric::Part};
///
/// let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse()?;
/// let fabric = Arc::new(pgft.fabric(Default::default()));
/// let healthy = Degradation::none(&fabric);
/// let routing = Routing::new(Live::new(&fabric, &healthy), &Default::default());
/// let mut router = Router::new(fabric.clone(), routing, healthy)?;
///
/// let spine = Part::Switch(fabric.switch_indices().nth(6).unwrap());
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
    by: By,
    /// The costs of every tile, where they are bits; empty where they are not.
    costs: Vec<Hops>,
    coverages: Vec<Coverage>,
    tables: ForwardingTables,
    /// Whether an error left the tables without meaning.
    broken: bool,
}

/// The engine, and its views of the tiles.
#[derive(Clone, Debug)]
enum By {
    Dmodc(Vec<()>),
    Stable(Arc<Reference>, Vec<View>),
}

impl Router {
    /// Routes a fabric with these faults for the first time; orders and columns are the routing's.
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
        let views = vec![(); routing.columns().tile_count()];
        Self::with(By::Dmodc(views), fabric, routing, degradation)
    }

    /// The same by the engine [`Stable`](crate::Stable): what the reference has and is still alive keeps
    /// its routes.
    ///
    /// # Errors
    /// If the tables do not fit into memory, or a route is too long.
    ///
    /// # Panics
    /// If the routing, the degradation or the reference is of another fabric.
    pub fn stable(
        fabric: Arc<Fabric>,
        routing: Routing,
        degradation: Degradation,
        reference: Arc<Reference>,
    ) -> Result<Self, RouteError> {
        let views = vec![View::default(); routing.columns().tile_count()];
        Self::with(By::Stable(reference, views), fabric, routing, degradation)
    }

    fn with(
        by: By,
        fabric: Arc<Fabric>,
        routing: Routing,
        degradation: Degradation,
    ) -> Result<Self, RouteError> {
        let live = Live::new(&fabric, &degradation);
        let tables = routing.empty_tables(live)?;
        let ready = routing.preprocess(live);
        let mut router = Router {
            coverages: vec![Coverage::default(); routing.columns().tile_count()],
            costs: vec![],
            by,
            fabric,
            degradation,
            routing,
            ready,
            tables,
            broken: false,
        };
        router.route(Whole::Write)?;
        Ok(router)
    }

    /// The fabric.
    pub fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// What is dead in it now.
    pub fn degradation(&self) -> &Degradation {
        &self.degradation
    }

    /// The fabric as it is now.
    pub fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.degradation)
    }

    /// Orders and columns.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    /// Ranks, groups and dividers as they are now.
    pub fn preprocessing(&self) -> &Preprocessing {
        &self.ready
    }

    /// The tables as they are now.
    pub fn tables(&self) -> &ForwardingTables {
        &self.tables
    }

    /// What the tables reach.
    pub fn coverage(&self) -> Coverage {
        self.coverages.iter().cloned().fold(Coverage::default(), Coverage::and)
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
        self.route(Whole::Write)?;
        Ok(())
    }

    /// Routes again what these changes reach, and says which entries are new. The tables are those of a
    /// [`reroute`](Self::reroute) with all faults there are then; changes that take each other back do
    /// nothing. Where most of the fabric is touched, that is what is done.
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
        if self.broken {
            self.reroute(&now)?;
            return Ok(TableDelta::all(&self.tables));
        }
        let changed: Vec<Part> = now.difference(&self.degradation).collect();
        if changed.is_empty() {
            return Ok(TableDelta::default());
        }
        self.degradation = now;
        let live = Live::new(&self.fabric, &self.degradation);
        let touched = Touched::new(live, &changed, &self.routing, &mut self.ready);
        let up_to_date = !self.costs.is_empty() && !self.form_changed();
        let Some(touched) = touched.filter(|_| up_to_date) else {
            return Ok(self.route(Whole::Compare)?);
        };
        let columns = self.routing.columns().clone();
        let work = Work::new(live, &self.ready, &columns);
        let kept = Tiles {
            tables: &mut self.tables,
            costs: &mut self.costs,
            coverages: &mut self.coverages,
        };
        Ok(match &mut self.by {
            By::Dmodc(views) => kept.update((&Dmodc, &work), views, &touched),
            By::Stable(reference, views) => kept.update((&**reference, &work), views, &touched),
        })
    }

    /// Whether the costs of the fabric now take another form than those that are kept.
    fn form_changed(&self) -> bool {
        self.ready.planes() != self.costs.first().map(Hops::planes)
    }

    /// Routes all tiles, one way or another.
    fn route(&mut self, how: Whole) -> Result<TableDelta, TooFar> {
        self.broken = true;
        let planes = self.ready.planes();
        let tiles = self.routing.columns().tile_count();
        if self.form_changed() || self.costs.len() != tiles {
            self.costs = planes.map_or(vec![], |planes| vec![Hops::new(planes); tiles]);
        }
        let live = Live::new(&self.fabric, &self.degradation);
        let columns = self.routing.columns().clone();
        let work = Work::new(live, &self.ready, &columns);
        let kept = Tiles {
            tables: &mut self.tables,
            costs: &mut self.costs,
            coverages: &mut self.coverages,
        };
        let delta = match &mut self.by {
            By::Dmodc(views) => kept.route((&Dmodc, &work), views, how),
            By::Stable(reference, views) => kept.route((&**reference, &work), views, how),
        }?;
        self.broken = false;
        Ok(delta)
    }
}
