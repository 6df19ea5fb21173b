//! Forwarding tables by the GUIDs of their switches, so that tables of different fabrics can be compared.

use std::collections::BTreeMap;

use dmodc::{ForwardingTables, Live, NO_ROUTE, SwitchIndex};

/// The table of each switch, by its GUID: a port for each LID.
pub(crate) type TableImage = BTreeMap<u64, Vec<u8>>;

/// An entry of a forwarding table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryAddress {
    /// The GUID of the switch.
    pub(crate) switch: u64,
    pub(crate) lid: usize,
}

/// Returns the tables of the live switches, with the entries of live destinations.
pub(crate) fn image(live: Live<'_>, tables: &ForwardingTables) -> TableImage {
    let destinations = tables.columns().destinations();
    let alive = || destinations.iter().enumerate().filter(|(_, d)| d.end.is_alive(live));
    let width = alive().map(|(_, d)| d.lid.0 as usize + 1).max().unwrap_or(0);
    let row = |s: SwitchIndex| {
        let mut row = vec![NO_ROUTE; width];
        for (column, d) in alive() {
            row[d.lid.0 as usize] = tables.port(s, column).map_or(NO_ROUTE, |port| port.0);
        }
        (live.fabric.switch(s).guid.0, row)
    };
    live.fabric.switch_indices().filter(|&s| live.switch(s)).map(row).collect()
}

/// Returns the entries in which two images differ. A switch or LID that one of them does not have counts as entries
/// without a route.
pub(crate) fn differences<'a>(
    a: &'a TableImage,
    b: &'a TableImage,
) -> impl Iterator<Item = EntryAddress> + 'a {
    const NONE: &[u8] = &[];
    let guids = a.keys().chain(b.keys().filter(|guid| !a.contains_key(guid)));
    guids.flat_map(move |&switch| {
        let [a, b] = [a, b].map(|image| image.get(&switch).map_or(NONE, Vec::as_slice));
        let entry = |row: &[u8], lid: usize| row.get(lid).copied().unwrap_or(NO_ROUTE);
        let lids = 0..a.len().max(b.len());
        let differs = move |&lid: &usize| entry(a, lid) != entry(b, lid);
        lids.filter(differs).map(move |lid| EntryAddress { switch, lid })
    })
}

/// Returns the number of entries in which two images differ.
pub(crate) fn count_differences(a: &TableImage, b: &TableImage) -> usize {
    differences(a, b).count()
}
