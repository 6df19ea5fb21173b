//! What C programs get is what the Rust library computes: first tables, deltas, plans, verdicts and alternatives, on random fabrics
//! under random faults and repairs.

use std::fmt::Write as _;
use std::sync::Arc;

use dmodc::fabric::{AdapterKind, CableEnds, Part};
use dmodc::judge::{Delivery, plan_upload};
use dmodc::{
    CableIndex, Change, Degradation, Engine, Fabric, ForwardingTables, GuidOrder, InferredWhole,
    Live, NO_ROUTE, Paper, Pgft, PortNumber, Random, Router, Routing, RoutingOptions, SwitchIndex,
    alternative_ports,
};

use crate::workshop::{Program, has};

const SHAPES: [&str; 6] = [
    "2; 4,6; 1,4; 1,1",
    "2; 3,5; 1,3; 1,2",
    "3; 2,2,3; 1,2,2; 1,2,1",
    "3; 3,4,4; 1,3,2; 1,1,2",
    "3; 2,3,4; 1,2,3; 1,1,1",
    "2; 2,70; 1,6; 1,1",
];

/// Returns the records of a fabric, as the program reads them.
fn records(fabric: &Fabric) -> String {
    let mut text = String::new();
    for switch in fabric.switches() {
        let (guid, lid, ports) = (switch.guid, switch.lid.0, switch.ports);
        writeln!(text, "S {guid} {lid} {ports} {}", switch.name).unwrap();
    }
    for adapter in fabric.adapters() {
        let kind = match adapter.kind {
            AdapterKind::Host => 0,
            AdapterKind::Aggregation => 1,
            AdapterKind::Router => 2,
            AdapterKind::Aside => 3,
        };
        writeln!(text, "A {} {kind} {} {}", adapter.guid, adapter.ports, adapter.name).unwrap();
    }
    for node in fabric.nodes() {
        let adapter = fabric.adapters()[node.adapter.at()].guid;
        let port = node.adapter_port;
        writeln!(text, "E {adapter} {port} {} {} {}", node.guid, node.lid.0, node.lmc).unwrap();
        let switch = fabric.switch(node.switch).guid;
        writeln!(text, "C {adapter} {port} {switch} {}", node.switch_port).unwrap();
    }
    for cable in fabric.inter_switch_cables() {
        let (a, b) = (fabric.switch(cable.a.0).guid, fabric.switch(cable.b.0).guid);
        writeln!(text, "C {a} {} {b} {}", cable.a.1, cable.b.1).unwrap();
    }
    text
}

/// A conversation with the program: what it is asked, and what it should answer.
struct Script {
    router: Router,
    random: Random,
    asked: String,
    expected: String,
}

fn byte(port: Option<PortNumber>) -> u8 {
    port.map_or(NO_ROUTE, |port| port.0)
}

impl Script {
    fn new(router: Router, asked: String, seed: u64) -> Script {
        let mut script =
            Script { router, random: Random::new(seed, 0), asked, expected: String::new() };
        script.expect_state();
        script
    }

    fn expect_state(&mut self) {
        let router = &self.router;
        let (coverage, nodes) = (router.coverage(), router.check().nodes);
        let Delivery { pairs, delivered, lost, cut_off } =
            Delivery::of_route(router.live(), &coverage);
        writeln!(
            self.expected,
            "state {} {pairs} {delivered} {lost} {cut_off} {} {} {} {}",
            router.tables().digest(),
            u8::from(coverage.is_valid()),
            nodes.loops,
            nodes.up_down_violations,
            u8::from(nodes.is_deadlock_free()),
        )
        .unwrap();
    }

