//! Complete re-routing against the physical limit: `cargo bench --bench reroute -- [PRESET…]`.
//!
//! For each preset, healthy and degraded: the median time of computing all tables anew into the same
//! buffer, the time that writing the same bytes takes (`memset` with the same threads, in the same
//! run), and their ratio. Every result is checked: healthy tables entry by entry against Dmodk,
//! degraded ones against the naive reference for a sample of destination switches.

#![allow(clippy::print_stdout, reason = "its report is its purpose")]

use std::time::{Duration, Instant};

use dmodc::reference::updown;
use dmodc::{
    Amount, Columns, Degradation, Dmodc, Dmodk, Draw, Engine, ForwardingTables, Live, Preset,
    Random, Routing, RoutingOptions,
};
use rayon::prelude::*;

const ROUNDS: usize = 9;

fn main() {
    let mut presets: Vec<String> =
        std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if presets.is_empty() {
        presets = vec!["rlft-36".into(), "quantum2-max".into()];
    }
    println!("{} threads, median of {ROUNDS}, node columns", rayon::current_num_threads());
    println!(
        "{:<15} {:>7} {:>6} {:>11} {:>11} {:>7}  checked against",
        "preset", "cables", "sw.", "re-route", "memset", "ratio"
    );
    for name in presets {
        let preset = Preset::named(&name).unwrap_or_else(|| panic!("there is no preset '{name}'"));
        for (cables, switches) in [(0.0, 0.0), (1.0, 0.0), (10.0, 1.0)] {
            measure(preset, cables, switches);
        }
    }
}

fn measure(preset: &Preset, cables: f64, switches: f64) {
    let fabric = preset.pgft().fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    let options = RoutingOptions { switch_lids: false, ..RoutingOptions::default() };
    let routing = Routing::new(Live::new(&fabric, &healthy), &options);
    let draw = Draw {
        cables: Amount::Percent(cables),
        switches: Amount::Percent(switches),
        any_cable: false,
        any_switch: false,
        seed: 1,
    };
    let degraded = draw.degradation(&fabric).expect("a percentage can be drawn");
    let live = Live::new(&fabric, &degraded);
    let mut tables = routing.empty_tables(live).expect("the tables fit");
    let mut limit = vec![0u8; tables.entry_count()];
    let chunk = limit.len().div_ceil(rayon::current_num_threads());
    let memset = median(|| limit.par_chunks_mut(chunk).for_each(|part| part.fill(7)));
    let reroute = median(|| {
        let ready = routing.preprocess(live);
        Dmodc.route(live, &ready, &mut tables).expect("a PGFT is routed");
    });
    let checked = match cables + switches == 0.0 {
        true => against_dmodk(&routing, live, &tables),
        false => against_reference(&routing, live, &tables),
    };
    println!(
        "{:<15} {:>6}% {:>5}% {:>8.1} ms {:>8.1} ms {:>7.2}  {checked}",
        preset.name,
        cables,
        switches,
        reroute.as_secs_f64() * 1e3,
        memset.as_secs_f64() * 1e3,
        reroute.as_secs_f64() / memset.as_secs_f64(),
    );
}

fn median(mut run: impl FnMut()) -> Duration {
    // The first one touches the memory.
    run();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn against_dmodk(routing: &Routing, live: Live<'_>, tables: &ForwardingTables) -> String {
    let mut other = routing.empty_tables(live).expect("the tables fit");
    Dmodk.route(live, &routing.preprocess(live), &mut other).expect("a healthy PGFT is one");
    assert!(*tables == other, "Dmodc and Dmodk differ");
    "Dmodk, every entry".into()
}

fn against_reference(routing: &Routing, live: Live<'_>, tables: &ForwardingTables) -> String {
    let columns = tables.columns();
    let mut sample =
        Random::new(1, 7).sample(columns.switches().len(), columns.switches().len().min(12));
    sample.sort_unstable();
    let chosen: Vec<usize> = sample.iter().flat_map(|&i| columns.of_switch(i)).collect();
    let destinations = chosen.iter().map(|&c| columns.destinations()[c]).collect();
    let rows = updown::tables(
        live,
        routing.ranking(live).leaves(),
        routing.orders(),
        &Columns::of(destinations),
    );
    for s in live.fabric.switch_indices() {
        for (at, &column) in chosen.iter().enumerate() {
            let port = tables.port(s, column).map_or(255, |p| p.0);
            assert_eq!(port, rows[s.at()][at], "the reference differs");
        }
    }
    format!("reference, {} of {} columns", chosen.len(), columns.len())
}
