//! A routing algorithm of your own, in a study next to ours: among the alternative ports of an entry, `least-used` takes the
//! one that the fewest destinations took so far (OpenSM's way of balancing, on Dmodc's closer sets).
//!
//! `cargo run --release --example own_engine`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use dmodc::fabric::Shape;
use dmodc::{
    Amount, Coverage, Engine, ForwardingTables, Live, Preprocessing, RouteError, alternative_ports,
    validity,
};
use dmodc_study::engine::{EngineName, OwnEngine};
use dmodc_study::study::{
    FabricSource, FaultAmount, FaultLevel, PlannedEngine, PlannedFabric, Study, StudyPlan, StudyRow,
};

/// The engine `least-used`.
#[derive(Debug)]
struct LeastUsed;

impl Engine for LeastUsed {
    fn name(&self) -> &str {
        "least-used"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        // Every entry has to be written, because the tables may hold older ones.
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
    let engines = [
        EngineName::Own(OwnEngine(Arc::new(LeastUsed))),
        EngineName::Dmodc,
        EngineName::Stable,
        EngineName::Random,
    ];
    let percent = |percent| FaultAmount(Amount::Percent(percent));
    let level = |cables| FaultLevel { cables: percent(cables), switches: percent(0.0) };
    let plan = StudyPlan {
        name: "own engine".into(),
        seed: 1,
        trials: 5,
        engines: engines.map(|name| PlannedEngine { name, trials: None, nodes: None }).into(),
        rates: false,
        patterns: vec!["a2a".parse()?, "sp".parse()?],
        fabrics: vec![PlannedFabric {
            name: "256 nodes".into(),
            source: FabricSource::Shape(Shape::Pgft("3; 8,4,8; 1,4,8; 1,2,1".parse()?)),
        }],
        levels: vec![level(0.0), level(2.0)],
    };
    let study = Study::new(plan, Path::new("this example"))?;
    // No engine of OpenSM takes part, so there is no plugin.
    let rows = study.measure(Path::new(""));
    println!("engine      dead cables  pattern  worst port, mean  pairs lost  entries moved");
    let key = |row: &StudyRow| ["engine", "cables_asked", "pattern"].map(|c| row.get(c).to_owned());
    let keys: BTreeSet<[String; 3]> = rows.iter().map(key).collect();
    for [engine, dead, pattern] in &keys {
        let of = |row: &&StudyRow| key(row) == [engine.clone(), dead.clone(), pattern.clone()];
        let these: Vec<&StudyRow> = rows.iter().filter(of).collect();
        let mean = |column: &str| {
            let values = these.iter().filter_map(|row| row.number(column));
            values.sum::<f64>() / these.len() as f64
        };
        // All-to-all is one pattern, of which the worst port counts; shifts are many, each with its own worst port.
        let risk = mean(if pattern == "a2a" { "max" } else { "mean" });
        let (lost, moved) = (mean("lost"), mean("entries_moved"));
        println!("{engine:<11} {dead:>11}  {pattern:>7}  {risk:>16.2}  {lost:>10}  {moved:>13.0}");
    }
    Ok(())
}
