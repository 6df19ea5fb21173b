//! A router with exact differences: a router of the library, and the tables that the caller knows.

mod read;
mod since;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dmodc::fabric::Part;
use dmodc::judge::plan_upload;
use dmodc::{
    Change, Fabric, ForwardingTables, Guid, NoMemory, PortNumber, Router, SavedOrders, SwitchIndex,
    TableDelta, Tile, parallel,
};

use crate::delta::{ExactDelta, Moment, SwitchEntries, push};
use crate::error::{DmodcStatus, Failure};
use crate::plan::Plan;
use crate::records::{DMODC_NO_ROUTE, DmodcChange, DmodcEntry};
use crate::settings::Settings;
use crate::start::{Started, route_failure, start};

/// The greatest number of rounds that can be asked for. The time and memory of a plan grow with it.
const MOST_ROUNDS: u32 = 1024;

/// A router, the tables before its last change, and what finds parts by GUID.
pub(crate) struct Session {
    router: Router,
    /// The tables that the last delta led to.
    known: ForwardingTables,
    /// Whether an error or a panic left the tables without meaning.
    is_broken: bool,
    /// Whether `known` may differ from the tables anywhere.
    is_behind: bool,
    moment: Moment,
    /// Orders that the router was given.
    earlier: Option<SavedOrders>,
    switches: HashMap<Guid, SwitchIndex>,
    /// The columns, ascending by LID.
    by_lid: Vec<usize>,
}

/// A place where two tables may differ: some columns of one switch, all in one tile.
struct Suspect {
    switch: SwitchIndex,
    tile: Tile,
    columns: std::ops::Range<usize>,
}

/// Returns a copy of the tables of a router.
fn copied(router: &Router) -> Result<ForwardingTables, NoMemory> {
    let mut copy = router.routing().empty_tables(router.live())?;
    let tiles = copy.tiles_mut().into_iter().zip(router.tables().tiles());
    parallel::for_each(tiles, |((_, to), (_, from))| to.copy_from_slice(from));
    Ok(copy)
}

impl Session {
    /// Routes a fabric for the first time.
    pub(crate) fn new(fabric: &Arc<Fabric>, settings: &Settings) -> Result<Self, Failure> {
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        let Started { router, earlier } = start(fabric, settings)?;
        let known = copied(&router).map_err(|error| route_failure(&error.into()))?;
        let all = router.fabric();
        Ok(Session {
            known,
            is_broken: false,
            is_behind: false,
            moment: Moment { router: SESSIONS.fetch_add(1, Ordering::Relaxed), changes: 0 },
            earlier,
            switches: all.switch_indices().map(|s| (all.switch(s).guid, s)).collect(),
            by_lid: router.tables().columns().by_lid(),
            router,
        })
    }

    /// Returns the fabric, with everything that has failed.
    pub(crate) fn fabric(&self) -> &Arc<Fabric> {
        self.router.fabric()
    }

    /// Makes changes, and returns the entries that they moved. If a part is unknown, nothing is changed.
    pub(crate) fn apply(&mut self, changes: &[DmodcChange]) -> Result<ExactDelta, Failure> {
        let changes: Vec<Change> = changes
            .iter()
            .map(|change| {
                let part = self.part(change.guid, change.port)?;
                Ok(if change.works == 1 { Change::Recovers(part) } else { Change::Dies(part) })
            })
            .collect::<Result<_, Failure>>()?;
        let was_broken = std::mem::replace(&mut self.is_broken, true);
        let delta = match was_broken {
            false => Some(self.router.apply(&changes).map_err(|error| route_failure(&error))?),
            // Nothing that the router kept is trusted.
            true => {
                self.reroute(&changes)?;
                None
            }
        };
        self.is_broken = false;
        self.moment.changes += 1;
        let was_behind = std::mem::replace(&mut self.is_behind, true);
        let found = self.exact(delta.as_ref().filter(|_| !was_behind))?;
        match &delta {
            Some(delta) if !was_behind => delta.copy(self.router.tables(), &mut self.known),
            _ => self.catch_up(),
        }
        self.is_behind = false;
        Ok(found)
    }

    /// Routes everything again after these changes.
    fn reroute(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let mut now = self.router.degradation().clone();
        for &change in changes {
            match change {
                Change::Dies(part) => now.set(part, true),
                Change::Recovers(part) => now.set(part, false),
            }
        }
        self.router.reroute(&now).map_err(|error| route_failure(&error))
    }

    /// Takes all tables as known.
    fn catch_up(&mut self) {
        for ((_, to), (_, from)) in
            self.known.tiles_mut().into_iter().zip(self.router.tables().tiles())
        {
            to.copy_from_slice(from);
        }
    }

