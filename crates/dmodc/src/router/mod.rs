//! A fabric that is routed again and again.
//!
//! A [`Router`] keeps orders, tables and everything computed on the way from re-route to re-route:
//! nothing is allocated anew, and what a change does not reach is not computed again. Its tables are
//! always the same bytes as those of a whole re-route of the fabric as it is then; they depend on what
//! is dead, never on how it came to be.

mod sweep;
mod touched;
mod update;

use std::sync::Arc;

use rayon::prelude::*;

use crate::cost::{CostBlock, Costs, Hops, TooFar};
use crate::fabric::{Degradation, Fabric, Live, Part};
use crate::kernel::Kernel;
use crate::route::{ByFormula, Coverage, Preprocessing, RouteError, Work, coverage, write_tile};
use crate::routing::Routing;
use crate::tables::{ForwardingTables, TableDelta, Tile};
use touched::Touched;
use update::{Scratch, update_tile};

/// Something that happens to a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A part dies.
    Dies(Part),
    /// A part works again.
    Recovers(Part),
}

/// Routes one fabric by Dmodc, whatever happens to it.
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
    /// The costs of every tile, where they are bits; empty where they are not.
    costs: Vec<Hops>,
    coverages: Vec<Coverage>,
    tables: ForwardingTables,
    /// Whether an error left the tables without meaning.
    broken: bool,
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
        let live = Live::new(&fabric, &degradation);
        let tables = routing.empty_tables(live)?;
        let ready = routing.preprocess(live);
        let mut router = Router {
            coverages: vec![Coverage::default(); routing.columns().tile_count()],
            costs: vec![],
            fabric,
            degradation,
            routing,
            ready,
            tables,
            broken: false,
        };
        router.route(|work, tile, costs, entries| costs.route(work, tile, entries))?;
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
        self.route(|work, tile, costs, entries| costs.route(work, tile, entries))?;
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
            return Ok(self.route(|work, tile, costs, entries| costs.compare(work, tile, entries))?);
        };
        let columns = self.routing.columns().clone();
        let work = Work::new(live, &self.ready, &columns);
        let tiles = self.tables.tiles_mut().into_par_iter();
        let tiles = tiles.zip(&mut self.costs).zip(&mut self.coverages);
        let delta = tiles
            .map_init(Scratch::default, |scratch, (((tile, entries), costs), coverage)| {
                update_tile::<ByFormula>(
                    &work,
                    &tile,
                    (costs, coverage),
                    &touched,
                    scratch,
                    entries,
                )
            })
            .reduce(TableDelta::default, TableDelta::and);
        Ok(delta)
    }

    /// Whether the costs of the fabric now take another form than those that are kept.
    fn form_changed(&self) -> bool {
        self.ready.planes() != self.costs.first().map(Hops::planes)
    }

    /// Routes all tiles, one way or another.
    fn route(
        &mut self,
        each: impl Fn(&Work<'_>, &Tile, &mut dyn TileCosts, &mut [u8]) -> Outcome + Sync,
    ) -> Result<TableDelta, TooFar> {
        self.broken = true;
        let planes = self.ready.planes();
        let tiles = self.routing.columns().tile_count();
        if self.form_changed() || self.costs.len() != tiles {
            self.costs = planes.map_or(vec![], |planes| vec![Hops::new(planes); tiles]);
        }
        let live = Live::new(&self.fabric, &self.degradation);
        let columns = self.routing.columns().clone();
        let work = Work::new(live, &self.ready, &columns);
        let tiles = self.tables.tiles_mut().into_par_iter().zip(&mut self.coverages);
        let route = |((tile, entries), covered): ((Tile, &mut [u8]), &mut Coverage),
                     costs: &mut dyn TileCosts| {
            let (coverage, delta) = each(&work, &tile, costs, entries)?;
            *covered = coverage;
            Ok(delta)
        };
        let both = |a: TableDelta, b| Ok(a.and(b));
        let delta = match planes {
            Some(_) => tiles
                .zip(&mut self.costs)
                .map(|(tile, costs)| route(tile, costs))
                .try_reduce(TableDelta::default, both),
            None => tiles
                .map_init(CostBlock::default, |costs, tile| route(tile, costs))
                .try_reduce(TableDelta::default, both),
        }?;
        self.broken = false;
        Ok(delta)
    }
}

type Outcome = Result<(Coverage, TableDelta), TooFar>;

/// A tile routed with costs of either form.
trait TileCosts {
    /// Writes all entries.
    fn route(&mut self, work: &Work<'_>, tile: &Tile, entries: &mut [u8]) -> Outcome;

    /// Writes all entries that change.
    fn compare(&mut self, work: &Work<'_>, tile: &Tile, entries: &mut [u8]) -> Outcome;
}

impl<C: Costs> TileCosts for C {
    fn route(&mut self, work: &Work<'_>, tile: &Tile, entries: &mut [u8]) -> Outcome {
        work.compute(tile, self)?;
        write_tile::<ByFormula, C>(work, tile, self, entries);
        Ok((coverage(work, tile, self), TableDelta::default()))
    }

    fn compare(&mut self, work: &Work<'_>, tile: &Tile, entries: &mut [u8]) -> Outcome {
        work.compute(tile, self)?;
        let delta = update::compare_tile::<ByFormula, C>(work, tile, self, entries);
        Ok((coverage(work, tile, self), delta))
    }
}
