//! SimGrid as a witness of fair rates: `dmodc convert --format simgrid` writes platforms, SimGrid sends messages over them,
//! and its rates and times are ours.
//!
//! SimGrid has its own solver, and platforms get their routes hop by hop, not from the code that computes rates. Where SimGrid
//! is not installed the tests are skipped, and say so; `scripts/test` installs it. With `-- --nocapture`, the test prints
//! how far rates are apart on each fabric.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../desk/mod.rs"]
mod desk;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use desk::{Desk, skip, text};
use dmodc::fabric::Rate;
use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::Traffic;
use dmodc::{Degradation, Fabric, Live, Random, Routing};
use dmodc_formats::lft::{self, Lft};

/// How far rates and times may be apart, relative to their size.
const CLOSE: f64 = 1e-6;

/// The length of each message: a second at 400 Gb/s.
const BYTES: f64 = 50e9;

/// Returns the program that runs flows in SimGrid, compiled once; none if SimGrid or a compiler is not installed.
fn flows_program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| {
        if !Path::new("/usr/include/simgrid/s4u.hpp").exists() {
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simgrid/flows.cpp");
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("simgrid-flows");
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-Wall", "-Wextra", "-O1", "-o"]).arg(&program).arg(source);
        let output = compiler.arg("-lsimgrid").output().ok()?;
        assert!(output.status.success(), "{}", text(&output.stderr));
        Some(program)
    });
    if program.is_none() {
        skip(
            "SimGrid or a C++ compiler is not installed; on Debian: apt-get install g++ libsimgrid-dev",
        );
    }
    program.as_deref()
}

/// A flow as SimGrid saw it.
struct Witnessed {
    /// Bytes per second at the start.
    rate: f64,
    /// Seconds.
    arrival: f64,
}

/// Lets SimGrid send a message from the first to the second host of each line, all at once.
fn simulate(desk: &Desk, program: &Path, platform: &str, flows: &str) -> Vec<Witnessed> {
    desk.write("flows", flows);
    let mut simulation = Command::new(program);
    simulation.args([platform, "flows", &format!("{BYTES}"), "--log=root.threshold:error"]);
    let output = simulation.current_dir(desk.folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        Witnessed { rate: words[2].parse().unwrap(), arrival: words[3].parse().unwrap() }
    };
    text(&output.stdout).lines().map(of_line).collect()
}

/// A fabric to compare on.
struct Case {
    /// The arguments of `dmodc generate`.
    generate: &'static [&'static str],
    /// The arguments of `dmodc degrade`; none if the fabric is whole.
    degrade: &'static [&'static str],
    /// Whether the tables are those of the whole fabric, so that some pairs are lost.
    stale: bool,
    /// Cables have these rates, at random; none if all are equal.
    speeds: &'static [&'static str],
}

const WHOLE: Case = Case { generate: &[], degrade: &[], stale: false, speeds: &[] };
const MIXED: &[&str] = &["4xNDR", "4xNDR", "4xHDR", "2xHDR", "4xFDR", "4xXDR", "4x???"];