    fn part(&self, guid: u64, port: u8) -> Result<Part, Failure> {
        let s = self.switch(guid)?;
        if port == 0 {
            return Ok(Part::Switch(s));
        }
        let cable = self.fabric().port(s, PortNumber(port)).and_then(dmodc::fabric::Port::cable);
        cable.map(Part::Cable).ok_or_else(|| {
            let message = format!("there is no cable in port {port} of the switch {guid:#018x}");
            Failure::not_found(message)
        })
    }

    fn switch(&self, guid: u64) -> Result<SwitchIndex, Failure> {
        let none = || Failure::not_found(format!("there is no switch with the GUID {guid:#018x}"));
        self.switches.get(&Guid(guid)).copied().ok_or_else(none)
    }

    /// Returns an error if the tables mean nothing.
    fn check_tables(&self) -> Result<(), Failure> {
        let message = "the last change could not be routed, so there are no tables; make another change first";
        match self.is_broken {
            true => Err(Failure::new(DmodcStatus::CannotRoute, message)),
            false => Ok(()),
        }
    }

    /// Returns the entries that differ from those that are known: of this delta, or all if there is none.
    fn exact(&self, delta: Option<&TableDelta>) -> Result<ExactDelta, Failure> {
        let columns = self.router.tables().columns();
        let mut by_switch: Vec<Vec<DmodcEntry>> = vec![vec![]; self.switches.len()];
        let mut compare =
            |suspect: Suspect| self.compare(&suspect, &mut by_switch[suspect.switch.at()]);
        match delta {
            Some(delta) => {
                for row in delta.rows() {
                    let tile = columns.tile(row.tile as usize);
                    for columns in row.spans(columns) {
                        compare(Suspect { switch: row.switch, tile: tile.clone(), columns })?;
                    }
                }
            }
            None => {
                for tile in columns.tiles() {
                    for switch in self.fabric().switch_indices() {
                        let columns = tile.columns.clone();
                        compare(Suspect { switch, tile: tile.clone(), columns })?;
                    }
                }
            }
        }
        let named = self.fabric().switch_indices().zip(by_switch);
        let changed = named.filter(|(_, entries)| !entries.is_empty()).map(|(s, mut entries)| {
            entries.sort_unstable_by_key(|entry| entry.lid);
            SwitchEntries { guid: self.fabric().switch(s).guid, entries }
        });
        Ok(ExactDelta { switches: changed.collect(), moment: self.moment })
    }

    /// Adds the entries of one place that differ.
    fn compare(&self, suspect: &Suspect, found: &mut Vec<DmodcEntry>) -> Result<(), Failure> {
        let Suspect { switch, tile, columns } = suspect;
        let now = self.router.tables().row(*switch, tile);
        let before = self.known.row(*switch, tile);
        let destinations = self.router.tables().columns().destinations();
        for column in columns.clone() {
            let at = column - tile.columns.start;
            if before[at] != now[at] {
                let lid = destinations[column].lid.0;
                let (old_port, new_port) = (before[at], now[at]);
                push(found, DmodcEntry { lid, old_port, new_port, reserved: [0; 2] })?;
            }
        }
        Ok(())
    }

    /// Returns an order in which the entries of the last delta can be written.
    pub(crate) fn plan(&mut self, delta: &ExactDelta, rounds: u32) -> Result<Plan, Failure> {
        if rounds > MOST_ROUNDS {
            let message = format!("the number of rounds is 0 to {MOST_ROUNDS}, not {rounds}");
            return Err(Failure::argument(message));
        }
        self.check_tables()?;
        if delta.moment != self.moment || self.is_behind {
            let message = "the delta is not that of the last change of this router";
            return Err(Failure::argument(message));
        }
        // The known tables become the old ones for a moment, so that no third copy is needed.
        self.is_behind = true;
        self.set_known(delta, |entry| entry.old_port)?;
        let (now, live) = (self.router.tables(), self.router.live());
        let plan = plan_upload(live, &self.known, now, rounds)
            .map(|plan| Plan::new(&plan, self.fabric(), &self.known, now))
            .map_err(|error| Failure::new(DmodcStatus::CannotRoute, error.to_string()));
        self.set_known(delta, |entry| entry.new_port)?;
        self.is_behind = false;
        plan
    }

    fn set_known(
        &mut self,
        delta: &ExactDelta,
        port: impl Fn(&DmodcEntry) -> u8,
    ) -> Result<(), Failure> {
        for switch in &delta.switches {
            let s = self.switch(switch.guid.0)?;
            for entry in &switch.entries {
                let port = port(entry);
                let port = (port != DMODC_NO_ROUTE).then_some(PortNumber(port));
                let column = self.column(entry.lid)?;
                self.known.set(s, column, port);
            }
        }
        Ok(())
    }
}
