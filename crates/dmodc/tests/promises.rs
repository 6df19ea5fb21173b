//! What the tables of any fabric promise, against independent walks: who is reached, by which kind of route, and how
//! far.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::VecDeque;

use common::{
    Case, Drawing, for_seeds, judge, random_fabric, random_graph, random_guids, random_options,
    random_pgft, route, walk,
};
use dmodc::{Coverage, Dmodc, End, ForwardingTables, Live, RouteError, Routing, SwitchIndex};

/// Everything that the tables of an arbitrary fabric promise, walked independently: every pair with
/// an up\*down\* path is delivered, no other is, nothing turns or loops, nothing can deadlock.
fn assert_promises(live: Live<'_>, routing: &Routing, tables: &ForwardingTables) {
    let ready = routing.preprocess(live);
    let height =
        |s: SwitchIndex| (ready.ranking.rank(s).unwrap_or(u32::MAX), routing.orders().position(s));
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        for s in live.switches() {
            let reachable = d.end.is_alive(live) && up_down_path(live, s, d.switch, &height);
            let path = walk(live, tables, s, column);
            assert_eq!(path.is_some(), reachable, "{s:?} to {d:?}");
            let Some(path) = path else { continue };
            let mut way: Vec<SwitchIndex> = path.iter().map(|(s, _)| *s).collect();
            way.push(d.switch);
            let ups: Vec<bool> = way.windows(2).map(|w| height(w[1]) > height(w[0])).collect();
            assert!(ups.is_sorted_by(|a, b| a >= b), "up after down: {way:?}");
        }
    }
    let judged = judge(routing, live, tables);
    for scope in [&judged.nodes, &judged.everything] {
        assert_eq!((scope.loops, scope.up_down_violations), (0, 0));
        assert!(scope.is_deadlock_free());
    }
}

/// Whether some path climbs, then descends: a search over (switch, has turned).
fn up_down_path(
    live: Live<'_>,
    from: SwitchIndex,
    to: SwitchIndex,
    height: &impl Fn(SwitchIndex) -> (u32, u32),
) -> bool {
    let mut seen = vec![[false; 2]; live.fabric.switches().len()];
    let mut queue = VecDeque::from([(from, false)]);
    while let Some((s, turned)) = queue.pop_front() {
        if s == to {
            return true;
        }
        if std::mem::replace(&mut seen[s.at()][usize::from(turned)], true) {
            continue;
        }
        for (_, peer) in live.links(s) {
            let up = height(peer) > height(s);
            if !(up && turned) {
                queue.push_back((peer, turned || !up));
            }
        }
    }
    false
}

#[test]
fn promises_hold_on_degraded_pgfts() {
    for_seeds(120, |random| {
        let fabric = random_pgft(random, 100).fabric(random_guids(random));
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &random_options(random));
        let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
        assert_promises(live, &routing, &tables);
        let delivery = judge(&routing, live, &tables).nodes.delivery();
        assert_eq!(coverage.is_valid(), delivery.is_complete(), "valid means delivered");
    });
}

#[test]
fn promises_hold_on_any_connected_graph() {
    for_seeds(400, |random| {
        let fabric = random_graph(random);
        let case = Case::healthy(&fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        assert_promises(case.whole(), &routing, &route(&routing, case.whole()));
    });
}

/// Connecting roots fills switch-to-switch entries alone, loses nothing, and loops nowhere.
#[test]
fn connected_roots_reach_every_switch() {
    for_seeds(200, |random| {
        let fabric = random_fabric(random, 60);
        let case = match random.below(2) {
            0 => Case::healthy(&fabric),
            _ => Case::degraded(random, &fabric),
        };
        let live = case.now();
        let routing = Routing::new(live, &Default::default());
        let before = route(&routing, live);
        let mut tables = before.clone();
        let filled = dmodc::connect_roots(live, &routing.preprocess(live), &mut tables);
        assert_eq!(filled, tables.routed() - before.routed());
        assert_eq!(filled, tables.differing(&before));
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            for s in live.switches() {
                match d.end {
                    End::Node(_) => assert_eq!(tables.port(s, column), before.port(s, column)),
                    End::Switch(t) => {
                        let joined = live.switch(t) && up_down_path(live, s, t, &|_| (0, 0));
                        assert_eq!(walk(live, &tables, s, column).is_some(), joined);
                    }
                }
            }
        }
    });
}

/// Switches cabled one after the other, with a node on each of the named ones.
fn route_chain(length: usize, with_nodes: &[usize]) -> Result<Coverage, RouteError> {
    let mut d = Drawing::new();
    for at in 0..length {
        d.switch(&format!("s{at:03}"));
        if at > 0 {
            d.cable(at - 1, at, 1);
        }
    }
    for &s in with_nodes {
        d.nodes(s, 1);
    }
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    case.routing().route(case.whole(), &Dmodc).map(|(_, coverage)| coverage)
}

/// A chain of 130 switches above a leaf needs 129 hops; one of 260 needs more than a cost counts,
/// which is an error with a name, not a wrong route.
#[test]
fn routes_that_are_too_long_are_refused() {
    let chain = |length: usize| route_chain(length, &[0]).map(|_| ());
    assert_eq!(chain(130), Ok(()));
    assert_eq!(chain(255), Ok(()), "254 hops are the most");
    assert!(matches!(chain(256), Err(RouteError::TooFar(_))));
    assert!(matches!(chain(400), Err(RouteError::TooFar(_))));
    // Two chains that meet at the top: up `length` hops, down `length` hops.
    let peak = |length: usize| {
        route_chain(2 * length + 1, &[0, 2 * length]).map(|coverage| coverage.is_valid())
    };
    assert_eq!(peak(127), Ok(true));
    assert!(matches!(peak(128), Err(RouteError::TooFar(_))));
}
