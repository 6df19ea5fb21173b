//! How long routing takes, beside the physical limit: writing as many bytes (`memset`), with the same
//! threads, in the same run. Machines are noisy; a ratio of times that were taken in turns is less so.
//!
//! What was measured is also checked: the tables, after everything that was done to them, must be those of the
//! naive reference (see `check`).

mod analyze;
mod check;

pub use analyze::analyze;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dmodc::fabric::Part;
use dmodc::{
    Amount, CableIndex, Change, Degradation, Digest, Dmodc, Dmodk, Draw, Engine, Fabric,
    ForwardingTables, Kernel, Live, NoMemory, Pgft, Random, Reference, RouteError, Router, Routing,
    RoutingOptions, Stable, SwitchIndex, dividers, parallel, validity,
};
use serde_json::{Value, json};

use crate::machine;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the fabric is called.
    pub name: String,
    /// The fabric.
    pub pgft: Pgft,
    /// Dead cables between switches, in percent.
    pub cables: f64,
    /// Dead switches among those that are not leaves, in percent.
    pub switches: f64,
    /// The seed of the faults, and of everything else that is drawn.
    pub seed: u64,
    /// Whether switches' own LIDs have columns, too.
    pub switch_lids: bool,
}

impl Case {
    /// Its faults.
    fn draw(&self) -> Draw {
        Draw {
            cables: Amount::Percent(self.cables),
            switches: Amount::Percent(self.switches),
            any_cable: false,
            any_switch: false,
            seed: self.seed,
        }
    }

    /// Refuses tables that would not fit beside a buffer of the same size.
    fn fits(&self) -> Result<(), BenchError> {
        let (nodes, switches) = (self.pgft.count(0) as u64, self.pgft.switch_count() as u64);
        let columns = if self.switch_lids { nodes + switches } else { nodes };
        let wanted = 2 * columns * switches;
        match machine::available() {
            Some(available) if wanted > available => {
                Err(BenchError::TooLarge { name: self.name.clone(), wanted, available })
            }
            _ => Ok(()),
        }
    }
}

/// By which algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Dmodc, kept by a [`Router`].
    #[default]
    Dmodc,
    /// Stable Dmodc, kept by a [`Router`], with the healthy fabric as its reference.
    Stable,
    /// Dmodk, which only knows healthy PGFTs.
    Dmodk,
    /// Dmodc into a digest: the tables are never kept.
    Stream,
}

impl Algorithm {
    /// What it is called in results.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Dmodc => "dmodc",
            Algorithm::Stable => "stable",
            Algorithm::Dmodk => "dmodk",
            Algorithm::Stream => "dmodc-stream",
        }
    }
}

/// How it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// By which algorithm.
    pub algorithm: Algorithm,
    /// How often; the median counts.
    pub rounds: usize,
    /// The form of the inner loops.
    pub kernel: Kernel,
    /// Whether tables are compared with those of the naive reference, which takes longer than all the rest.
    pub check: bool,
    /// Hears how far that comparison is: destination switches that are done, and of how many.
    pub hears: fn(usize, usize),
    /// So many faults and repairs at once are measured, too.
    pub changes: Option<usize>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The engine gave no tables.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// There is not so much memory.
    #[error(
        "{name}: its tables and as many bytes to compare with take {wanted} bytes of memory, of which \
         {available} can be had; --stream needs none of them"
    )]
    TooLarge {
        /// The fabric.
        name: String,
        /// What is wanted.
        wanted: u64,
        /// What can be had.
        available: u64,
    },
    /// The faults could not be drawn.
    #[error(transparent)]
    Amount(#[from] dmodc::AmountError),
}

impl From<NoMemory> for BenchError {
    fn from(error: NoMemory) -> Self {
        BenchError::Route(error.into())
    }
}

/// A fabric with its faults, ready to be measured.
struct Bench<'a> {
    case: &'a Case,
    settings: &'a Settings,
    fabric: Arc<Fabric>,
    degraded: Degradation,
    routing: Routing,
    /// The memory that the process had with the fabric alone.
    fabric_memory: Option<u64>,
}

