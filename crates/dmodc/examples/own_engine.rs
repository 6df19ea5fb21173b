//! An own routing algorithm through the public trait: among the alternative ports of an entry, take the
//! one that the fewest destinations took so far (OpenSM's balancing, on Dmodc's closer sets).
//!
//! `cargo run --release -p dmodc --example own_engine`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use dmodc::judge::check;
use dmodc::{
    Amount, Coverage, Degradation, Dmodc, Draw, Engine, ForwardingTables, Live, Pgft,
    Preprocessing, RouteError, Routing, alternative_ports, validity,
};

/// The engine `least-used`.
#[derive(Debug)]
struct LeastUsed;

impl Engine for LeastUsed {
    fn name(&self) -> &'static str {
        "least-used"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        // Every entry has to be written: whatever stood in the tables before is not ours.
        tables.tiles_mut().into_iter().for_each(|(_, entries)| entries.fill(dmodc::NO_ROUTE));
        let mut used = vec![0u32; live.fabric.port_slots()];
        for (at, &target) in columns.switches().iter().enumerate() {
            let is_alive = |&c: &usize| columns.destinations()[c].end.is_alive(live);
            let alive: Vec<usize> = columns.of_switch(at).filter(is_alive).collect();
            // At the destination switch itself, each destination has its port.
            for &column in alive.iter().filter(|_| live.switch(target)) {
                tables.set(target, column, Some(columns.destinations()[column].port));
            }
            alternative_ports(live, ready, &[target], |s, _, ports| {
                let slot = |port| live.fabric.port_slot(s, port);
                for &column in &alive {
                    let least = ports.iter().copied().min_by_key(|&port| used[slot(port)]);
                    if let Some(port) = least {
                        used[slot(port)] += 1;
                    }
                    tables.set(s, column, least);
                }
            })?;
        }
        Ok(validity(live, ready, &columns)?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fabric = "3; 8,8,16; 1,8,8; 1,1,1".parse::<Pgft>()?.fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    // Orders come from the healthy fabric, so that a fault moves nothing that it does not have to.
    let routing = Routing::new(Live::new(&fabric, &healthy), &Default::default());
    let draw = Draw {
        cables: Amount::Percent(2.0),
        switches: Amount::Count(1),
        any_cable: false,
        any_switch: false,
        seed: 1,
    };
    let dead = draw.degradation(&fabric)?;
    let live = Live::new(&fabric, &dead);
    for engine in [&LeastUsed as &dyn Engine, &Dmodc] {
        let (before, _) = routing.route(Live::new(&fabric, &healthy), engine)?;
        let (tables, coverage) = routing.route(live, engine)?;
        let verdict = check(live, &routing.ranking(live), routing.orders(), &tables).nodes;
        let (name, valid, lost) =
            (engine.name(), coverage.is_valid(), verdict.pairs - verdict.delivered);
        let (free, moved) = (verdict.is_deadlock_free(), tables.differing(&before));
        println!(
            "{name:<10} valid: {valid}, {lost} pairs lost, deadlock-free: {free}, {moved} entries moved"
        );
    }
    Ok(())
}
