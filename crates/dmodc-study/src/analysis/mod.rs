//! Judges tables by patterns of traffic, for `dmodc analyze`.
//!
//! | | |
//! |---|---|
//! | `pattern` | the patterns and their names |
//! | `finding` | the results of a pattern: loads, bounds, the worst ports and who uses them |
//! | `rates` | the fair rates of a pattern |
//! | `histogram` | loads in bins, percentiles |

mod finding;
mod histogram;
mod pattern;
mod rates;

pub use finding::{Finding, PatternFlows, PortUsers, WorstPort, find};
pub use histogram::{Bin, histogram, percentile};
pub use pattern::{NoPattern, Pattern};
pub use rates::{TooManyFlows, rates};