const CASES: [Case; 24] = [
    Case { generate: &["pgft", "1; 8; 1; 1"], ..WHOLE },
    Case { generate: &["pgft", "2; 4,8; 1,4; 1,1"], ..WHOLE },
    Case { generate: &["pgft", "2; 4,4; 1,2; 1,2"], ..WHOLE },
    Case { generate: &["pgft", "2; 8,6; 1,2; 1,1"], ..WHOLE },
    Case { generate: &["preset", "paper-figure-1"], ..WHOLE },
    Case { generate: &["preset", "paper-figure-1"], degrade: &["--cables", "4"], ..WHOLE },
    Case {
        generate: &["preset", "paper-figure-1"],
        degrade: &["--cables", "6"],
        stale: true,
        speeds: &[],
    },
    Case { generate: &["preset", "paper-figure-1"], speeds: MIXED, ..WHOLE },
    Case { generate: &["preset", "paper-figure-1"], speeds: &["4x???"], ..WHOLE },
    Case { generate: &["pgft", "3; 4,4,4; 1,4,4; 1,1,1"], ..WHOLE },
    Case {
        generate: &["pgft", "3; 4,4,4; 1,4,4; 1,1,1"],
        degrade: &["--cables", "10%", "--switches", "3"],
        ..WHOLE
    },
    Case {
        generate: &["pgft", "3; 4,4,4; 1,2,2; 1,1,2"],
        degrade: &["--cables", "20%"],
        speeds: MIXED,
        ..WHOLE
    },
    Case { generate: &["pgft", "3; 4,4,8; 1,4,4; 1,1,1"], ..WHOLE },
    Case {
        generate: &["pgft", "3; 4,4,8; 1,4,4; 1,1,1"],
        degrade: &["--switches", "6"],
        stale: true,
        speeds: MIXED,
    },
    Case { generate: &["pgft", "3; 8,4,8; 1,2,4; 1,2,1", "--guids", "shuffled"], ..WHOLE },
    Case {
        generate: &["pgft", "3; 8,4,8; 1,4,4; 1,1,1"],
        degrade: &["--cables", "5%"],
        speeds: MIXED,
        ..WHOLE
    },
    Case { generate: &["pgft", "4; 2,3,2,4; 1,2,2,2; 1,1,2,1"], ..WHOLE },
    Case {
        generate: &["pgft", "4; 2,3,2,4; 1,2,2,2; 1,1,2,1"],
        degrade: &["--cables", "15%"],
        ..WHOLE
    },
    Case { generate: &["directors"], ..WHOLE },
    Case { generate: &["directors"], degrade: &["--cables", "5%", "--switches", "2"], ..WHOLE },
    Case { generate: &["directors", "--spread", "strided"], speeds: MIXED, ..WHOLE },
    Case { generate: &["directors", "--departures", "missing=2%,uneven=25%,service=4"], ..WHOLE },
    Case { generate: &["preset", "four-levels"], ..WHOLE },
    Case {
        generate: &["preset", "four-levels"],
        degrade: &["--cables", "3%", "--switches", "3"],
        speeds: MIXED,
        ..WHOLE
    },
];

impl Case {
    /// Writes the fabric to `g.json` and its tables to `g.lft`.
    fn prepare(&self, desk: &Desk, seed: u64) -> Fabric {
        desk.ok(&[&["generate"], self.generate, &["-o", "f.topo"]].concat());
        desk.ok(&["route", "f.topo", "-o", "g.lft"]);
        let seed_text = seed.to_string();
        desk.ok(
            &[&["degrade", "f.topo", "--seed", &seed_text, "-o", "g.topo"], self.degrade].concat()
        );
        if !self.stale {
            desk.run(&["route", "g.topo", "-o", "g.lft"]);
        }
        desk.ok(&["convert", "g.topo", "--format", "json", "-o", "g.json"]);
        if !self.speeds.is_empty() {
            let mut random = Random::new(seed, 7);
            let mut rate = || self.speeds[random.below(self.speeds.len() as u64) as usize];
            let json = desk.read("g.json");
            let parts: Vec<&str> = json.split("4xNDR").collect();
            let mut changed = parts[0].to_owned();
            for part in &parts[1..] {
                changed += rate();
                changed += part;
            }
            desk.write("g.json", &changed);
        }
        dmodc_formats::read(desk.read("g.json").as_bytes()).unwrap().fabric
    }
}

/// Lists of flows as pairs of positions, by name.
fn patterns(traffic: &Traffic<'_>, seed: u64) -> Vec<(&'static str, Vec<(u32, u32)>)> {
    let count = traffic.nodes().len() as u32;
    let of = |to: Vec<u32>| -> Vec<(u32, u32)> { (0..).zip(to).collect() };
    let mut random = Random::new(seed, 8);
    let mut any = || random.below(u64::from(count)) as u32;
    let target = any();
    vec![
        ("permutation", of(traffic.permutation(seed, 0))),
        ("permutation", of(traffic.permutation(seed, 1))),
        ("bisection", of(traffic.bisection(seed, 0))),
        ("ring", of(traffic.shift(1))),
        ("shift", of(traffic.shift(count as usize / 2))),
        ("all-to-one", (0..count).map(|from| (from, target)).collect()),
        // Some nodes send and receive several times, also twice over the same route.
        ("any pairs", (0..2 * count).map(|_| (any(), any())).collect()),
    ]
}

/// What was compared.
#[derive(Default)]
struct Compared {
    flows: usize,
    undelivered: usize,
    /// The greatest difference of a rate or of a time, relative to its size.
    worst: f64,
    /// The number of different rates that a pattern has at most.
    rates: usize,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { flows, undelivered, worst, rates } = self;
        write!(
            f,
            "{flows} flows, {undelivered} lost pairs, up to {rates} rates, at most {worst:.1e} apart"
        )
    }
}

