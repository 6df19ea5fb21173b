//! `dmodc demo`: everything in a minute, with no arguments and no files.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use dmodc::fabric::Part;
use dmodc::judge::{Check, check};
use dmodc::{
    Amount, CableIndex, Change, Coverage, Degradation, Draw, Fabric, Live, Preset, Random, Router,
    Routing, RoutingOptions, TableDelta,
};
use serde_json::json;

use crate::args::DemoArgs;
use crate::text::{counted, number, percent, time};
use crate::{Answer, output, verdict};

/// The fabric of the demo: the largest 3-level tree of 36-port switches.
const PRESET: &str = "rlft-36";

/// What a re-routing took, and the judgement on it.
struct Routed {
    coverage: Coverage,
    routing: Duration,
    check: Check,
    checking: Duration,
}

fn route_and_check(router: &mut Router, degradation: &Degradation) -> Result<Routed> {
    let start = Instant::now();
    router.reroute(degradation)?;
    let routing = start.elapsed();
    let start = Instant::now();
    let ready = router.preprocessing();
    let check = check(router.live(), &ready.ranking, &ready.orders, router.tables());
    let checking = start.elapsed();
    Ok(Routed { coverage: router.coverage(), routing, check, checking })
}

/// What one more dead cable changes.
struct OneMore {
    cable: CableIndex,
    delta: TableDelta,
    applying: Duration,
    /// Whether routing everything anew gives the same tables.
    exact: bool,
}

fn one_more(router: &mut Router, seed: u64) -> Result<OneMore> {
    let alive: Vec<CableIndex> = (0..router.fabric().inter_switch_cables().len())
        .map(CableIndex::new)
        .filter(|&c| !router.degradation().cable_is_dead(c))
        .collect();
    let cable = alive[Random::new(seed, 1).below(alive.len() as u64) as usize];
    let start = Instant::now();
    let delta = router.apply(&[Change::Dies(Part::Cable(cable))])?;
    let applying = start.elapsed();
    let digest = router.tables().digest();
    router.reroute(&router.degradation().clone())?;
    Ok(OneMore { cable, delta, applying, exact: router.tables().digest() == digest })
}

pub(super) fn run(args: &DemoArgs) -> Result<Answer> {
    let pgft = Preset::named(PRESET).expect("the preset is in the list").pgft();
    let start = Instant::now();
    let fabric = Arc::new(pgft.fabric(Default::default()));
    let building = start.elapsed();

    let healthy = Degradation::none(&fabric);
    let start = Instant::now();
    let routing = Routing::new(Live::new(&fabric, &healthy), &RoutingOptions::default());
    let ordering = start.elapsed();
    let mut router = Router::new(fabric.clone(), routing, healthy.clone())?;
    let before = route_and_check(&mut router, &healthy)?;
    let tables_before = router.tables().clone();

    let draw = Draw {
        cables: Amount::Percent(1.0),
        switches: Amount::Count(2),
        any_cable: false,
        any_switch: false,
        seed: args.seed,
    };
    let degraded = draw.degradation(&fabric)?;
    let after = route_and_check(&mut router, &degraded)?;
    let entries = router.tables().entry_count();
    let moved = router.tables().differing(&tables_before);
    let more = one_more(&mut router, args.seed)?;
    let sound = before.check.nodes.is_sound() && after.check.nodes.is_sound() && more.exact;
    let complete = |r: &Routed| r.check.nodes.delivery().is_complete();
    let all_is_well = sound && complete(&before) && complete(&after);
    let cables = degraded.dead_cables().count();
    let dead: Vec<&str> = degraded.dead_switches().map(|s| &*fabric.switch(s).name).collect();
    if args.json {
        let stage = |r: &Routed| {
            let mut stage = json!({
                "valid": r.coverage.is_valid(),
                "sound": r.check.nodes.is_sound(),
                "route_ms": r.routing.as_secs_f64() * 1e3,
                "check_ms": r.checking.as_secs_f64() * 1e3,
                "up_down_violations": r.check.nodes.up_down_violations,
                "deadlock_free": r.check.nodes.is_deadlock_free(),
            });
            verdict::set(&mut stage, &r.check.nodes.delivery());
            stage
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
            "one_more_cable": {
                "apply_ms": more.applying.as_secs_f64() * 1e3,
                "entries": more.delta.entry_count(),
                "switches": more.delta.switches().len(),
                "exact": more.exact,
            },
        });
        output::print(&format!("{value:#}\n"))?;
        return Ok(all_is_well.into());
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

  One more      a cable dies: {}
                {} entries of {} moved, nothing else was computed: {}
                ({})

  Every pair of nodes was followed hop by hop; nothing here is sampled.

  What next     dmodc generate pgft \"3; 2,2,3; 1,2,2; 1,2,1\" -o f.topo     the paper's own example
                dmodc degrade f.topo --cables 2 --seed 7 -o g.topo      break it
                dmodc route g.topo -o g.lft && dmodc check g.topo g.lft   route it, judge it
                dmodc info g.topo                                       or any ibnetdiscover file
",
        counted(dmodc::parallel::threads(), "thread"),
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
        cable(&fabric, more.cable),
        number(more.delta.entry_count()),
        counted(more.delta.switches().len(), "switch"),
        time(more.applying),
        match more.exact {
            true => "routing everything anew gives the same tables",
            false => "ROUTING EVERYTHING ANEW GIVES OTHER TABLES",
        },
    );
    output::print(&text)?;
    Ok(all_is_well.into())
}

/// A cable between switches: L1-0 – L2-3.
fn cable(fabric: &Fabric, c: CableIndex) -> String {
    let cable = &fabric.inter_switch_cables()[c.at()];
    [cable.a, cable.b].map(|(s, _)| &*fabric.switch(s).name).join(" – ")
}

/// What the judge says, in two lines.
fn judged(r: &Routed) -> String {
    let nodes = &r.check.nodes;
    let valid = match r.coverage.unreachable_leaf_pairs {
        0 => "valid: every leaf reaches every other".into(),
        lost => format!("INVALID: {} leaf pairs have no up*down* route", number(lost)),
    };
    let turns = match nodes.up_down_violations {
        0 => "every route goes up, then down".into(),
        n => format!("{} routes turn up again", number(n)),
    };
    let deadlock = if nodes.is_deadlock_free() { "no deadlock" } else { "DEADLOCK possible" };
    format!(
        "                {valid}; {},\n                \
         {turns}, {deadlock} (checked in {})\n",
        nodes.delivery(),
        time(r.checking),
    )
}
