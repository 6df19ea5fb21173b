//! Single cases of re-routing that random faults seldom meet: whatever is kept must not outlive its reason.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use common::{Case, Drawing, pgft};
use dmodc::fabric::{Part, Peer, Product, Rate, Switch};
use dmodc::oracle::updown;
use dmodc::{
    CableIndex, Change, Degradation, Dmodc, Engine, Fabric, FabricBuilder, ForwardingTables, Guid,
    LeafRule, Lid, Live, PortNumber, RouteError, Router, Routing, RoutingOptions, Stable,
    SwitchIndex, SwitchOrder,
};

fn router(fabric: Fabric, options: &RoutingOptions) -> Router {
    let fabric = Arc::new(fabric);
    let routing = Routing::new(Case::healthy(&fabric).whole(), options);
    let none = Degradation::none(&fabric);
    Router::new(fabric, routing, none).unwrap()
}

/// The cable between two switches.
fn cable(fabric: &Fabric, a: usize, b: usize) -> Part {
    let joins = |c: &dmodc::fabric::Cable| {
        let ends = (c.a.0.at(), c.b.0.at());
        ends == (a, b) || ends == (b, a)
    };
    let at = fabric.inter_switch_cables().iter().position(joins);
    Part::Cable(CableIndex::new(at.unwrap()))
}

/// Everything that the router keeps is the same as after routing anew.
#[track_caller]
fn assert_as_anew(router: &Router) {
    let ready = router.routing().preprocess(router.live());
    assert_eq!(router.preprocessing().ranking, ready.ranking);
    assert_eq!(router.preprocessing().dividers, ready.dividers);
    let (whole, coverage) = router.routing().route(router.live(), &Dmodc).unwrap();
    assert!(*router.tables() == whole, "{} entries differ", router.tables().differing(&whole));
    assert_eq!(router.coverage(), coverage);
}

/// A part dies and comes back; everything is right in between and after.
#[track_caller]
fn dies_and_recovers(mut router: Router, part: Part) {
    for change in [Change::Dies, Change::Recovers] {
        router.apply(&[change(part)]).unwrap();
        assert_as_anew(&router);
    }
}

/// Switches one above the other, from one that is there.
fn tower(drawing: &mut Drawing, from: usize, height: usize) -> Vec<usize> {
    let mut all = vec![from];
    for level in 0..height {
        let next = drawing.switch(&format!("tower{level}"));
        drawing.cable(all[level], next, 1);
        all.push(next);
    }
    all
}

/// Switches without cables: compared with them, a change is a small one.
fn fillers(drawing: &mut Drawing, count: usize) {
    for i in 0..count {
        drawing.switch(&format!("filler{i}"));
    }
}

/// b - c - d - e hang on a leaf by one cable: with it all of them get or lose their ranks.
#[test]
fn an_island_is_cut_off_and_joined() {
    for switches in [SwitchOrder::Guid, SwitchOrder::Plane] {
        let mut drawing = Drawing::new();
        // GUIDs ascend in this order: d is the least of the island.
        let [d, b, c, e, leaf] = drawing.switches(["d", "b", "c", "e", "leaf"]);
        drawing.nodes(leaf, 2);
        tower(&mut drawing, leaf, 8);
        for (from, to) in [(leaf, b), (b, c), (c, d), (d, e)] {
            drawing.cable(from, to, 1);
        }
        let fabric = drawing.finish();
        let part = cable(&fabric, leaf, b);
        let options = RoutingOptions { switches, ..RoutingOptions::default() };
        dies_and_recovers(router(fabric, &options), part);
    }
}

/// The same on a PGFT: one plane loses all its leaves, and gets one cable back.
#[test]
fn a_plane_of_a_pgft_comes_back() {
    let mut router = router(pgft("3; 2,2,4; 1,2,3; 1,1,1"), &RoutingOptions::default());
    let fabric = router.fabric().clone();
    let ranking = router.preprocessing().ranking.clone();
    let peers = |s: SwitchIndex, rank: u32| -> Vec<SwitchIndex> {
        let switch = |peer: &Peer| match *peer {
            Peer::Switch(other, _) => Some(other),
            _ => None,
        };
        let ports = fabric.ports_of(s).iter().filter_map(|port| switch(&port.peer));
        ports.filter(|peer| ranking.rank(*peer) == Some(rank)).collect()
    };
    let spine = fabric.switch_indices().find(|&s| ranking.rank(s) == Some(1)).unwrap();
    let mut cut = vec![];
    for s in peers(peers(spine, 2)[0], 1) {
        cut.extend(peers(s, 0).into_iter().map(|leaf| cable(&fabric, s.at(), leaf.at())));
    }
    router.apply(&cut.iter().map(|&part| Change::Dies(part)).collect::<Vec<_>>()).unwrap();
    assert_as_anew(&router);
    router.apply(&[Change::Recovers(cut[0])]).unwrap();
    assert_as_anew(&router);
}

