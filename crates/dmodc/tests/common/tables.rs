//! Making tables, and looking at them without the judge.

use std::collections::BTreeMap;

use dmodc::fabric::Peer;
use dmodc::judge::Check;
use dmodc::{
    DestinationOrder, Dmodc, Fabric, ForwardingTables, Guid, Live, PortNumber, Routing,
    RoutingOptions, SavedOrders, SwitchIndex, SwitchOrder,
};

/// The tables of Dmodc.
pub fn route(routing: &Routing, live: Live<'_>) -> ForwardingTables {
    routing.route(live, &Dmodc).expect("Dmodc routes what costs can count").0
}

/// The verdict of the judge.
pub fn judge(routing: &Routing, live: Live<'_>, tables: &ForwardingTables) -> Check {
    dmodc::judge::check(live, &routing.ranking(live), routing.orders(), tables)
}

/// The options of whoever follows saved orders.
pub fn saved_options(saved: &SavedOrders) -> RoutingOptions {
    RoutingOptions {
        destinations: DestinationOrder::Saved(saved.clone()),
        switches: SwitchOrder::Saved(saved.clone()),
        ..RoutingOptions::default()
    }
}

/// Runs something with this number of threads.
pub fn in_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be started").install(run)
}

/// The entries as numbers, one row for each switch, as the oracles give them: 255 is no route.
pub fn rows(tables: &ForwardingTables) -> Vec<Vec<u8>> {
    let row = |s: usize| {
        let port = |c| tables.port(SwitchIndex::new(s), c).map_or(255, |p| p.0);
        (0..tables.columns().len()).map(port).collect()
    };
    (0..tables.switch_count()).map(row).collect()
}

/// All routes, whatever the indices: the port by the GUIDs of switch and destination, and which of its LIDs.
pub type EntriesByGuid = BTreeMap<(Guid, Guid, u8), u8>;

/// All routes by GUID.
pub fn entries_by_guid(fabric: &Fabric, tables: &ForwardingTables) -> EntriesByGuid {
    let mut entries = BTreeMap::new();
    for s in fabric.switch_indices() {
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if let Some(port) = tables.port(s, column) {
                let name = (fabric.switch(s).guid, d.end.guid(fabric), d.k);
                assert_eq!(entries.insert(name, port.0), None);
            }
        }
    }
    entries
}

/// Follows a route hop by hop. Returns the ports on the way, `None` if packets are lost or loop.
pub fn walk(
    live: Live<'_>,
    tables: &ForwardingTables,
    from: SwitchIndex,
    column: usize,
) -> Option<Vec<(SwitchIndex, PortNumber)>> {
    let d = tables.columns().destinations()[column];
    let mut path = vec![];
    let mut s = from;
    loop {
        let out = tables.port(s, column)?;
        if s == d.switch {
            return (out == d.port).then_some(path);
        }
        let Peer::Switch(next, _) = live.peer(s, out) else { return None };
        path.push((s, out));
        if path.len() > live.fabric.switches().len() {
            return None;
        }
        s = next;
    }
}