/// Compares all patterns on a fabric.
fn compare(desk: &Desk, program: &Path, fabric: &Fabric, seed: u64) -> Compared {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let dump = lft::read(desk.read("g.lft").as_bytes(), fabric).unwrap();
    let tables = &Lft::tables(&[&dump], fabric).unwrap()[0];
    let routing = Routing::new(live, &Default::default());
    let traffic = Traffic::new(live, &routing.preprocess(live).ranking, routing.orders(), tables);
    let fair = FairRates::new(fabric, &traffic);
    // A second at full speed, and bytes per second; links without a known speed have a gigabit per second.
    let unit = fair.speeds().unit().map_or(1.0, |unit: Rate| unit.gigabits().unwrap()) * 1e9 / 8.0;
    let line = |(from, to): (u32, u32)| {
        let [a, b] = [from, to].map(|at| fabric.node(traffic.nodes()[at as usize]).guid);
        format!("{a} {b}\n")
    };
    let patterns = patterns(&traffic, seed);
    let all: BTreeSet<String> =
        patterns.iter().flat_map(|(_, pairs)| pairs.iter().map(|&pair| line(pair))).collect();
    desk.write("pairs", &all.iter().map(String::as_str).collect::<String>());
    let convert = ["convert", "g.json", "g.lft", "--format", "simgrid", "--pairs", "pairs"];
    let summary = desk.json(0, &[&convert[..], &["-o", "p.xml", "--json"]].concat());
    let mut compared = Compared::default();
    let mut lost = BTreeSet::new();
    for (name, pairs) in patterns {
        let ours = fair.step(&pairs).rates;
        let arrive: Vec<(u32, u32)> =
            pairs.iter().zip(&ours).filter(|(_, rate)| rate.is_some()).map(|(&p, _)| p).collect();
        let is_lost =
            |&(&(from, to), rate): &(&(u32, u32), &Option<f64>)| rate.is_none() && from != to;
        lost.extend(pairs.iter().zip(&ours).filter(is_lost).map(|(&pair, _)| pair));
        let lines: String = arrive.iter().map(|&pair| line(pair)).collect();
        let found = simulate(desk, program, "p.xml", &lines);
        assert_eq!(found.len(), arrive.len());
        let mut different = BTreeSet::new();
        for ((pair, ours), found) in arrive.iter().zip(ours.iter().flatten()).zip(&found) {
            let (rate, time) = (found.rate / unit, found.arrival * unit / BYTES);
            let apart = (rate / ours - 1.0).abs().max((time * ours - 1.0).abs());
            assert!(apart <= CLOSE, "{name} {pair:?}: {ours} here, {rate} and {time} in SimGrid");
            compared.worst = compared.worst.max(apart);
            different.insert((ours * 1e9) as u64);
        }
        compared.flows += found.len();
        compared.rates = compared.rates.max(different.len());
    }
    compared.undelivered = lost.len();
    assert_eq!(summary["left_out_pairs"], lost.len(), "{summary}");
    compared
}

#[test]
fn rates_and_times_are_those_of_simgrid() {
    let Some(program) = flows_program() else { return };
    let mut total = Compared::default();
    for (at, case) in CASES.iter().enumerate() {
        let (desk, seed) = (Desk::new(), at as u64 + 1);
        let fabric = case.prepare(&desk, seed);
        let compared = compare(&desk, program, &fabric, seed);
        eprintln!("{:?} {:?}: {compared}", case.generate, case.degrade);
        total.flows += compared.flows;
        total.undelivered += compared.undelivered;
        total.worst = total.worst.max(compared.worst);
        total.rates = total.rates.max(compared.rates);
    }
    eprintln!("in all: {total}");
    assert!(total.undelivered > 0, "old tables must lose pairs");
    assert!(total.rates > 10, "speeds that differ must give many rates");
}

/// A platform of all pairs gives the same as one of the pairs that send.
#[test]
fn all_pairs_have_routes() {
    let Some(program) = flows_program() else { return };
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["convert", "f.topo", "f.lft", "--format", "simgrid", "-o", "p.xml"]);
    let platform = desk.read("p.xml");
    let hosts: Vec<&str> = platform
        .lines()
        .filter_map(|line| line.strip_prefix("<host id=\""))
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let mut flows = String::new();
    for from in &hosts {
        for to in hosts.iter().filter(|to| to != &from) {
            flows += &format!("{from} {to}\n");
        }
    }
    // Every node sends to the eleven others and receives from them, and no port has more than eleven flows.
    for flow in simulate(&desk, program, "p.xml", &flows) {
        assert!((flow.arrival / 11.0 - 1.0).abs() < CLOSE, "{}", flow.arrival);
        assert!((flow.rate * 11.0 / BYTES - 1.0).abs() < CLOSE, "{}", flow.rate);
    }
}
