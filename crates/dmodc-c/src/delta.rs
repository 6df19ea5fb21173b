//! The entries that a change moved.

use dmodc::{Guid, PortNumber};

use crate::error::{DmodcStatus, Failure};
use crate::records::{DMODC_NO_ROUTE, DmodcEntry};

/// The entries of one switch that changed, ascending by LID.
pub(crate) struct SwitchEntries {
    pub(crate) guid: Guid,
    pub(crate) entries: Vec<DmodcEntry>,
}

/// The state of a router: whose it is, and how often its tables changed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) router: u64,
    pub(crate) changes: u64,
}

/// The entries that changed, switch by switch.
pub(crate) struct ExactDelta {
    pub(crate) switches: Vec<SwitchEntries>,
    /// When the router has the tables that the delta leads to.
    pub(crate) moment: Moment,
}

impl ExactDelta {
    /// Returns the number of entries.
    pub(crate) fn entry_count(&self) -> u64 {
        self.switches.iter().map(|switch| switch.entries.len() as u64).sum()
    }
}

/// Returns the byte of an entry.
pub(crate) fn byte(port: Option<PortNumber>) -> u8 {
    port.map_or(DMODC_NO_ROUTE, |port| port.0)
}

/// Adds an entry to a list. A delta can be larger than the tables, so a lack of memory is an error.
pub(crate) fn push(entries: &mut Vec<DmodcEntry>, entry: DmodcEntry) -> Result<(), Failure> {
    entries.try_reserve(1).map_err(|_| {
        Failure::new(DmodcStatus::NoMemory, "there is not enough memory for the delta")
    })?;
    entries.push(entry);
    Ok(())
}
