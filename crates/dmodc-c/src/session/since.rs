//! The difference between the tables of two routers.

use std::collections::BTreeMap;

use dmodc::{SwitchIndex, parallel};

use super::Session;
use crate::delta::{ExactDelta, Moment, SwitchEntries, byte, push};
use crate::error::Failure;
use crate::records::{DMODC_NO_ROUTE, DmodcEntry};

impl Session {
    /// Returns the entries of the newer tables that differ from those of an older router, switch by switch. A switch or a LID
    /// that the older one does not have had no route; switches that the newer one does not have are left out.
    pub(crate) fn since(&self, older: &Session) -> Result<ExactDelta, Failure> {
        self.check_tables()?;
        older.check_tables()?;
        let lids = LidColumns::both(older, self);
        let compare = |s: SwitchIndex| -> Result<SwitchEntries, Failure> {
            let guid = self.fabric().switch(s).guid;
            let before = older.switches.get(&guid).copied();
            let mut entries = vec![];
            for lid in &lids {
                let old_port = match (before, lid.old) {
                    (Some(before), Some(column)) => {
                        byte(older.router.tables().port(before, column))
                    }
                    _ => DMODC_NO_ROUTE,
                };
                let new = lid.new.and_then(|column| self.router.tables().port(s, column));
                let (lid, new_port) = (lid.lid, byte(new));
                if old_port != new_port {
                    push(&mut entries, DmodcEntry { lid, old_port, new_port, reserved: [0; 2] })?;
                }
            }
            Ok(SwitchEntries { guid, entries })
        };
        let all = parallel::map(self.fabric().switch_indices(), compare);
        let mut switches = all.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        switches.retain(|switch| !switch.entries.is_empty());
        // Plans need the tables of one fabric, so no moment of a router goes with this delta.
        let moment = Moment { changes: u64::MAX, ..self.moment };
        Ok(ExactDelta { switches, moment })
    }
}

/// The columns of a LID in the tables of two routers.
struct LidColumns {
    lid: u32,
    old: Option<usize>,
    new: Option<usize>,
}

impl LidColumns {
    /// Returns all LIDs of two routers, ascending.
    fn both(old: &Session, new: &Session) -> Vec<LidColumns> {
        let mut all: BTreeMap<u32, LidColumns> = BTreeMap::new();
        for (session, is_new) in [(old, false), (new, true)] {
            for &column in &session.by_lid {
                let lid = session.lid(column);
                let columns = all.entry(lid).or_insert(LidColumns { lid, old: None, new: None });
                *(if is_new { &mut columns.new } else { &mut columns.old }) = Some(column);
            }
        }
        all.into_values().collect()
    }
}
