//! The record of one event of a soak.

use serde::Serialize;

use super::balance::SoakBalance;
use super::event::SoakKind;
use crate::verdict::TableVerdict;

/// A change of the manager in charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Handover {
    /// Whether both managers use one state folder.
    pub is_shared: bool,
    /// The number of entries that moved.
    pub moved: usize,
    /// The number of entries that would have moved if both used one state folder; not known when the first one takes
    /// over again.
    pub moved_if_shared: Option<usize>,
}

/// The results of one event.
#[derive(Clone, Debug, Serialize)]
pub struct SoakRow {
    /// The number of the event; the start is 0.
    pub number: usize,
    /// The event in words.
    pub event: String,
    /// The kind of the event.
    pub kind: SoakKind,
    /// The number of heavy sweeps that OpenSM made.
    pub sweeps: usize,
    /// The time from the event until the subnet was up, in seconds.
    pub upload_s: f64,
    /// The verdict on the tables of the switches.
    #[serde(flatten)]
    pub verdict: TableVerdict,
    /// The number of node pairs that cables connect, but no up\*down\* path does: no tables of ours can deliver them.
    pub roadless: u64,
    /// The number of entries in which the tables differ from those of `dmodc route`.
    pub differences: usize,
    /// Whether nothing was at fault, and every host that ever was on is on now.
    pub quiet: bool,
    /// The balance of traffic.
    pub balance: SoakBalance,
    /// The number of entries that moved although the event was not about their switch or destination.
    pub others_moved: usize,
    /// Whether none of them may move at this event.
    pub must_stay: bool,
    /// The handover, if another OpenSM took over.
    pub handover: Option<Handover>,
    /// How often OpenSM had to be asked for one more sweep.
    pub nudges: usize,
    /// How often OpenSM never began to look at the fabric and was started again: the simulator loses a packet now and
    /// then.
    pub stalls: usize,
    /// Everything that is wrong, a sentence each.
    pub wrong: Vec<String>,
}