    /// Lets some parts fail and some work again, in one call.
    fn change(&mut self) {
        let fabric = self.router.fabric().clone();
        let mut changes = vec![];
        for _ in 0..=self.random.below(4) {
            let part = match self.random.below(5) {
                0 => Part::Switch(SwitchIndex::new(
                    self.random.below(fabric.switches().len() as u64) as usize,
                )),
                _ => Part::Cable(CableIndex::new(
                    self.random.below(fabric.cable_count() as u64) as usize
                )),
            };
            let works = self.random.below(3) == 0;
            let (s, port) = match part {
                Part::Switch(s) => (s, 0),
                Part::Cable(c) => match fabric.cable(c) {
                    // A cable can be named by either end.
                    CableEnds::Switches(cable) if works => (cable.a.0, cable.a.1.0),
                    CableEnds::Switches(cable) => (cable.b.0, cable.b.1.0),
                    CableEnds::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port.0),
                },
            };
            writeln!(self.asked, "c {} {port} {}", fabric.switch(s).guid, u8::from(works)).unwrap();
            changes.push(if works { Change::Recovers(part) } else { Change::Dies(part) });
        }
        self.asked += "a\n";
        let before = self.router.tables().clone();
        self.router.apply(&changes).unwrap();
        self.expect_entries(&before);
        self.expect_plan(&before);
        self.expect_state();
    }

    /// Expects every entry that differs, which is found the slow way.
    fn expect_entries(&mut self, before: &ForwardingTables) {
        let (now, fabric) = (self.router.tables(), self.router.fabric());
        let (mut switches, mut entries, mut text) = (0, 0, String::new());
        for s in fabric.switch_indices() {
            let mut is_first = true;
            for column in now.columns().by_lid() {
                let (old, new) = (byte(before.port(s, column)), byte(now.port(s, column)));
                if old != new {
                    let lid = now.columns().destinations()[column].lid.0;
                    let guid = fabric.switch(s).guid.0;
                    writeln!(text, "entry {guid:#x} {lid} {old} {new}").unwrap();
                    entries += 1;
                    switches += usize::from(std::mem::take(&mut is_first));
                }
            }
        }
        writeln!(self.expected, "changed {switches} {entries}\n{}", text.trim_end()).unwrap();
        if text.is_empty() {
            self.expected.pop();
        }
    }

    fn expect_plan(&mut self, before: &ForwardingTables) {
        let (now, fabric) = (self.router.tables(), self.router.fabric());
        let plan = plan_upload(self.router.live(), before, now, 0).unwrap();
        for write in plan.writes() {
            let guid = fabric.switch(write.switch).guid.0;
            write!(self.expected, "write {} {guid:#x} {}", write.round, write.block).unwrap();
            for column in plan.columns(write) {
                let lid = now.columns().destinations()[column].lid.0;
                write!(self.expected, " {lid}:{}", byte(now.port(write.switch, column))).unwrap();
            }
            self.expected += "\n";
        }
    }

    fn alternatives(&mut self) {
        let fabric = self.router.fabric().clone();
        let destinations = self.router.tables().columns().destinations();
        let destination = destinations[self.random.below(destinations.len() as u64) as usize];
        let s = SwitchIndex::new(self.random.below(fabric.switches().len() as u64) as usize);
        if s == destination.switch || !destination.end.is_alive(self.router.live()) {
            return;
        }
        writeln!(self.asked, "l {} {}", fabric.switch(s).guid, destination.lid.0).unwrap();
        self.expected += "alternatives";
        let ready = self.router.preprocessing();
        alternative_ports(self.router.live(), ready, &[destination.switch], |at, _, ports| {
            for port in ports.iter().filter(|_| at == s) {
                write!(self.expected, " {port}").unwrap();
            }
        })
        .unwrap();
        self.expected += "\n";
    }

    /// Compares the answers, and returns how many there were.
    fn compare(self, program: &Program, what: &str) -> usize {
        let found = program.run_with(&self.asked);
        for (at, (found, expected)) in found.lines().zip(self.expected.lines()).enumerate() {
            assert_eq!(found, expected, "{what}: line {}", at + 1);
        }
        assert_eq!(found.lines().count(), self.expected.lines().count(), "{what}");
        found.lines().count()
    }

    /// Makes changes, asks for alternatives, and compares.
    fn play(mut self, program: &Program, what: &str) -> usize {
        for _ in 0..6 {
            self.change();
            for _ in 0..3 {
                self.alternatives();
            }
        }
        self.compare(program, what)
    }
}