/// Measures one case.
///
/// # Errors
/// If the fabric cannot be routed so, or its tables are too large.
pub fn measure(case: &Case, settings: &Settings) -> Result<Value, BenchError> {
    if settings.algorithm != Algorithm::Stream {
        case.fits()?;
    }
    let fabric = Arc::new(case.pgft.fabric(Default::default()));
    let degraded = case.draw().degradation(&fabric)?;
    let fabric_memory = machine::resident().filter(|_| machine::forget_peak());
    let healthy = Degradation::none(&fabric);
    let options = RoutingOptions { switch_lids: case.switch_lids, ..RoutingOptions::default() };
    let routing = Routing::new(Live::new(&fabric, &healthy), &options);
    let bench = Bench { case, settings, fabric, degraded, routing, fabric_memory };
    let mut row = bench.about();
    row.append(&mut match settings.algorithm {
        Algorithm::Dmodc | Algorithm::Stable => bench.router()?,
        Algorithm::Dmodk => bench.dmodk()?,
        Algorithm::Stream => bench.stream()?,
    });
    Ok(Value::Object(row))
}

type Fields = serde_json::Map<String, Value>;

impl Bench<'_> {
    fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.degraded)
    }

    fn entries(&self) -> usize {
        self.routing.columns().len() * self.fabric.switches().len()
    }

    fn about(&self) -> Fields {
        fields(json!({
            "preset": self.case.name,
            "pgft": self.case.pgft.to_string(),
            "engine": self.settings.algorithm.name(),
            "nodes": self.fabric.nodes().len(),
            "switches": self.fabric.switches().len(),
            "cables_dead": self.case.cables,
            "switches_dead": self.case.switches,
            "seed": self.case.seed,
            "switch_lids": self.case.switch_lids,
            "entries": self.entries(),
            "threads": parallel::threads(),
            "kernel": self.settings.kernel.name(),
            "rounds": self.settings.rounds,
        }))
    }

    /// The memory beyond fabric and tables that was needed since the fabric was there.
    fn peak_extra(&self, tables: usize) -> Option<u64> {
        let before = self.fabric_memory?;
        Some(machine::peak()?.saturating_sub(before + tables as u64))
    }

    /// A router by the algorithm in question.
    fn begin(&self) -> Result<Router, RouteError> {
        let (fabric, routing) = (self.fabric.clone(), self.routing.clone());
        match self.settings.algorithm {
            Algorithm::Stable => {
                let healthy = Degradation::none(&self.fabric);
                let live = Live::new(&self.fabric, &healthy);
                let reference = Arc::new(Reference::new(&routing, live));
                let engine = Arc::new(Stable { reference });
                Router::with_engine(engine, fabric, routing, self.degraded.clone())
            }
            _ => Router::new(fabric, routing, self.degraded.clone()),
        }
    }

    fn router(&self) -> Result<Fields, BenchError> {
        let start = Instant::now();
        let mut router = self.begin()?;
        let first = start.elapsed();
        router.use_kernel(self.settings.kernel);
        // Everything that is measured later, once: for the memory, and so that nothing is the first.
        let (cables, switches) = self.victims();
        for part in cables.iter().chain(&switches).take(1) {
            router.apply(&[Change::Dies(*part)])?;
            router.apply(&[Change::Recovers(*part)])?;
        }
        router.reroute(&self.degraded)?;
        let peak = self.peak_extra(self.entries());
        let resident = machine::peak();

        let mut limit = self.routing.empty_tables(self.live())?;
        let mut times = Times::default();
        for _ in 0..self.settings.rounds {
            times.memset.push(timed(|| memset(&mut limit)));
            let mut rerouted = Ok(());
            times.reroute.push(timed(|| rerouted = router.reroute(&self.degraded)));
            rerouted?;
        }
        let gain = self.gain(&mut limit, || router.reroute(&self.degraded))?;
        drop(limit);
        let beside = self.beside_dmodc(&mut router, &cables)?;
        let reroute = median(&times.reroute);
        let cable = self.apply_each(&mut router, &cables)?;
        let switch = self.apply_each(&mut router, &switches)?;

        let mut row = times.fields();
        row.append(&mut fields(json!({
            "first_ms": ms(first),
            "apply_cable_ms": cable.map(ms),
            "apply_cable_ratio": cable.map(|t| t.as_secs_f64() / reroute.as_secs_f64()),
            "apply_switch_ms": switch.map(ms),
            "apply_switch_ratio": switch.map(|t| t.as_secs_f64() / reroute.as_secs_f64()),
            "peak_extra_bytes": peak,
            "peak_bytes": resident,
        })));
        row.append(&mut self.split(reroute)?);
        row.append(&mut beside.map_or_else(Fields::new, fields));
        row.append(&mut gain.map_or_else(Fields::new, fields));
        row.append(&mut self.check_tables(router.tables()));
        if let Some(changes) = self.settings.changes {
            row.append(&mut self.many(&mut router, changes)?);
        }
        Ok(row)
    }

    /// What Stable Dmodc costs beside Dmodc: whole re-routes in turns, and single faults.
    fn beside_dmodc(
        &self,
        router: &mut Router,
        cables: &[Part],
    ) -> Result<Option<Value>, RouteError> {
        if self.settings.algorithm != Algorithm::Stable {
            return Ok(None);
        }
        let (fabric, routing) = (self.fabric.clone(), self.routing.clone());
        let mut plain = Router::new(fabric, routing, self.degraded.clone())?;
        plain.use_kernel(self.settings.kernel);
        let (mut ours, mut theirs) = (vec![], vec![]);
        for _ in 0..self.settings.rounds {
            for (router, times) in [(&mut *router, &mut ours), (&mut plain, &mut theirs)] {
                let mut rerouted = Ok(());
                times.push(timed(|| rerouted = router.reroute(&self.degraded)));
                rerouted?;
            }
        }
        let over = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        let applied = [self.apply_each(router, cables)?, self.apply_each(&mut plain, cables)?];
        let applied = applied[0].zip(applied[1]).map(|(ours, theirs)| over(ours, theirs));
        Ok(Some(json!({
            "dmodc_ms": ms(median(&theirs)),
            "over_dmodc": over(median(&ours), median(&theirs)),
            "apply_cable_over_dmodc": applied,
        })))
    }

    fn dmodk(&self) -> Result<Fields, BenchError> {
        let live = self.live();
        let mut tables = self.routing.empty_tables(live)?;
        let mut limit = self.routing.empty_tables(live)?;
        let mut times = Times::default();
        for _ in 0..self.settings.rounds {
            times.memset.push(timed(|| memset(&mut limit)));
            let mut routed = Ok(Default::default());
            times.reroute.push(timed(|| {
                routed = Dmodk.route(live, &self.routing.preprocess(live), &mut tables);
            }));
            routed?;
        }
        let mut row = times.fields();
        row.append(&mut self.checked(tables.digest()));
        Ok(row)
    }

    fn stream(&self) -> Result<Fields, BenchError> {
        let live = self.live();
        let mut times = Times::default();
        let mut digest = Digest::default();
        // As many bytes again and again in one buffer that no cache holds.
        let mut limit = vec![0u8; self.entries().min(256 << 20)];
        for _ in 0..self.settings.rounds {
            times.memset.push(timed(|| {
                let mut left = self.entries();
                while left > 0 {
                    let now = left.min(limit.len());
                    fill([&mut limit[..now]].into_iter());
                    left -= now;
                }
            }));
            let sum = Mutex::new(Digest::default());
            let mut streamed = Ok(Default::default());
            times.reroute.push(timed(|| {
                let mut ready = self.routing.preprocess(live);
                ready.kernel = self.settings.kernel;
                streamed = Dmodc.stream_tiles(live, &ready, self.routing.columns(), &|piece| {
                    let part = Digest::rows(piece.first, piece.tile, piece.entries);
                    if let Ok(mut sum) = sum.lock() {
                        *sum = *sum + part;
                    }
                });
            }));
            streamed?;
            digest = sum.into_inner().unwrap_or_default();
        }
        let peak = self.peak_extra(limit.len());
        drop(limit);
        let mut row = times.fields();
        let resident = machine::peak();
        row.append(&mut fields(json!({ "peak_extra_bytes": peak, "peak_bytes": resident })));
        row.append(&mut self.checked(digest));
        Ok(row)
    }

    /// Live cables between switches, and live switches of the highest rank.
    fn victims(&self) -> (Vec<Part>, Vec<Part>) {
        let mut random = Random::new(self.case.seed, 2);
        let live = self.live();
        let cables = self.fabric.inter_switch_cables().len();
        let mut cables: Vec<Part> = (0..cables)
            .map(|at| Part::Cable(CableIndex::new(at)))
            .filter(|p| self.lives(p))
            .collect();
        random.shuffle(&mut cables);
        cables.truncate(15);
        let by_rank = self.routing.ranking(live).by_rank();
        let top: &[SwitchIndex] = by_rank.last().map_or(&[], |top| top);
        let mut switches: Vec<Part> = top.iter().copied().map(Part::Switch).collect();
        random.shuffle(&mut switches);
        switches.truncate(9);
        (cables, switches)
    }

    fn lives(&self, part: &Part) -> bool {
        match *part {
            Part::Switch(s) => !self.degraded.switch_is_dead(s),
            Part::Cable(c) => !self.degraded.cable_is_dead(c),
        }
    }

    /// The median time of applying the death of one of these; each is repaired again.
    fn apply_each(
        &self,
        router: &mut Router,
        parts: &[Part],
    ) -> Result<Option<Duration>, RouteError> {
        let mut times = Vec::new();
        for &part in parts {
            let mut applied = Ok(Default::default());
            times.push(timed(|| applied = router.apply(&[Change::Dies(part)])));
            applied?;
            router.apply(&[Change::Recovers(part)])?;
        }
        Ok((!times.is_empty()).then(|| median(&times)))
    }

    /// Many faults and repairs in one `apply`, beside a whole re-route of what is then.
    fn many(&self, router: &mut Router, count: usize) -> Result<Fields, RouteError> {
        let changes = self.mixed_changes(count);
        let mut then = self.degraded.clone();
        for change in &changes {
            match *change {
                Change::Dies(part) => then.set(part, true),
                Change::Recovers(part) => then.set(part, false),
            }
        }
        let (mut applied, mut whole, mut exact) = (vec![], vec![], true);
        for _ in 0..self.settings.rounds {
            router.reroute(&self.degraded)?;
            let mut delta = Ok(Default::default());
            applied.push(timed(|| delta = router.apply(&changes)));
            delta?;
            let digest = router.tables().digest();
            router.reroute(&self.degraded)?;
            let mut rerouted = Ok(());
            whole.push(timed(|| rerouted = router.reroute(&then)));
            rerouted?;
            exact &= router.tables().digest() == digest;
        }
        let (applied, whole) = (median(&applied), median(&whole));
        Ok(fields(json!({
            "changes": count,
            "apply_changes_ms": ms(applied),
            "reroute_changes_ms": ms(whole),
            "apply_changes_ratio": applied.as_secs_f64() / whole.as_secs_f64(),
            "apply_changes_exact": exact,
        })))
    }

    /// Half of them repairs, as far as so much is dead; the rest faults: one switch to 50 cables.
    fn mixed_changes(&self, count: usize) -> Vec<Change> {
        let mut random = Random::new(self.case.seed, 3);
        let mut dead: Vec<Part> = self.degraded.removed().collect();
        random.shuffle(&mut dead);
        dead.truncate(count / 2);
        let cables = (0..self.fabric.inter_switch_cables().len()).map(CableIndex::new);
        let mut cables: Vec<Part> = cables.map(Part::Cable).filter(|p| self.lives(p)).collect();
        let mut switches: Vec<Part> = self
            .fabric
            .switch_indices()
            .filter(|&s| self.fabric.nodes_of(s).is_empty())
            .map(Part::Switch)
            .filter(|p| self.lives(p))
            .collect();
        random.shuffle(&mut cables);
        random.shuffle(&mut switches);
        let faults = count - dead.len();
        switches.truncate(faults / 50);
        let faults = switches.iter().chain(&cables).take(faults).map(|&p| Change::Dies(p));
        let mut changes: Vec<Change> =
            dead.into_iter().map(Change::Recovers).chain(faults).collect();
        random.shuffle(&mut changes);
        changes
    }

    /// How the time of a re-route splits: the stages that can be run alone, and the rest.
    fn split(&self, reroute: Duration) -> Result<Fields, RouteError> {
        let live = self.live();
        let rounds = self.settings.rounds;
        let preprocess = repeated(rounds, || drop(self.routing.preprocess(live)));
        let ready = self.routing.preprocess(live);
        let divide = repeated(rounds, || drop(dividers(&ready.groups)));
        let mut valid = Ok(Default::default());
        let cost = repeated(rounds, || valid = validity(live, &ready, self.routing.columns()));
        valid?;
        let preprocess = preprocess.saturating_sub(divide);
        let route = reroute.saturating_sub(preprocess + divide + cost);
        Ok(fields(json!({
            "preprocess_ms": ms(preprocess),
            "divider_ms": ms(divide),
            "cost_ms": ms(cost),
            "route_ms": ms(route),
        })))
    }

    /// What all threads gain over one, beside what `memset` gains.
    fn gain(
        &self,
        limit: &mut ForwardingTables,
        mut reroute: impl FnMut() -> Result<(), RouteError> + Send,
    ) -> Result<Option<Value>, RouteError> {
        if parallel::threads() == 1 {
            return Ok(None);
        }
        let Ok(alone) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
            return Ok(None);
        };
        let (mut one, mut all) = (Times::default(), Times::default());
        for _ in 0..self.settings.rounds {
            let mut rerouted = [Ok(()), Ok(())];
            one.memset.push(alone.install(|| timed(|| memset(limit))));
            one.reroute.push(alone.install(|| timed(|| rerouted[0] = reroute())));
            all.memset.push(timed(|| memset(limit)));
            all.reroute.push(timed(|| rerouted[1] = reroute()));
            for each in rerouted {
                each?;
            }
        }
        let over = |one: &[Duration], all: &[Duration]| {
            median(one).as_secs_f64() / median(all).as_secs_f64()
        };
        let (reroute, memset) = (over(&one.reroute, &all.reroute), over(&one.memset, &all.memset));
        Ok(Some(json!({
            "reroute_ms_1_thread": ms(median(&one.reroute)),
            "memset_ms_1_thread": ms(median(&one.memset)),
            "thread_gain": reroute,
            "memset_gain": memset,
            "gain_ratio": reroute / memset,
        })))
    }
}

