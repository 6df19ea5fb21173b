//! Judging tables by patterns of traffic: what `dmodc analyze` finds.
//!
//! | | |
//! |---|---|
//! | `pattern` | which patterns there are, and how they are called |
//! | `finding` | what each of them comes to: loads, bounds, the worst ports and who uses them |
//! | `histogram` | loads in bins, percentiles |

mod finding;
mod histogram;
mod pattern;

pub use finding::{Finding, PatternFlows, PortUsers, WorstPort, find};
pub use histogram::{Bin, histogram, percentile};
pub use pattern::{NoPattern, Pattern};
