//! Judges tables by patterns of traffic, for `dmodc analyze`.
//!
//! | | |
//! |---|---|
//! | `pattern` | the patterns and their names |
//! | `finding` | the results of a pattern: loads, bounds, the worst ports and who uses them |
//! | `steps` | the flows of a pattern, step by step |
//! | `rates` | the fair rates of a pattern |
//! | `jobs` | several jobs at the same time |
//! | `histogram` | loads in bins, percentiles |

mod finding;
mod histogram;
mod jobs;
mod pattern;
mod rates;
mod steps;

pub use finding::{Finding, PortUsers, WorstPort, find};
pub use histogram::{Bin, histogram, percentile};
pub use jobs::{Job, JobFinding, JobRates, JobsFinding, SharedPort, find_jobs};
pub use pattern::{NoPattern, NodeRegex, Pattern, UnknownPattern};
pub use rates::{TooManyFlows, rates};
pub(crate) use steps::PatternRisk;
pub use steps::{PatternFlows, PatternProblem, rails};