#[test]
fn a_switch_without_cables_dies() {
    let mut drawing = Drawing::new();
    let leaf = drawing.switch("leaf");
    drawing.nodes(leaf, 2);
    tower(&mut drawing, leaf, 3);
    let lone = drawing.switch("lone");
    fillers(&mut drawing, 6);
    let router = router(drawing.finish(), &RoutingOptions::default());
    dies_and_recovers(router, Part::Switch(SwitchIndex::new(lone)));
}

#[test]
fn a_core_dies() {
    let router = router(pgft("3; 2,2,3; 1,2,2; 1,2,1"), &RoutingOptions::default());
    dies_and_recovers(router, Part::Switch(SwitchIndex::new(15)));
}

/// With the only switch of the top rank the number of ranks changes, and so may the form of costs.
#[test]
fn the_top_rank_comes_and_goes() {
    for height in 3..10 {
        let mut drawing = Drawing::new();
        let [left, right] = drawing.switches(["left", "right"]);
        drawing.nodes(left, 2);
        drawing.nodes(right, 2);
        let (left, right) = (tower(&mut drawing, left, height), tower(&mut drawing, right, height));
        let top = drawing.switch("top");
        drawing.cable(left[height], top, 1);
        drawing.cable(right[height], top, 1);
        fillers(&mut drawing, 6);
        let router = router(drawing.finish(), &RoutingOptions::default());
        dies_and_recovers(router, Part::Switch(SwitchIndex::new(top)));
    }
}

/// A leaf loses a node, and a spine with a service node has as many.
#[test]
fn a_service_switch_becomes_a_leaf() {
    let mut drawing = Drawing::new();
    let leaf = drawing.switch("leaf");
    drawing.nodes(leaf, 2);
    let all = tower(&mut drawing, leaf, 8);
    drawing.nodes(all[1], 1);
    let fabric = drawing.finish();
    let part = Part::Cable(fabric.node_cable(fabric.nodes_of(SwitchIndex::new(leaf))[0]));
    dies_and_recovers(router(fabric, &RoutingOptions::default()), part);
}

/// An empty leaf is one only while some leaf is cabled to all its spines.
#[test]
fn a_fault_two_cables_away_from_an_empty_leaf() {
    let mut drawing = Drawing::new();
    let [leaf, empty, a, b] = drawing.switches(["leaf", "empty", "a", "b"]);
    drawing.nodes(leaf, 2);
    for s in [leaf, empty] {
        drawing.cable(s, a, 1);
        drawing.cable(s, b, 1);
    }
    fillers(&mut drawing, 8);
    let fabric = drawing.finish();
    let part = cable(&fabric, leaf, a);
    dies_and_recovers(router(fabric, &RoutingOptions::default()), part);
}

/// A leaf, a chain that is too long, and its shortcut; next to a star of several tiles.
#[test]
fn an_error_stays_until_it_is_repaired_and_the_next_delta_has_everything() {
    let mut drawing = Drawing::new();
    let hubs = drawing.switches(["hub", "other hub"]);
    for i in 0..100 {
        let leaf = drawing.switch(&format!("leaf{i:03}"));
        drawing.nodes(leaf, 2);
        hubs.iter().for_each(|&hub| drawing.cable(hub, leaf, 1));
    }
    let end = drawing.switch("end");
    drawing.nodes(end, 2);
    let chain = tower(&mut drawing, end, 300);
    for far in [151, 300] {
        drawing.cable(end, chain[far], 1);
    }
    let fabric = drawing.finish();
    let cut = [151, 300].map(|far| cable(&fabric, end, chain[far]));
    let options = RoutingOptions { switch_lids: false, ..RoutingOptions::default() };
    let mut router = router(fabric, &options);
    let mut copy = router.tables().clone();
    let hub = Part::Switch(SwitchIndex::new(hubs[1]));
    assert!(router.apply(&[cut[0], cut[1], hub].map(Change::Dies)).is_err(), "it is too long");
    assert!(router.apply(&[]).is_err(), "and still is");
    let delta = router.apply(&cut.map(Change::Recovers)).unwrap();
    assert_as_anew(&router);
    delta.copy(router.tables(), &mut copy);
    assert!(copy == *router.tables(), "the last good tables and the delta are the new tables");
}