fn whole(shape: &str, seed: u64) -> Fabric {
    shape.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(seed))
}

fn router(engine: Arc<dyn Engine>, fabric: Arc<Fabric>) -> Router {
    let none = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &none), &RoutingOptions::default());
    Router::with_engine(engine, fabric, routing, none).unwrap()
}

#[test]
fn results_are_those_of_the_library() {
    if !has("cc", "results_are_those_of_the_library") {
        return;
    }
    let program = Program::new("tests/c/driver.c");
    let mut answers = 0;
    for seed in 0..24 {
        let shape = SHAPES[seed as usize % SHAPES.len()];
        let fabric = Arc::new(whole(shape, seed));
        let asked = records(&fabric) + "F\n";
        let what = |engine: &str| format!("{shape}, seed {seed}, engine {engine}");
        let script =
            Script::new(Router::of(fabric.clone()).unwrap(), asked.clone() + "R 0 0\n", seed);
        answers += script.play(&program, &what("dmodc"));
        let paper = router(Arc::new(Paper), fabric.clone());
        answers += Script::new(paper, asked + "R 2 0\n", seed).play(&program, &what("paper"));
    }
    assert!(answers > 2000, "only {answers} answers");
}

/// Breaks a fabric at random.
fn broken(fabric: &Fabric, random: &mut Random) -> Fabric {
    let mut faults = Degradation::none(fabric);
    for _ in 0..3 {
        let cable = random.below(fabric.inter_switch_cables().len() as u64) as usize;
        faults.set_cable(CableIndex::new(cable), true);
    }
    fabric.without(&faults)
}

#[test]
fn a_reference_gives_the_routes_of_the_library() {
    if !has("cc", "a_reference_gives_the_routes_of_the_library") {
        return;
    }
    let program = Program::new("tests/c/driver.c");
    let mut inferred = 0;
    for seed in 100..112 {
        let shape = SHAPES[seed as usize % SHAPES.len()];
        let reference = whole(shape, seed);
        let present = Arc::new(broken(&reference, &mut Random::new(seed, 0)));
        let router = Router::by_reference(&reference, &present).unwrap();
        let asked = records(&reference) + "M\n" + &records(&present) + "F\nR 1 0\n";
        Script::new(router, asked, seed).play(&program, &format!("{shape}, seed {seed}"));
        // Without a reference it is inferred.
        let options = RoutingOptions::default();
        let Ok(whole) = InferredWhole::new(&present, &options.leaves) else { continue };
        let (routing, stable) = whole.stable(&options);
        let first = Live::new(&whole.fabric, &whole.missing);
        let (stable, _) = stable.relieved(&routing, first).unwrap();
        let missing = whole.missing.clone();
        let router =
            Router::with_engine(Arc::new(stable), Arc::new(whole.fabric), routing, missing)
                .unwrap();
        let asked = records(&present) + "F\nR 1 0\n";
        Script::new(router, asked, seed).play(&program, &format!("{shape}, seed {seed}, inferred"));
        inferred += 1;
    }
    assert!(inferred > 0);
}

/// Saved orders bring back the same tables.
#[test]
fn orders_last() {
    if !has("cc", "orders_last") {
        return;
    }
    let program = Program::new("tests/c/driver.c");
    for seed in 200..206 {
        let shape = SHAPES[seed as usize % SHAPES.len()];
        let fabric = Arc::new(whole(shape, seed));
        for lasting in [0, 1] {
            let asked = records(&fabric) + &format!("F\nR 0 {lasting}\n");
            let mut script = Script::new(Router::of(fabric.clone()).unwrap(), asked, seed);
            // On whole fabrics whose GUIDs follow the topology, both kinds of numbers are the same.
            script.change();
            script.asked += "o\n";
            script.expected += "again 0\n";
            script.compare(&program, &format!("{shape}, seed {seed}"));
        }
    }
}
