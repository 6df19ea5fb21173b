//! The vocabulary of the integration tests. Most properties follow one recipe:
//!
//! ```text
//! for_seeds(300, |random| {
//!     let fabric = random_fabric(random, 40);          // a graph or a PGFT of at most 40 nodes
//!     let case = Case::degraded(random, &fabric);      // case.whole() and case.now()
//!     let routing = case.routing();                    // orders and columns of the whole fabric
//!     let mut tables = route(&routing, case.now());    // Dmodc's tables
//!     spoil(random, case.now(), &mut tables);          // some entries overwritten with any port
//!     // … compare fast code with a naive twin, and count what occurred: Outcomes.
//! });
//! ```
#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod cabling;
mod case;
mod description;
mod directors;
mod drawing;
pub mod life;
mod random;
mod seeds;
mod tables;

pub use case::Case;
pub use description::{Description, described_anew};
pub use directors::{Directors, four_levels};
pub use drawing::Drawing;
pub use random::{
    random_fabric, random_faults, random_graph, random_guids, random_options, random_pgft,
    random_types, spoil, unequal_cables,
};
pub use seeds::{Outcomes, for_seeds};
pub use tables::{
    EntriesByGuid, entries_by_guid, in_threads, judge, route, rows, saved_options, walk,
};

use dmodc::{Fabric, Pgft};

/// The whole PGFT of a tuple, its GUIDs in topological order.
pub fn pgft(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().expect("a tuple of a test").fabric(Default::default())
}
