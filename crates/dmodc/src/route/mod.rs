//! Engines: from a preprocessed fabric to forwarding tables. One file each.

mod coverage;
mod dmodc;
mod dmodk;
mod random;
mod roots;
mod row;
mod select;
mod stable;
mod stream;
mod tile;

pub use coverage::Coverage;
pub use dmodc::Dmodc;
pub use dmodk::Dmodk;
pub use random::RandomPorts;
pub use roots::connect_roots;
pub(crate) use row::RowMaker;
pub(crate) use stable::View;
pub use stable::{Reference, Stable};
pub use stream::{Piece, Policy, stream_switches, stream_tiles};
pub(crate) use tile::{ALL, ReadyTile, Rows, Seen, Selection, Work, coverage, write_rows};
pub use tile::{alternative_ports, validity};

use std::fmt;
use std::sync::Arc;

use crate::cost::{Hops, TooFar};
use crate::divider::dividers;
use crate::fabric::Live;
use crate::group::PortGroups;
use crate::kernel::Kernel;
use crate::order::Orders;
use crate::rank::Ranking;
use crate::recognise::NotPgft;
use crate::tables::{ForwardingTables, NoMemory};

/// What every engine starts from: the paper's preprocessing, but for the costs, which are made
/// block by block while routing.
#[derive(Clone, Debug)]
pub struct Preprocessing {
    /// Levels.
    pub ranking: Ranking,
    /// Numbers and positions.
    pub orders: Arc<Orders>,
    /// Port groups, sorted and directed.
    pub groups: PortGroups,
    /// Π of every switch.
    pub dividers: Vec<u32>,
    /// Which form of the inner loops is used; the results do not depend on it.
    pub kernel: Kernel,
}

impl Preprocessing {
    /// Divides what is ranked, ordered and grouped.
    pub fn new(ranking: Ranking, orders: Arc<Orders>, groups: PortGroups) -> Self {
        let dividers = dividers(&groups);
        Preprocessing { ranking, orders, groups, dividers, kernel: Kernel::best() }
    }

    /// How many planes the costs of this fabric take as [`Hops`]; none where they are bytes.
    pub(crate) fn planes(&self) -> Option<usize> {
        Hops::planes_for(self.ranking.levels()).filter(|_| self.groups.are_levelled())
    }
}

/// Why an engine gave no tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteError {
    /// A route is longer than costs can count.
    TooFar(TooFar),
    /// The engine is for PGFTs alone, and this is none.
    NotPgft(NotPgft),
    /// The tables do not fit into memory.
    NoMemory(NoMemory),
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RouteError::TooFar(e) => e.fmt(f),
            RouteError::NoMemory(e) => e.fmt(f),
            RouteError::NotPgft(e) => write!(f, "Dmodk routes healthy PGFTs only: {e}"),
        }
    }
}

impl std::error::Error for RouteError {}

impl From<TooFar> for RouteError {
    fn from(e: TooFar) -> Self {
        RouteError::TooFar(e)
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

/// A routing algorithm: [`Dmodc`], [`Stable`], [`Dmodk`], [`RandomPorts`], or one of your own.
///
/// An own one may start from [`alternative_ports`], the ports that keep routes up\*down\* and so free of
/// deadlock, and choose among them; `examples/own_engine.rs` does, in a screenful, and has the result
/// [judged](crate::judge::check).
pub trait Engine {
    /// What it is called on the command line and in results.
    fn name(&self) -> &'static str;

    /// Writes every entry of `tables` and says what could not be reached. The same input gives the
    /// same bytes, whatever the number of threads.
    ///
    /// # Errors
    /// If the algorithm cannot route this fabric at all. A degraded fabric is no error.
    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError>;
}
