//! An order in which changed entries can be written to the switches.

use dmodc::judge::UploadPlan;
use dmodc::{Fabric, ForwardingTables};

use crate::delta::byte;
use crate::records::{DmodcEntry, DmodcWrite};

/// One write: which block, and its entries that become new.
pub(crate) struct PlannedWrite {
    pub(crate) write: DmodcWrite,
    pub(crate) entries: Vec<DmodcEntry>,
}

/// All writes, sorted by round, then by switch and block.
pub(crate) struct Plan {
    pub(crate) rounds: u32,
    pub(crate) writes: Vec<PlannedWrite>,
}

impl Plan {
    /// Returns a plan with the entries of both tables.
    pub(crate) fn new(
        plan: &UploadPlan,
        fabric: &Fabric,
        old: &ForwardingTables,
        new: &ForwardingTables,
    ) -> Self {
        let destinations = new.columns().destinations();
        let writes = plan.writes().iter().map(|planned| {
            let s = planned.switch;
            let entry = |column: usize| DmodcEntry {
                lid: destinations[column].lid.0,
                old_port: byte(old.port(s, column)),
                new_port: byte(new.port(s, column)),
                reserved: [0; 2],
            };
            PlannedWrite {
                write: DmodcWrite {
                    switch_guid: fabric.switch(s).guid.0,
                    round: planned.round,
                    block: planned.block,
                },
                entries: plan.columns(planned).map(entry).collect(),
            }
        });
        Plan { rounds: plan.rounds.len() as u32, writes: writes.collect() }
    }
}
