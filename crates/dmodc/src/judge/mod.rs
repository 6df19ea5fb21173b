//! Judging forwarding tables: ours, or anybody's.
//!
//! Nothing here knows how tables were made; only [`forced()`] asks what the closer sets would allow. For each destination
//! the next hops of all switches form a graph that is walked once, in O(#switches), instead of once for every source. So
//! all pairs of 11,664 nodes take a second, not minutes.
//!
//! | question | answer |
//! |---|---|
//! | do packets arrive, and can they deadlock? | [`check()`], [`check_union`] during an update, [`delivery`] for some nodes |
//! | which way does a packet take? | [`trace()`] |
//! | what changes with new tables? | [`diff()`]; [`forced()`]: what had to change |
//! | in which order are new tables written? | [`upload`] |
//! | how many flows share a port? | [`risk`] |
//! | how fast is each flow? | [`rates`] |

mod blocks;
mod check;
mod cycle;
mod dependencies;
mod diff;
mod entries;
mod forced;
mod moved;
pub mod rates;
pub mod risk;
mod trace;
pub mod upload;
mod verdict;
mod walk;

pub use blocks::Blocks;
pub use check::{Check, Loop, Scope, Undelivered, UndeliveredReason, check, check_union};
pub use cycle::Channel;
pub use diff::{Diff, LevelChanges, Sizes, TableChanges, diff};
pub use forced::{Forced, forced};
pub use trace::{Fate, Hop, trace};
pub use upload::{BlockWrite, NewLoops, UploadPairs, UploadPlan, UploadRound, plan_upload};
pub use verdict::{Delivery, Islands, delivery};
