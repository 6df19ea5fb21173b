//! Relief: takes a few entries off the ports that all-to-all traffic loads most.
//!
//! A closed formula spreads destinations well in a regular fabric. Where the fabric is irregular, or has lost many cables, a
//! handful of ports are left with far more flows than the others. Relief moves single entries to other ports of
//! their closer sets until all ports are near the [bound](crate::judge::risk::Loads::bound), or cannot be relieved:
//!
//! ```text
//! repeat, as often as the thoroughness allows:
//!     p = the port with the most flows of all-to-all that is not set aside      (the first of equal ones, in switch order)
//!     if p has at most 1.05 × the bound: done
//!     moves = all (switch s, destination d, port b) such that
//!             the route of s to d passes p; b is another port of P(s, d); the route that begins with b avoids p;
//!             and the f flows that pass s on their way to d would leave every port of that route below the load of p
//!     if there is none: set p aside
//!     prefer moves after which no port of the new route is above 1.05 × the bound, then those with the greatest f
//!     of the 64 best ones: make the one that does the least harm to shifts
//! ```
//!
//! *Harm to shifts*: in the shift by k, the node at position i sends to position i + k. A move concerns f (source, shift)
//! pairs. It harms those in which a port of the new route would get more flows than any port had in that shift. Without
//! this choice, relief would pay for all-to-all with shifts: on one real fabric the mean of shifts would rise from 3.07 to
//! 5.39, and with it to 3.31.
//!
//! All entries stay in P(s, d), so routes stay up\*down\* and free of deadlock. The result depends on the fabric, the orders
//! and the tables alone. [`oracle::relief`](crate::oracle::relief) states the same naively.
//!
//! Relief takes far longer than routing: it counts all flows first, and then every move costs about as much as the
//! routing of a few switches. So it is used in two places. [`Stable::relieved`](crate::Stable::relieved) does it once for a
//! reference. The engine [`Relieved`] does it at every re-route.

mod closer;
mod engine;
mod routes;
mod search;
mod shift_loads;

pub use engine::Relieved;

use crate::cost::TooFar;
use crate::fabric::Live;
use crate::judge::risk::Traffic;
use crate::oracle::relief::enough;
use crate::preprocess::Preprocessing;
use crate::tables::{ForwardingTables, MovedEntry};
use routes::RouteTrees;
use search::Search;

/// Tables with more entries of switches for nodes than this are not relieved: counting would take too long.
pub const MOST_ENTRIES: usize = 1 << 25;

/// What relief did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relief {
    /// The entries that have another port now, ascending by column, then switch.
    pub moved: Vec<MovedEntry>,
    /// The greatest load of all-to-all before.
    pub before: u64,
    /// The greatest load of all-to-all now.
    pub after: u64,
    /// The least that any tables could reach.
    pub bound: u64,
    /// Whether the tables have more than [`MOST_ENTRIES`], so that nothing was done.
    pub is_too_large: bool,
}

/// How long relief goes on: the number of ports that are relieved or set aside, at most, as a multiple of the number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoroughness {
    /// Half as many as nodes: for entries that are to stay when the fabric changes. Every moved entry is one that does not
    /// fit in with the others any more after a fault.
    Light,
    /// Twice as many as nodes.
    Full,
}

impl Thoroughness {
    /// Returns how many ports are relieved or set aside, at most.
    pub fn attempts(self, nodes: usize) -> usize {
        match self {
            Thoroughness::Light => nodes / 2,
            Thoroughness::Full => 2 * nodes,
        }
    }
}

/// Returns whether relief of a fabric would take too long.
pub(crate) fn is_too_large(live: Live<'_>) -> bool {
    let nodes = live.fabric.nodes().len();
    nodes * live.fabric.switches().len() > MOST_ENTRIES || nodes > usize::from(u16::MAX)
}

/// Relieves the worst ports of tables whose routes keep to the closer sets of the present fabric.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn relieve(
    live: Live<'_>,
    ready: &Preprocessing,
    tables: &mut ForwardingTables,
    thoroughness: Thoroughness,
) -> Result<Relief, TooFar> {
    let traffic = Traffic::new(live, &ready.ranking, &ready.orders, tables);
    let nodes = traffic.nodes().len();
    if is_too_large(live) {
        return Ok(Relief { is_too_large: true, ..Relief::default() });
    }
    let loads = traffic.all_to_all();
    let (before, bound) = (loads.max(), loads.bound);
    let mut relief = Relief { before, after: before, bound, ..Relief::default() };
    if before <= enough(bound) {
        return Ok(relief);
    }
    let trees = RouteTrees::new(live, &ready.orders, tables, traffic.nodes());
    drop(traffic);
    let mut search = Search::new(ready, tables.columns(), trees, enough(bound));
    for _ in 0..thoroughness.attempts(nodes) {
        if !search.relieve_worst_port()? {
            break;
        }
    }
    relief.after = search.trees.greatest_load();
    relief.moved = search.trees.moved_entries(tables);
    for moved in &relief.moved {
        tables.set(moved.switch, moved.column as usize, Some(moved.port));
    }
    Ok(relief)
}
