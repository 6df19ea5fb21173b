//! Judging forwarding tables: ours, or anybody's.
//!
//! Nothing here knows how tables were made; only [`forced()`] asks what the closer sets would
//! allow. For each destination the next hops of all switches form a graph that is walked once, O(#switches) a destination, instead of once for every source; so all
//! pairs of 11,664 nodes take a second, not minutes.

mod blocks;
mod check;
mod cycle;
mod dependencies;
mod diff;
mod entries;
mod forced;
mod moved;
pub mod plan;
pub mod risk;
mod trace;
mod verdict;
mod walk;

pub use check::{Check, Loop, Scope, Undelivered, Why, check, check_union};
pub use cycle::Channel;
pub use diff::{Changes, Diff, LevelChanges, Sizes, diff};
pub use forced::{Forced, forced};
pub use plan::{NewLoops, Plan, PlanPairs, Round, Write, plan};
pub use trace::{Fate, Hop, trace};
pub use verdict::{Delivery, Islands, delivery};