/// Times that were taken in turns.
#[derive(Default)]
struct Times {
    reroute: Vec<Duration>,
    memset: Vec<Duration>,
}

impl Times {
    fn fields(&self) -> Fields {
        let (reroute, memset) = (median(&self.reroute), median(&self.memset));
        let all = |times: &[Duration]| times.iter().copied().map(ms).collect::<Vec<f64>>();
        fields(json!({
            "reroute_ms": ms(reroute),
            "memset_ms": ms(memset),
            "ratio": reroute.as_secs_f64() / memset.as_secs_f64(),
            "reroute_ms_all": all(&self.reroute),
            "memset_ms_all": all(&self.memset),
        }))
    }
}

fn fields(object: Value) -> Fields {
    match object {
        Value::Object(fields) => fields,
        _ => Fields::new(),
    }
}

/// Writes as many bytes as the tables have, with all threads.
fn memset(tables: &mut ForwardingTables) {
    fill(tables.tiles_mut().into_iter().map(|(_, entries)| entries));
}

fn fill<'a>(bytes: impl Iterator<Item = &'a mut [u8]> + Send) {
    let parts = bytes.flat_map(|bytes| bytes.chunks_mut(4 << 20));
    parallel::for_each(parts, |part| part.fill(7));
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn repeated(rounds: usize, mut run: impl FnMut()) -> Duration {
    median(&(0..rounds).map(|_| timed(&mut run)).collect::<Vec<_>>())
}

/// The middle one; of an even number the later.
fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(cables: f64, switches: f64) -> Case {
        Case {
            name: "small".into(),
            pgft: "3; 4,6,14; 1,4,4; 1,1,1".parse().expect("a PGFT"),
            cables,
            switches,
            seed: 1,
            switch_lids: false,
        }
    }

    fn settings(algorithm: Algorithm) -> Settings {
        Settings {
            algorithm,
            rounds: 3,
            kernel: Kernel::best(),
            check: true,
            hears: |_, _| {},
            changes: Some(40),
        }
    }

    #[test]
    fn rows_have_what_scripts_read_and_the_digests_agree() {
        for (cables, switches) in [(0.0, 0.0), (1.0, 0.0), (10.0, 1.0)] {
            let row = measure(&case(cables, switches), &settings(Algorithm::Dmodc));
            let row = row.expect("a PGFT is measured");
            for key in ["nodes", "switches", "threads", "reroute_ms", "memset_ms", "ratio"] {
                assert!(row[key].is_number(), "{key}: {row}");
            }
            for key in ["apply_cable_ratio", "apply_switch_ratio", "apply_changes_ratio"] {
                assert!(row[key].is_number(), "{key}: {row}");
            }
            assert_eq!(row["digest_ok"], true);
            assert_eq!(row["apply_changes_exact"], true);
            let stable = measure(&case(cables, switches), &settings(Algorithm::Stable));
            let stable = stable.expect("a PGFT is measured");
            assert_eq!(stable["digest_ok"], true);
            assert_eq!(stable["apply_changes_exact"], true);
            assert!(
                stable["over_dmodc"].is_number() && stable["apply_cable_over_dmodc"].is_number()
            );
            assert_eq!(stable["digest"] == row["digest"], cables == 0.0);
            let streamed = measure(&case(cables, switches), &settings(Algorithm::Stream));
            assert_eq!(streamed.expect("a PGFT is streamed")["digest"], row["digest"]);
        }
    }

    #[test]
    fn dmodk_is_measured_on_healthy_fabrics_alone() {
        let row = measure(&case(0.0, 0.0), &settings(Algorithm::Dmodk)).expect("it is healthy");
        assert_eq!(row["digest_ok"], true);
        assert!(measure(&case(10.0, 0.0), &settings(Algorithm::Dmodk)).is_err());
    }

    #[test]
    fn medians_are_the_middle() {
        let times = [5, 1, 3].map(Duration::from_millis);
        assert_eq!(median(&times), Duration::from_millis(3));
        assert_eq!(median(&[]), Duration::ZERO);
    }
}
