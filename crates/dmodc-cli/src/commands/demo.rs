//! `dmodc demo`: everything in a minute, with no arguments and no files.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use dmodc::judge::{Check, check};
use dmodc::{
    Amount, Coverage, Degradation, Dmodc, Draw, Engine, ForwardingTables, Live, Preset, Routing,
    RoutingOptions,
};
use serde_json::json;

use crate::args::DemoArgs;
use crate::text::{counted, number, percent, time};
use crate::{Answer, output};

/// The fabric of the demo: the largest 3-level tree of 36-port switches.
const PRESET: &str = "rlft-36";

/// A routing and the judgement on it.
struct Routed {
    tables: ForwardingTables,
    coverage: Coverage,
    routing: Duration,
    check: Check,
    checking: Duration,
}

fn route_and_check(routing: &Routing, live: Live<'_>) -> Result<Routed> {
    let mut tables = routing.empty_tables(live)?;
    let start = Instant::now();
    let coverage = Dmodc.route(live, &routing.preprocess(live), &mut tables)?;
    let routing_time = start.elapsed();
    let start = Instant::now();
    let check = check(live, &routing.ranking(live), routing.orders(), &tables);
    Ok(Routed { tables, coverage, routing: routing_time, check, checking: start.elapsed() })
}

pub(super) fn run(args: &DemoArgs) -> Result<Answer> {
    let pgft = Preset::named(PRESET).expect("the preset is in the list").pgft();
    let start = Instant::now();
    let fabric = pgft.fabric(Default::default());
    let building = start.elapsed();

    let healthy = Degradation::none(&fabric);
    let start = Instant::now();
    let routing = Routing::new(Live::new(&fabric, &healthy), &RoutingOptions::default());
    let ordering = start.elapsed();
    let before = route_and_check(&routing, Live::new(&fabric, &healthy))?;

    let draw = Draw {
        cables: Amount::Percent(1.0),
        switches: Amount::Count(2),
        any_cable: false,
        any_switch: false,
        seed: args.seed,
    };
    let degraded = draw.degradation(&fabric)?;
    let after = route_and_check(&routing, Live::new(&fabric, &degraded))?;
    let moved = after.tables.differing(&before.tables);
    let sound =
        before.check.nodes.is_sound() && after.check.nodes.is_sound() == after.coverage.is_valid();

    let entries = after.tables.entry_count();
    let cables = degraded.dead_cables().count();
    let dead: Vec<&str> = degraded.dead_switches().map(|s| &*fabric.switch(s).name).collect();
    if args.json {
        let stage = |r: &Routed| {
            json!({
                "valid": r.coverage.is_valid(),
                "route_ms": r.routing.as_secs_f64() * 1e3,
                "check_ms": r.checking.as_secs_f64() * 1e3,
                "pairs": r.check.nodes.pairs,
                "delivered": r.check.nodes.delivered,
                "up_down_violations": r.check.nodes.up_down_violations,
                "deadlock_free": r.check.nodes.is_deadlock_free(),
            })
        };
        let value = json!({
            "schema": "dmodc/demo/1",
            "pgft": pgft.to_string(),
            "nodes": fabric.nodes().len(),
            "switches": fabric.switches().len(),
            "build_ms": building.as_secs_f64() * 1e3,
            "healthy": stage(&before),
            "degraded": stage(&after),
            "dead_cables": cables,
            "dead_switches": dead,
            "entries": entries,
            "entries_moved": moved,
        });
        output::print(&format!("{value:#}\n"))?;
        return Ok(sound.into());
    }

    let levels: Vec<String> = (1..=pgft.levels()).map(|l| number(pgft.count(l))).collect();
    let mut text = String::new();
    let _ = write!(
        text,
        "Dmodc: fault-resilient routing of fat-trees, on {}.

  A fabric      PGFT({pgft})
                {}, {} ({} by level), {} between switches
                built in {}, put in order in {}

  Healthy       {} entries computed in {}
{}
  Faults        {} and {} die: {}
  Re-routed     all {} entries computed anew in {}
{}                {} entries moved, {} of all

  Every pair of nodes was followed hop by hop; nothing here is sampled.

  What next     dmodc generate pgft \"3; 2,2,3; 1,2,2; 1,2,1\" -o f.topo     the paper's own example
                dmodc degrade f.topo --cables 2 --seed 7 -o g.topo      break it
                dmodc route g.topo -o g.lft && dmodc check g.topo g.lft   route it, judge it
                dmodc info g.topo                                       or any ibnetdiscover file
",
        counted(rayon::current_num_threads(), "thread"),
        counted(fabric.nodes().len(), "node"),
        counted(fabric.switches().len(), "switch"),
        levels.join(" + "),
        counted(fabric.inter_switch_cables().len(), "cable"),
        time(building),
        time(ordering),
        number(entries),
        time(before.routing),
        judged(&before),
        counted(cables, "cable"),
        counted(dead.len(), "switch"),
        dead.join(", "),
        number(entries),
        time(after.routing),
        judged(&after),
        number(moved),
        percent(moved, entries),
    );
    output::print(&text)?;
    Ok(sound.into())
}

/// What the judge says, in two lines.
fn judged(r: &Routed) -> String {
    let nodes = &r.check.nodes;
    let valid = match r.coverage.unreachable_leaf_pairs {
        0 => "valid: every leaf reaches every other".into(),
        lost => format!("invalid: {} leaf pairs are cut off", number(lost)),
    };
    let turns = match nodes.up_down_violations {
        0 => "every route goes up, then down".into(),
        n => format!("{} routes turn up again", number(n)),
    };
    let deadlock = if nodes.is_deadlock_free() { "no deadlock" } else { "DEADLOCK possible" };
    format!(
        "                {valid}; {} of {} node pairs delivered,\n                \
         {turns}, {deadlock} (checked in {})\n",
        number(nodes.delivered),
        number(nodes.pairs),
        time(r.checking),
    )
}
