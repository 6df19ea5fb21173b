//! `dmodc demo`: everything in a minute, with no arguments and no files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use dmodc::fabric::Part;
use dmodc::judge::{Check, check};
use dmodc::{
    Amount, CableIndex, Change, Coverage, Degradation, Draw, Fabric, Live, Pgft, Preset, Random,
    Router, Routing, RoutingOptions, TableDelta,
};
use serde_json::{Value, json};

use crate::args::DemoArgs;
use crate::text::{counted, number, percent, time};
use crate::{Answer, output, verdict};

/// The fabric of the demo: the largest 3-level tree of 36-port switches.
const PRESET: &str = "rlft-36";

/// The times of a re-route and of its judgement, and their results.
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

/// The effect of one more dead cable.
struct OneMore {
    cable: CableIndex,
    delta: TableDelta,
    applying: Duration,
    /// Whether routing everything anew gives the same tables.
    exact: bool,
}

fn kill_one_more(router: &mut Router, seed: u64) -> Result<OneMore> {
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

/// Everything that the demo shows.
struct Demo {
    pgft: Pgft,
    fabric: Arc<Fabric>,
    building: Duration,
    ordering: Duration,
    healthy: Routed,
    faults: Degradation,
    degraded: Routed,
    entries: usize,
    entries_moved: usize,
    one_more: OneMore,
}

pub(super) fn run(args: &DemoArgs) -> Result<Answer> {
    let demo = Demo::run(args.seed)?;
    output::print(&if args.json { demo.json() } else { demo.text() })?;
    Ok(demo.is_well().into())
}

impl Demo {
    fn run(seed: u64) -> Result<Self> {
        let pgft = Preset::named(PRESET).expect("the preset is in the list");
        let pgft = pgft.pgft().expect("the preset is a PGFT");
        let start = Instant::now();
        let fabric = Arc::new(pgft.fabric(Default::default()));
        let building = start.elapsed();

        let no_faults = Degradation::none(&fabric);
        let start = Instant::now();
        let routing = Routing::new(Live::new(&fabric, &no_faults), &RoutingOptions::default());
        let ordering = start.elapsed();
        let mut router = Router::new(fabric.clone(), routing, no_faults.clone())?;
        let healthy = route_and_check(&mut router, &no_faults)?;
        let healthy_tables = router.tables().clone();

        let draw = Draw {
            cables: Amount::Percent(1.0),
            switches: Amount::Count(2),
            any_cable: false,
            any_switch: false,
            seed,
        };
        let faults = draw.degradation(&fabric)?;
        let degraded = route_and_check(&mut router, &faults)?;
        Ok(Demo {
            entries: router.tables().entry_count(),
            entries_moved: router.tables().differing(&healthy_tables),
            one_more: kill_one_more(&mut router, seed)?,
            pgft,
            fabric,
            building,
            ordering,
            healthy,
            faults,
            degraded,
        })
    }

    /// Returns whether all tables are sound and deliver every pair.
    fn is_well(&self) -> bool {
        let is_well = |routed: &Routed| {
            let nodes = &routed.check.nodes;
            nodes.is_sound() && nodes.delivery().is_complete()
        };
        is_well(&self.healthy) && is_well(&self.degraded) && self.one_more.exact
    }

    /// Returns the names of the dead switches.
    fn dead_switches(&self) -> Vec<&str> {
        self.faults.dead_switches().map(|s| &*self.fabric.switch(s).name).collect()
    }

    fn json(&self) -> String {
        let more = &self.one_more;
        let value = json!({
            "schema": "dmodc/demo/1",
            "pgft": self.pgft.to_string(),
            "nodes": self.fabric.nodes().len(),
            "switches": self.fabric.switches().len(),
            "build_ms": self.building.as_secs_f64() * 1e3,
            "healthy": self.healthy.json(),
            "degraded": self.degraded.json(),
            "dead_cables": self.faults.dead_cables().count(),
            "dead_switches": self.dead_switches(),
            "entries": self.entries,
            "entries_moved": self.entries_moved,
            "one_more_cable": {
                "apply_ms": more.applying.as_secs_f64() * 1e3,
                "entries": more.delta.entry_count(),
                "switches": more.delta.switches().len(),
                "exact": more.exact,
            },
        });
        format!("{value:#}\n")
    }

    fn text(&self) -> String {
        let Demo { pgft, fabric, one_more, .. } = self;
        let levels: Vec<String> = (1..=pgft.levels()).map(|l| number(pgft.count(l))).collect();
        let dead = self.dead_switches();
        format!(
            "dmodc routes fat-tree fabrics, also when parts of them have failed. This demo uses {}.

  A fabric      PGFT({pgft})
                {}, {} ({} by level), {} between switches
                built in {}, nodes and switches put into order in {}

  Healthy       all {} computed in {}
{}
  Faults        {} and {} fail: {}
  Re-routed     all {} computed anew in {}
{}                {} changed, {} of all

  One more      one more cable fails: {}
                {} in {} changed; only these were computed, in {}
                ({})

  All pairs of nodes were followed hop by hop.

  What next     # create the example of the paper
                dmodc generate pgft \"3; 2,2,3; 1,2,2; 1,2,1\" -o f.topo
                # remove two cables
                dmodc degrade f.topo --cables 2 --seed 7 -o g.topo
                # compute its forwarding tables, and check them
                dmodc route g.topo -o g.lft && dmodc check g.topo g.lft
                # describe it; this also works with the output of ibnetdiscover
                dmodc info g.topo
",
            counted(dmodc::parallel::threads(), "thread"),
            counted(fabric.nodes().len(), "node"),
            counted(fabric.switches().len(), "switch"),
            levels.join(" + "),
            counted(fabric.inter_switch_cables().len(), "cable"),
            time(self.building),
            time(self.ordering),
            counted(self.entries, "entry"),
            time(self.healthy.routing),
            self.healthy.text(),
            counted(self.faults.dead_cables().count(), "cable"),
            counted(dead.len(), "switch"),
            dead.join(", "),
            counted(self.entries, "entry"),
            time(self.degraded.routing),
            self.degraded.text(),
            counted(self.entries_moved, "entry"),
            percent(self.entries_moved, self.entries),
            cable(fabric, one_more.cable),
            counted(one_more.delta.entry_count(), "entry"),
            counted(one_more.delta.switches().len(), "switch"),
            time(one_more.applying),
            match one_more.exact {
                true => "computing everything anew gives the same tables",
                false => "COMPUTING EVERYTHING ANEW GIVES OTHER TABLES",
            },
        )
    }
}

impl Routed {
    fn json(&self) -> Value {
        let nodes = &self.check.nodes;
        let mut value = json!({
            "valid": self.coverage.is_valid(),
            "sound": nodes.is_sound(),
            "route_ms": self.routing.as_secs_f64() * 1e3,
            "check_ms": self.checking.as_secs_f64() * 1e3,
            "up_down_violations": nodes.up_down_violations,
            "deadlock_free": nodes.is_deadlock_free(),
        });
        verdict::set(&mut value, &nodes.delivery());
        value
    }

    /// Returns the judgement in two lines.
    fn text(&self) -> String {
        let nodes = &self.check.nodes;
        let valid = match self.coverage.unreachable_leaf_pairs {
            0 => "valid: every leaf reaches every other".into(),
            lost => {
                format!("INVALID: {} without an up*down* route", counted(lost, "leaf pair"))
            }
        };
        let turns = match nodes.up_down_violations {
            0 => "every route goes up, then down".into(),
            n => format!("{} up again after it went down", counted(n, "route")),
        };
        let deadlock = if nodes.is_deadlock_free() { "no deadlock" } else { "DEADLOCK possible" };
        format!(
            "                {valid}; {},\n                \
             {turns}, {deadlock} (checked in {})\n",
            nodes.delivery(),
            time(self.checking),
        )
    }
}

/// Returns a cable between switches: L1-0 – L2-3.
fn cable(fabric: &Fabric, c: CableIndex) -> String {
    let cable = &fabric.inter_switch_cables()[c.at()];
    [cable.a, cable.b].map(|(s, _)| &*fabric.switch(s).name).join(" – ")
}
