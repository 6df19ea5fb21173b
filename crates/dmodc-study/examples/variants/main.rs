//! Other ways to place the destinations that a fault displaces, on the same trials as the engine `stable`: a record of ideas
//! that lost.
//!
//! All variants but `dmodc` and `random` keep the slots of the reference; they differ in the port that a
//! destination takes whose slot is lost ([`choice`]), and [`repair`] changes the winner's tables once more.
//! Everything is routed [naively](naive), one entry after the other, and the winner is compared with
//! [`Stable`] in each trial. `docs/src/explanation/variants.md` has the results.
//!
//! `cargo run --release -p dmodc-study --example variants -- THROWS OUT.csv > table.md`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

mod choice;
mod naive;
mod repair;

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use choice::VARIANTS;
use dmodc::judge::risk::Traffic;
use dmodc::oracle::Graph;
use dmodc::{
    Amount, Degradation, Dmodc, Draw, Fabric, ForwardingTables, Live, Pgft, RandomPorts, Reference,
    Routing, Stable, parallel,
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const FABRICS: [(&str, &str); 4] = [
    ("full", "3; 8,8,16; 1,8,8; 1,1,1"),
    ("tapered", "3; 16,8,8; 1,8,8; 1,1,1"),
    ("parallel", "3; 8,4,32; 1,4,4; 1,2,2"),
    ("two levels", "2; 18,36; 1,18; 1,1"),
];

/// Percent of cables, percent of switches.
const DEGRADATIONS: [(f64, f64); 6] =
    [(0.1, 0.0), (1.0, 0.0), (5.0, 0.0), (10.0, 0.0), (0.0, 0.5), (0.0, 2.0)];

/// A healthy fabric with its routing.
struct VariantFabric {
    fabric: Fabric,
    routing: Routing,
    graph: Graph,
    dividers: Vec<u64>,
    /// σ of every switch: by place, by pod.
    sigma: Vec<(u64, u64)>,
    before: ForwardingTables,
    stable: Stable,
}

impl VariantFabric {
    fn new(pgft: &str) -> Outcome<Self> {
        let fabric = pgft.parse::<Pgft>()?.fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &Default::default());
        let (before, _) = routing.route(live, &Dmodc)?;
        let stable = Stable { reference: Arc::new(Reference::new(&routing, live)) };
        let graph = Graph::new(live, routing.orders(), routing.ranking(live).leaves());
        let (dividers, sigma) = (graph.dividers(), naive::sigma(&graph));
        Ok(VariantFabric { routing, graph, dividers, sigma, before, stable, fabric })
    }

    /// Draws the faults of a trial.
    fn faults(&self, (cables, switches): (f64, f64), seed: u64) -> Outcome<Degradation> {
        let (cables, switches) = (Amount::Percent(cables), Amount::Percent(switches));
        let draw = Draw { cables, switches, any_cable: false, any_switch: false, seed };
        Ok(draw.degradation(&self.fabric)?)
    }

    /// Returns SP, RP and A2A, their bounds, and the percentage of entries that moved.
    fn judge(&self, live: Live<'_>, tables: &ForwardingTables, seed: u64) -> [f64; 7] {
        let ranking = self.routing.ranking(live);
        let traffic = Traffic::new(live, &ranking, self.routing.orders(), tables);
        let (sp, rp) = (traffic.shifts(None), traffic.permutations(100, seed));
        let a2a = traffic.all_to_all();
        let moved = tables.differing(&self.before) as f64 / tables.entry_count() as f64 * 100.0;
        let (max, bound) = (a2a.max() as f64, a2a.bound as f64);
        [sp.mean(), rp.mean(), max, sp.mean_bound(), rp.mean_bound(), bound, moved]
    }

    /// Returns the numbers of one trial for all variants, in the order of [`names`].
    fn figures(&self, level: (f64, f64), seed: u64) -> Outcome<Vec<[f64; 7]>> {
        let dead = self.faults(level, seed)?;
        let live = Live::new(&self.fabric, &dead);
        let (variants, lost) = self.tables(live)?;
        let (stable, _) = self.routing.route(live, &self.stable)?;
        assert_eq!(variants[0].differing(&stable), 0, "seed {seed}: the winner is another engine");
        let (dmodc, _) = self.routing.route(live, &Dmodc)?;
        let (random, _) = self.routing.route(live, &RandomPorts { seed })?;
        let repaired = self.repair(live, &variants[0], &lost);
        let all = [&dmodc, &random].into_iter().chain(&variants).chain([&repaired]);
        Ok(all.map(|tables| self.judge(live, tables, seed)).collect())
    }

    /// Returns the time of a re-route by [`Stable`], and of the repair pass after it; the best of three.
    fn times(&self, level: (f64, f64)) -> Outcome<(Duration, Duration)> {
        let dead = self.faults(level, 0)?;
        let live = Live::new(&self.fabric, &dead);
        let (variants, lost) = self.tables(live)?;
        let mut best = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            let start = Instant::now();
            self.routing.route(live, &self.stable)?;
            best.0 = best.0.min(start.elapsed());
            let start = Instant::now();
            self.repair(live, &variants[0], &lost);
            best.1 = best.1.min(start.elapsed());
        }
        Ok(best)
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    ["dmodc", "random"].into_iter().chain(VARIANTS.map(|v| v.0)).chain(["repair"])
}

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let (Some(throws), Some(path)) = (args.next(), args.next()) else {
        return Err("usage: variants THROWS OUT.csv".into());
    };
    let throws: u64 = throws.parse()?;
    let mut csv = String::from(
        "fabric,cables_percent,switches_percent,variant,throws,sp,rp,a2a,sp_bound,rp_bound,a2a_bound,moved_percent\n",
    );
    for (fabric, pgft) in FABRICS {
        let whole = VariantFabric::new(pgft)?;
        println!("\n`{pgft}` ({fabric})\n");
        let mut lines: Vec<String> = names().map(|name| format!("| {name} |")).collect();
        let (mut head, mut rule) = (String::from("| |"), String::from("|---|"));
        let (mut bounds, mut slow) =
            (String::from("| *bound* |"), String::from("| *repair takes* |"));
        for (cables, switches) in DEGRADATIONS {
            let all = parallel::map(0..throws, |seed| whole.figures((cables, switches), seed));
            let all = all.into_iter().collect::<Outcome<Vec<_>>>()?;
            for (at, (name, line)) in names().zip(&mut lines).enumerate() {
                let mean = |i: usize| all.iter().map(|t| t[at][i]).sum::<f64>() / throws as f64;
                let [sp, rp, a2a, sp_least, rp_least, a2a_least, moved] = std::array::from_fn(mean);
                writeln!(
                    csv,
                    "{fabric},{cables},{switches},{name},{throws},{sp:.4},{rp:.4},{a2a:.1},\
                     {sp_least:.4},{rp_least:.4},{a2a_least:.1},{moved:.3}"
                )?;
                write!(line, " {sp:.2} · {rp:.2} · {a2a:.0} · {moved:.2} % |")?;
                if at == 0 {
                    write!(bounds, " {sp_least:.2} · {rp_least:.2} · {a2a_least:.0} |")?;
                }
            }
            let (route, repair) = whole.times((cables, switches))?;
            let ratio = repair.as_secs_f64() / route.as_secs_f64();
            write!(slow, " {:.0} ms, {ratio:.0} re-routes |", repair.as_secs_f64() * 1000.0)?;
            match cables > 0.0 {
                true => write!(head, " {cables} % cables |")?,
                false => write!(head, " {switches} % switches |")?,
            }
            rule.push_str("---|");
        }
        println!("{head}\n{rule}\n{}\n{bounds}\n{slow}", lines.join("\n"));
    }
    // The file is written whole or not at all: a reader never sees half of it.
    let partial = format!("{path}.partial");
    std::fs::write(&partial, csv)?;
    Ok(std::fs::rename(partial, path)?)
}
