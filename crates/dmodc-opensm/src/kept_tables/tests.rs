//! Tables that are kept over faults and repairs, compared with tables that are routed afresh.

use super::*;
use dmodc::fabric::{Product, Rate, Switch};
use dmodc::{
    Amount, DestinationOrder, Draw, FabricBuilder, LeafRule, Lid, NO_ROUTE, Pgft, PortNumber,
    Random, RoutingOptions, SwitchIndex, SwitchOrder,
};

fn choices() -> RoutingChoices {
    RoutingChoices {
        leaves: LeafRule::Detect,
        destinations: DestinationOrder::Topological,
        switches: SwitchOrder::Plane,
        connect_roots: false,
        switch_lmc: HashMap::new(),
    }
}

fn tables(kept: &KeptTables) -> HashMap<Guid, Vec<u8>> {
    kept.tables().map(|(guid, row)| (guid, row.to_vec())).collect()
}

/// Returns the tables of `dmodc route --orders` for the present fabric.
fn offline(now: &Fabric, saved: &SavedOrders) -> HashMap<Guid, Vec<u8>> {
    let saved = Some(saved.clone());
    let kept = KeptTables::new(now.clone(), choices(), saved).expect("it can be routed");
    tables(&kept)
}

/// Returns the tables without the empty entries at the end, of LIDs that only one of two tables may have.
fn trimmed(tables: HashMap<Guid, Vec<u8>>) -> HashMap<Guid, Vec<u8>> {
    let trim = |mut row: Vec<u8>| {
        while row.last() == Some(&NO_ROUTE) {
            row.pop();
        }
        row
    };
    tables.into_iter().map(|(guid, row)| (guid, trim(row))).collect()
}

/// After faults, repairs, and both at once, the kept tables are those of the present fabric.
#[test]
fn every_moment_has_its_own_tables() {
    for tuple in ["3; 2,2,3; 1,2,2; 1,2,1", "3; 4,4,6; 1,4,2; 1,1,2"] {
        let whole = tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default());
        let healthy = Degradation::none(&whole);
        let mut kept = KeptTables::new(whole.clone(), choices(), None).expect("it can be routed");
        let first = tables(&kept);
        let mut random = Random::new(9, 0);
        for seed in 0..30 {
            let draw = Draw {
                cables: Amount::Count(random.below(9) as usize),
                switches: Amount::Count(random.below(3) as usize),
                any_cable: true,
                any_switch: true,
                seed,
            };
            let mask = draw.degradation(&whole).expect("the fabric has enough parts");
            let now = whole.without(&mask);
            let (done, delta) = kept
                .update(&now)
                .expect("it can be routed")
                .expect("it is a part of the known one");
            assert!(matches!(done, RouteMode::Incremental { .. }));
            assert_eq!(trimmed(tables(&kept)), trimmed(offline(&now, &kept.saved)));
            let (again, _) = kept.update(&now).expect("routed").expect("known");
            assert_eq!(again, RouteMode::Incremental { faults: 0, repairs: 0 });
            drop(delta);
        }
        kept.update(&whole.without(&healthy)).expect("routed").expect("known");
        assert_eq!(tables(&kept), first, "after full repair, the first tables");
        assert_eq!(kept.coverage(), {
            let ranked = Live::new(&whole, &healthy);
            let routing = Routing::new(ranked, &RoutingOptions::default());
            routing.route(ranked, &dmodc::Dmodc).expect("routed").1
        });
    }
}

/// A fabric with parts that were never seen is not applied to the kept tables.
#[test]
fn other_fabrics_start_anew() {
    let fabric = |tuple: &str| tuple.parse::<Pgft>().expect("a PGFT").fabric(Default::default());
    let small = fabric("2; 2,3; 1,2; 1,1");
    let mut kept = KeptTables::new(small.clone(), choices(), None).expect("it can be routed");
    assert!(kept.update(&fabric("2; 2,4; 1,2; 1,1")).expect("routed").is_none());
    // After a part of the fabric, the whole: the new nodes get the numbers after the known ones.
    let mut mask = Degradation::none(&small);
    mask.set_switch(SwitchIndex::new(1), true);
    let part = KeptTables::new(small.without(&mask), choices(), None).expect("it can be routed");
    let then = KeptTables::new(small.clone(), choices(), Some(part.saved.clone())).expect("routed");
    assert_eq!(then.saved.nodes[..part.saved.nodes.len()], part.saved.nodes);
    assert_eq!(tables(&then), offline(&small, &then.saved));
}

/// Switches with several LIDs have the entry of the first for all; a port without a LID has none.
#[test]
fn every_lid_of_a_switch_has_its_entry_and_lid_0_has_none() {
    let fabric = "2; 2,3; 1,2; 1,1".parse::<Pgft>().expect("a PGFT").fabric(Default::default());
    let last = fabric.switches().last().expect("a spine");
    let (guid, lid) = (last.guid, last.lid.0 as usize);
    let top =
        fabric.switches().iter().map(|s| s.lid.0).chain(fabric.nodes().iter().map(|n| n.lid.0));
    assert_eq!(top.max(), Some(lid as u32), "it has the greatest LID");
    let lmc = RoutingChoices { switch_lmc: HashMap::from([(guid, 2)]), ..choices() };
    let mut kept = KeptTables::new(fabric.clone(), lmc, None).expect("it can be routed");
    let check = |kept: &KeptTables| {
        for (_, row) in kept.tables() {
            assert_eq!(row.len(), lid + 4);
            assert!(row[lid..].iter().all(|entry| *entry == row[lid]), "{row:?}");
            assert_eq!(row[0], NO_ROUTE);
        }
    };
    check(&kept);
    assert!(kept.tables().any(|(_, row)| row[lid] != NO_ROUTE));
    let mut dead = Degradation::none(&fabric);
    dead.set_cable(dmodc::CableIndex::new(0), true);
    kept.update(&fabric.without(&dead)).expect("routed").expect("known");
    check(&kept);
    assert!(!kept.has_switch_lmc(&HashMap::new()));
    let mut builder = FabricBuilder::new();
    let switches = [(7, 0), (8, 5)].map(|(guid, lid)| {
        let (guid, lid, name) = (Guid(guid), Lid(lid), "".into());
        builder.switch(Switch { guid, lid, ports: 4, name, product: Product::default() })
    });
    let port = PortNumber(1);
    builder.cable((switches[0], port), (switches[1], port), Rate::NDR);
    let fabric = builder.finish().expect("a port may have no LID yet");
    let kept = KeptTables::new(fabric, choices(), None).expect("it can be routed");
    assert!(kept.tables().all(|(_, row)| row[..5] == [NO_ROUTE; 5] && row.len() == 6));
}
