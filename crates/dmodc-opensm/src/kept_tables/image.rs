//! The tables as switches have them: for each switch, an entry for each LID.
//!
//! The engine has a column for each destination; here a destination with several LIDs has several entries, and LIDs
//! that nobody has are empty. With three LIDs and two switches:
//!
//! ```text
//! LID            0    1    2    3
//! switch 0     255    1    2    2     one row of `entries`, `width` = 4
//! switch 1     255    3  255    1
//! ```

use std::ops::Range;

use dmodc::{
    Columns, Destination, End, ForwardingTables, Guid, Lid, Live, NO_ROUTE, Router, TableDelta,
};

use super::choices::RoutingChoices;

/// The tables of all switches, by LID.
pub(super) struct LftImage {
    entries: Vec<u8>,
    /// The number of LIDs, and so of entries of each switch.
    width: usize,
    /// The number of LIDs that each switch has.
    switch_lids: Vec<u8>,
}

impl LftImage {
    /// Returns an image without any route.
    pub(super) fn empty(router: &Router, choices: &RoutingChoices) -> Self {
        let lmc = |guid| choices.switch_lmc.get(guid).map_or(0, |lmc| (*lmc).min(7));
        let switches = router.fabric().switches();
        let switch_lids: Vec<u8> = switches.iter().map(|s| 1 << lmc(&s.guid)).collect();
        let destinations = router.routing().columns().destinations().iter();
        let end = destinations.map(|d| lids_of(d, &switch_lids).end).max().unwrap_or(0);
        // Absent parts of a reference may have LIDs beyond those that OpenSM can have.
        let width = end.clamp(1, Lid::LAST_UNICAST.0 as usize + 1);
        LftImage { entries: vec![NO_ROUTE; width * switches.len()], width, switch_lids }
    }

    /// Draws all entries of these tables.
    pub(super) fn draw_all(&mut self, tables: &ForwardingTables) {
        let columns = tables.columns();
        let switches = self.switch_lids.len();
        for tile in columns.tiles() {
            for s in (0..switches).map(dmodc::SwitchIndex::new) {
                let row = &mut self.entries[s.at() * self.width..][..self.width];
                let destinations = &columns.destinations()[tile.columns.clone()];
                for (d, &entry) in destinations.iter().zip(tables.row(s, &tile)) {
                    put(row, lids_of(d, &self.switch_lids), entry);
                }
            }
        }
    }

    /// Draws the entries that have changed.
    pub(super) fn draw_changes(&mut self, tables: &ForwardingTables, delta: &TableDelta) {
        let columns = tables.columns();
        for changed in delta.rows() {
            let tile = columns.tile(changed.tile as usize);
            let entries = tables.row(changed.switch, &tile);
            let row = &mut self.entries[changed.switch.at() * self.width..][..self.width];
            for column in changed.spans(columns).flatten() {
                let lids = lids_of(&columns.destinations()[column], &self.switch_lids);
                put(row, lids, entries[column - tile.columns.start]);
            }
        }
    }

    /// Returns the rows of the live switches, up to the greatest LID that a live destination has.
    pub(super) fn rows(
        &self,
        live: Live<'_>,
        columns: &Columns,
    ) -> impl Iterator<Item = (Guid, &[u8])> {
        let alive = columns.destinations().iter().filter(|d| d.end.is_alive(live));
        let used = alive.map(|d| lids_of(d, &self.switch_lids).end);
        let used = used.max().unwrap_or(0).min(self.width);
        let rows = self.entries.chunks_exact(self.width).map(move |row| &row[..used]);
        live.fabric
            .switch_indices()
            .zip(rows)
            .filter(move |(s, _)| live.switch(*s))
            .map(move |(s, row)| (live.fabric.switch(s).guid, row))
    }
}

/// Returns the LIDs whose entries are those of a column. A port without a LID has none.
fn lids_of(d: &Destination, switch_lids: &[u8]) -> Range<usize> {
    let lid = d.lid.0 as usize;
    match d.end {
        _ if d.lid == Lid::UNKNOWN => 0..0,
        // Every LID of a node has a column of its own.
        End::Node(_) => lid..lid + 1,
        End::Switch(s) => lid..lid + usize::from(switch_lids[s.at()]),
    }
}

/// Writes an entry for these LIDs, as far as the row has room for them.
fn put(row: &mut [u8], lids: Range<usize>, entry: u8) {
    let end = lids.end.min(row.len());
    if let Some(entries) = row.get_mut(lids.start..end) {
        entries.fill(entry);
    }
}
