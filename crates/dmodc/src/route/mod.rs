//! Engines: from a preprocessed fabric to forwarding tables. One file or folder for each engine.
//!
//! | engine | file | how a port is chosen |
//! |---|---|---|
//! | [`Dmodc`] | `dmodc` | eqs. (3) and (4) over the closer set (`port_choice/`), with the dividers of levels |
//! | [`Paper`] | `paper` | the same with Π of each switch |
//! | [`Stable`] | `stable/` | as in a reference, where that is possible |
//! | [`Dmodk`] | `dmodk` | the closed form for healthy PGFTs |
//! | [`RandomPorts`] | `random_ports` | at random from the closer set |
//!
//! `stream` hands tables out without storing them, `incremental` updates tables after a change, `roots` adds
//! routes between spines, `alternatives` lists the ports that keep routes free of deadlock, and `validity` says which pairs
//! have a route at all.

mod alternatives;
mod choice_engine;
mod dmodc;
mod dmodk;
mod incremental;
mod job;
mod marks;
mod paper;
mod port_choice;
mod random_ports;
mod roots;
mod stable;
mod stream;
mod validity;

pub use alternatives::alternative_ports;
pub use dmodc::Dmodc;
pub use dmodk::Dmodk;
pub use incremental::Incremental;
pub(crate) use incremental::{FullRoute, Touched};
pub(crate) use job::RouteJob;
pub use paper::Paper;
pub use random_ports::RandomPorts;
pub use roots::connect_roots;
pub use stable::{Reference, Stable};
pub use stream::{Piece, RowSink, stream_switches};
pub use validity::{Coverage, validity};

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::cost::TooFar;
use crate::fabric::{Live, OtherFabric};
use crate::preprocess::Preprocessing;
use crate::recognise::NotPgft;
use crate::routing::Routing;
use crate::tables::{Columns, ForwardingTables, NoMemory};

/// A routing algorithm: [`Dmodc`], [`Paper`], [`Stable`], [`Dmodk`], [`RandomPorts`], or one of your own.
///
/// An engine of your own has a name and [`route`](Self::route). It may start from [`alternative_ports`], the ports
/// that keep routes up\*down\* and so free of deadlock, and choose among them; the example `own_engine` of the crate
/// `dmodc-study` does so in a screenful. Everything that takes an engine takes yours: a [`Router`](crate::Router),
/// streams, and studies.
pub trait Engine: Any + fmt::Debug + Send + Sync {
    /// Returns the name of the engine on the command line and in results.
    fn name(&self) -> &str;

    /// Returns the engine that routes before [relief](crate::relief::relieve), if this engine ends with it. So callers can
    /// measure both.
    fn before_relief(&self) -> Option<&Arc<dyn Engine>> {
        None
    }

    /// Writes every entry of `tables` and returns what could not be reached. The same input gives the same bytes,
    /// whatever the number of threads.
    ///
    /// # Errors
    /// If the algorithm cannot route this fabric at all. A degraded fabric is no error.
    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError>;

    /// Computes tables and hands them piece by piece to `each`, from all threads, in no particular order. Engines
    /// of this crate that choose from closer sets hold only some hundred kilobytes for each thread; others route
    /// into tables first.
    ///
    /// # Errors
    /// If the algorithm cannot route this fabric; pieces may have been handed out before.
    fn stream_tiles(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        columns: &Arc<Columns>,
        each: &(dyn Fn(Piece<'_>) + Sync),
    ) -> Result<Coverage, RouteError> {
        stream::tiles_of_tables(self, live, ready, columns, each)
    }

    /// Computes tables and hands them row by row to `each`, in the order of the switches, until `each` breaks.
    /// [`stream_switches`] is more convenient.
    ///
    /// # Errors
    /// If the algorithm cannot route this fabric; nothing has been handed out then.
    fn stream_rows(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        columns: &Arc<Columns>,
        each: &mut RowSink<'_>,
    ) -> Result<Coverage, RouteError> {
        stream::rows_of_tables(self, live, ready, columns, each)
    }

    /// Returns what a [`Router`](crate::Router) needs to re-route only what a change affects. Without it, which is
    /// the default, a router routes everything again and compares.
    fn incremental(&self) -> Option<Incremental> {
        None
    }
}

impl Routing {
    /// Routes the fabric in its present state.
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

/// Why an engine gave no tables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouteError {
    /// A route is longer than costs can count.
    TooFar(TooFar),
    /// The engine routes PGFTs only, and this fabric is none.
    NotPgft(NotPgft),
    /// The tables do not fit into memory.
    NoMemory(NoMemory),
    /// The reference is of another fabric.
    OtherFabric(OtherFabric),
    /// An engine of your own failed, for the reason given.
    Other(String),
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RouteError::TooFar(e) => e.fmt(f),
            RouteError::NoMemory(e) => e.fmt(f),
            RouteError::OtherFabric(e) => e.fmt(f),
            RouteError::NotPgft(e) => {
                write!(f, "Dmodk routes only PGFTs (regular fat trees) without faults: {e}")
            }
            RouteError::Other(reason) => f.write_str(reason),
        }
    }
}

impl Error for RouteError {}

impl From<TooFar> for RouteError {
    fn from(e: TooFar) -> Self {
        RouteError::TooFar(e)
    }
}

impl From<OtherFabric> for RouteError {
    fn from(e: OtherFabric) -> Self {
        RouteError::OtherFabric(e)
    }
}

impl From<NoMemory> for RouteError {
    fn from(e: NoMemory) -> Self {
        RouteError::NoMemory(e)
    }
}

impl From<NotPgft> for RouteError {
    fn from(e: NotPgft) -> Self {
        RouteError::NotPgft(e)
    }
}
