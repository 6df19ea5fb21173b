//! Measures judgements on the GPU of this machine: `judge SHAPE [CABLES% SWITCHES% [STATES [ROUNDS [PERMUTATIONS]]]]`.
//!
//! SHAPE is a preset or a PGFT such as `3; 12,12,24; 1,12,12; 1,1,1`. STATES degradations with different seeds are routed and judged in one
//! batch. All times are milliseconds for each state, the median of ROUNDS. The first and the last state are compared with the judge of the
//! engine.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::judge::risk::Traffic;
use dmodc::judge::{diff, forced};
use dmodc::{
    Amount, Degradation, Draw, Fabric, ForwardingTables, Live, Pgft, Preset, Routing,
    RoutingOptions, validity,
};
use dmodc_gpu::{Cuda, DevicePattern, GpuJudge, GpuRouter, JudgeRequest, Judgement, PatternLoads};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, usual: &str| words.get(at).map_or(usual.to_owned(), Clone::clone);
    let shape = word(0, "3; 12,12,24; 1,12,12; 1,1,1");
    let fabric = match Preset::named(&shape) {
        Some(preset) => preset.shape().fabric(Default::default())?,
        None => shape.parse::<Pgft>()?.fabric(Default::default()),
    };
    let fabric = Arc::new(fabric);
    let [cables, switches] = [word(1, "1").parse()?, word(2, "0").parse()?].map(Amount::Percent);
    let count: u64 = word(3, "32").parse()?;
    let rounds: usize = word(4, "5").parse()?;
    let permutations: usize = word(5, "1000").parse()?;
    let draw = |seed| Draw { cables, switches, any_cable: false, any_switch: false, seed };
    let states =
        (1..=count).map(|seed| draw(seed).degradation(&fabric)).collect::<Result<Vec<_>, _>>()?;
    let healthy = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &healthy), &RoutingOptions::default());

    let gpu = Arc::new(Cuda::open()?);
    let mut router = GpuRouter::new(gpu, fabric.clone(), routing.clone(), states.len())?;
    let mut judge = GpuJudge::new(&router)?;
    router.route(std::slice::from_ref(&healthy))?;
    judge.keep(&router, 0)?;
    let kept = router.tables(0)?;
    let patterns =
        [DevicePattern::AllToAll, DevicePattern::Permutations(permutations), DevicePattern::Shifts];
    let seeds: Vec<Vec<u64>> = (0..count).map(|state| vec![0, state, 0]).collect();
    println!(
        "{} nodes, {} switches, {} states, {} bytes of tables each, {} bytes to judge each",
        fabric.nodes().len(),
        fabric.switches().len(),
        states.len(),
        router.table_bytes(),
        judge.state_bytes(&router, &patterns),
    );

    let each = |time: Duration| time.as_secs_f64() * 1e3 / count as f64;
    let mut routes = vec![];
    for _ in 0..=rounds {
        let start = Instant::now();
        router.route(&states)?;
        router.wait()?;
        routes.push(start.elapsed());
    }
    println!("{:30} {:.4}", "route", each(median(routes)));
    for (name, patterns, compares) in [
        ("delivery, validity", &patterns[..0], false),
        ("the same, update", &patterns[..0], true),
        ("the same, all-to-all", &patterns[..1], true),
        ("the same, permutations", &patterns[..2], true),
        ("the same, shifts", &patterns[..], true),
    ] {
        let request = JudgeRequest { patterns, seeds: &seeds, compares };
        let mut times = vec![];
        for _ in 0..=rounds {
            let start = Instant::now();
            judge.judge(&router, &states, &request)?;
            times.push(start.elapsed());
        }
        let parts = judge.times();
        println!(
            "{name:30} {:.4} (prepare {:.4}, count {:.4}, finish {:.4}, on the host {})",
            each(median(times)),
            each(parts.prepare),
            each(parts.count),
            each(parts.finish),
            judge.judged_on_host(),
        );
    }
    let request = JudgeRequest { patterns: &patterns, seeds: &seeds, compares: true };
    judge.measure_kernels();
    let found = judge.judge(&router, &states, &request)?;
    let mut by_kernel: BTreeMap<&str, Duration> = BTreeMap::new();
    for one in &judge.times().kernels {
        *by_kernel.entry(one.kernel.function()).or_default() += one.time;
    }
    for (name, time) in by_kernel {
        println!("  kernel {name:21} {:.4}", each(time));
    }
    for at in [0, states.len() - 1] {
        let tables = router.tables(at)?;
        let start = Instant::now();
        let cpu = Cpu { fabric: &fabric, routing: &routing, tables: &tables, kept: &kept };
        let is_right = cpu.agrees(&states[at], &found[at], permutations, seeds[at][1]);
        let word = if is_right { "right" } else { "WRONG" };
        println!("state {at}: {word}, {:.1} ms on the CPU", start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

/// What the judge of the engine is given.
struct Cpu<'a> {
    fabric: &'a Fabric,
    routing: &'a Routing,
    tables: &'a ForwardingTables,
    kept: &'a ForwardingTables,
}

impl Cpu<'_> {
    /// Returns whether a judgement has the numbers of the engine's judge.
    fn agrees(&self, dead: &Degradation, found: &Judgement, count: usize, seed: u64) -> bool {
        let live = Live::new(self.fabric, dead);
        let ready = self.routing.preprocess(live);
        let traffic = Traffic::new(live, &ready.ranking, self.routing.orders(), self.tables);
        let all_to_all = traffic.all_to_all();
        let series = [traffic.permutations(count, seed), traffic.shifts(None)];
        let diff = diff(live, &ready.ranking, self.kept, self.tables);
        let forced = forced(live, &ready, self.kept, self.tables).ok();
        let valid = validity(live, &ready, self.routing.columns()).ok();
        let Some(update) = found.update else { return false };
        let PatternLoads::Single(loads) = &found.patterns[0] else { return false };
        let same_series = found.patterns[1..].iter().zip(&series).all(|(one, other)| match one {
            PatternLoads::Series(one) => {
                (&one.maxima, &one.bounds, one.undelivered)
                    == (&other.maxima, &other.bounds, other.undelivered)
            }
            PatternLoads::Single(_) => false,
        });
        let same_loads = (&loads.by_port, loads.bound, loads.undelivered, &loads.lost)
            == (&all_to_all.by_port, all_to_all.bound, all_to_all.undelivered, &all_to_all.lost);
        let same_update = (update.changes, update.of, update.pairs, update.forced)
            == (diff.changes, diff.of, diff.pairs, forced);
        same_series
            && same_loads
            && same_update
            && found.is_valid == valid.map(|found| found.is_valid())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