/// A ring of switches that all count as leaves, so that directions follow the GUIDs: s001 is above s000, and so on.
/// The one node is on s000. From the last switch but one, the way down the ring has `switches - 2` hops; a way up and
/// down again over the last switch has two.
fn route_ring(switches: usize) -> Result<(Fabric, Routing, ForwardingTables), RouteError> {
    let mut drawing = Drawing::new();
    let first = drawing.switch("s000");
    for i in 1..switches {
        let next = drawing.switch(&format!("s{i:03}"));
        drawing.cable(i - 1, next, 1);
    }
    drawing.cable(switches - 1, first, 1);
    drawing.nodes(first, 1);
    let fabric = drawing.finish();
    let options = RoutingOptions {
        switches: SwitchOrder::Guid,
        leaves: LeafRule::AtLeast(0),
        switch_lids: false,
        ..RoutingOptions::default()
    };
    let case = Case::healthy(&fabric);
    let routing = Routing::new(case.whole(), &options);
    let (tables, _) = routing.route(case.whole(), &Dmodc)?;
    Ok((fabric.clone(), routing, tables))
}

/// A way down of 255 hops cannot be counted; it is an error even if there is a short way up.
#[test]
fn too_far_down_is_an_error() {
    for switches in [257, 258, 300] {
        assert!(matches!(route_ring(switches), Err(RouteError::TooFar(_))), "{switches}");
    }
}

/// The longest way down that can be counted is taken.
#[test]
fn the_longest_way_down_is_routed_as_by_the_oracle() {
    let (fabric, routing, tables) = route_ring(256).unwrap();
    let case = Case::healthy(&fabric);
    let ranking = routing.ranking(case.whole());
    let (leaves, columns) = (ranking.leaves(), routing.columns());
    let oracle = updown::digest(case.whole(), leaves, routing.orders(), columns);
    assert_eq!(tables.digest(), oracle);
}

/// Port 255 would be the mark of no route.
#[test]
fn port_255_is_never_cabled() {
    let mut builder = FabricBuilder::new();
    let [a, b] = [1, 2].map(|at| {
        let (guid, lid, product) = (Guid(at), Lid(at as u32), Product::default());
        builder.switch(Switch { guid, lid, ports: 255, name: "s".into(), product })
    });
    for port in 1..=255 {
        builder.cable((a, PortNumber(port)), (b, PortNumber(port)), Rate::NDR);
    }
    let (fabric, problems) = builder.finish_sound();
    assert_eq!(fabric.inter_switch_cables().len(), 254);
    assert!(!problems.is_empty());
}

/// The costs of a switch that lost all its cables do not change when it dies, but its own entries end: those of its nodes, and the one
/// for its LID. Its delta lists them.
#[test]
fn the_entries_of_a_switch_end_with_it() {
    for tuple in ["2; 3,100; 1,4; 1,1", "2; 3,40; 1,1; 1,1", "3; 2,5,6; 1,3,2; 1,1,1"] {
        let fabric = Arc::new(pgft(tuple));
        let none = Degradation::none(&fabric);
        let options = RoutingOptions { switch_lids: true, ..RoutingOptions::default() };
        let routing = Routing::new(Live::new(&fabric, &none), &options);
        let stable: Arc<dyn Engine> = Arc::new(Stable::new(&routing, Live::new(&fabric, &none)));
        for engine in [Arc::new(Dmodc), stable] {
            for victim in [SwitchIndex::new(0), SwitchIndex::new(fabric.switches().len() - 1)] {
                let (parts, none) = ((fabric.clone(), routing.clone()), none.clone());
                let mut router =
                    Router::with_engine(engine.clone(), parts.0, parts.1, none).unwrap();
                let cables = fabric.inter_switch_cables().iter().enumerate();
                let own = cables.filter(|(_, cable)| [cable.a.0, cable.b.0].contains(&victim));
                for (at, _) in own {
                    router.apply(&[Change::Dies(Part::Cable(CableIndex::new(at)))]).unwrap();
                }
                for change in [Change::Dies, Change::Recovers] {
                    let before = router.tables().clone();
                    let delta = router.apply(&[change(Part::Switch(victim))]).unwrap();
                    let (whole, _) = routing.route(router.live(), &*engine).unwrap();
                    let differing = router.tables().differing(&whole);
                    assert_eq!(differing, 0, "{tuple}, {}, switch {victim:?}", engine.name());
                    assert_eq!(delta.entry_count(), before.differing(&whole) as u64);
                }
            }
        }
    }
}
