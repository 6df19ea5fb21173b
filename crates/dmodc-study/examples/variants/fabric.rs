//! The fabrics, their degradations, and the figures of a trial.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::fabric::{Directors, Shape};
use dmodc::judge::risk::Traffic;
use dmodc::oracle::{DividersByLevel, Graph};
use dmodc::relief::{Thoroughness, relieve};
use dmodc::{
    Amount, Degradation, Dmodc, Draw, Fabric, ForwardingTables, InferredWhole, Live, Preset,
    RandomPorts, Reference, Routing, RoutingOptions, Stable,
};

use super::Outcome;
use super::choice::{ENGINE, VARIANTS};
use super::naive;

const PGFTS: [(&str, &str); 4] = [
    ("full", "3; 8,8,16; 1,8,8; 1,1,1"),
    ("tapered", "3; 16,8,8; 1,8,8; 1,1,1"),
    ("parallel", "3; 8,4,32; 1,4,4; 1,2,2"),
    ("two levels", "2; 18,36; 1,18; 1,1"),
];

const DIRECTORS: (&str, &str) =
    ("two directors, 512 nodes", "leaves=32,nodes=16,directors=2,lines=16,spines=16,cables=16");

const PRESETS: [(&str, &str); 2] =
    [("one director, 648 nodes", "one-director-648"), ("four levels, 256 nodes", "four-levels")];

/// What fails: percent of cables, percent of switches.
pub(crate) type FaultLevel = (f64, f64);

const PGFT_LEVELS: &[FaultLevel] =
    &[(0.1, 0.0), (1.0, 0.0), (5.0, 0.0), (10.0, 0.0), (0.0, 0.5), (0.0, 2.0)];

const OTHER_LEVELS: &[FaultLevel] = &[(1.0, 0.0), (5.0, 0.0), (0.0, 2.0)];

/// A fabric to measure.
pub(crate) struct NamedFabric {
    pub name: String,
    /// Its notation or preset; a dump has none.
    pub notation: Option<&'static str>,
    pub fabric: Fabric,
    pub levels: &'static [FaultLevel],
    /// Whether the repair pass is measured. It is slow, and relief does the same better.
    pub has_repair: bool,
}

impl NamedFabric {
    fn shape(name: &str, notation: &'static str, shape: &Shape) -> Outcome<Self> {
        let fabric = shape.fabric(Default::default())?;
        let is_pgft = shape.pgft().is_some();
        let levels = if is_pgft { PGFT_LEVELS } else { OTHER_LEVELS };
        let (name, notation) = (name.to_string(), Some(notation));
        Ok(NamedFabric { name, notation, fabric, levels, has_repair: is_pgft })
    }

    /// Reads a dump, which is given as NAME=PATH.
    fn dump(argument: &str) -> Outcome<Self> {
        let (name, path) = argument.split_once('=').ok_or_else(|| {
            format!("'{argument}' is no dump: a dump is given as NAME=PATH, where NAME is for the results")
        })?;
        let text = std::fs::read(path).map_err(|why| format!("{path}: {why}"))?;
        let reading = dmodc_formats::read(&text).map_err(|why| format!("{path}: {why}"))?;
        let (name, fabric) = (name.to_string(), reading.fabric);
        Ok(NamedFabric { name, notation: None, fabric, levels: OTHER_LEVELS, has_repair: false })
    }

    /// Returns the fabrics that are always measured, and then the dumps.
    pub(crate) fn all(dumps: impl Iterator<Item = String>) -> Outcome<Vec<Self>> {
        let mut all = vec![];
        for (name, notation) in PGFTS {
            all.push(Self::shape(name, notation, &Shape::Pgft(notation.parse()?))?);
        }
        let (name, notation) = DIRECTORS;
        let directors: Directors = notation.parse()?;
        all.push(Self::shape(name, notation, &Shape::Directors(directors))?);
        for (name, preset) in PRESETS {
            let found = Preset::named(preset).ok_or(format!("there is no preset '{preset}'"))?;
            all.push(Self::shape(name, preset, &found.shape())?);
        }
        for dump in dumps {
            all.push(Self::dump(&dump)?);
        }
        Ok(all)
    }
}

/// The figures of one row in one trial.
#[derive(Clone, Copy, Default)]
pub(crate) struct Figures {
    pub sp: f64,
    pub rp: f64,
    pub a2a: f64,
    pub sp_bound: f64,
    pub rp_bound: f64,
    pub a2a_bound: f64,
    /// The percentage of entries that moved.
    pub moved: f64,
}

/// A fabric with its routing and its tables before any fault is drawn.
pub(crate) struct VariantFabric {
    found: Fabric,
    /// The same with the cables that it lacks: the reference.
    whole: InferredWhole,
    pub routing: Routing,
    pub graph: Graph,
    pub dividers: DividersByLevel,
    /// σ of every switch: by place, by pod.
    pub sigma: Vec<(u64, u64)>,
    has_repair: bool,
    /// The tables of each row of the fabric as it was found.
    before: Vec<ForwardingTables>,
    stable: Stable,
}

impl VariantFabric {
    pub(crate) fn new(of: NamedFabric) -> Outcome<Self> {
        let (found, options) = (of.fabric, RoutingOptions::default());
        let whole = InferredWhole::new(&found, &options.leaves)
            .unwrap_or_else(|_| InferredWhole::unchanged(&found));
        let nothing_missing = Degradation::none(&whole.fabric);
        let reference = Live::new(&whole.fabric, &nothing_missing);
        let routing = Routing::new(reference, &options);
        let stable = Stable { reference: Arc::new(Reference::new(&routing, reference)) };
        let orders = routing.orders();
        let graph = Graph::new(reference, orders, routing.ranking(reference).leaves());
        let dividers = DividersByLevel::new(&graph, orders.level_dividers());
        let (sigma, has_repair, before) = (naive::sigma(&graph), of.has_repair, vec![]);
        let mut fabric = VariantFabric {
            found,
            whole,
            routing,
            graph,
            dividers,
            sigma,
            has_repair,
            before,
            stable,
        };
        let mut before = fabric.rows(&fabric.whole.missing, 0)?;
        // `random` has another seed in each trial, so no tables come before it: it is compared with `dmodc`.
        before[1] = before[0].clone();
        fabric.before = before;
        Ok(fabric)
    }

    /// Returns the names of the rows.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let last = ["relief"].into_iter().chain(self.has_repair.then_some("repair"));
        ["dmodc", "random"].into_iter().chain(VARIANTS.map(|v| v.0)).chain(last)
    }

    /// Draws the faults of a trial from the cables and switches that there are.
    fn faults(&self, (cables, switches): FaultLevel, seed: u64) -> Outcome<Degradation> {
        let (cables, switches) = (Amount::Percent(cables), Amount::Percent(switches));
        let draw = Draw { cables, switches, any_cable: false, any_switch: false, seed };
        Ok(self.whole.degraded(&self.found, &draw.degradation(&self.found)?))
    }

    /// Returns the tables of all rows, in the order of [`VariantFabric::names`].
    fn rows(&self, dead: &Degradation, seed: u64) -> Outcome<Vec<ForwardingTables>> {
        let live = Live::new(&self.whole.fabric, dead);
        let (variants, lost) = self.tables(live)?;
        let winner = &variants[ENGINE];
        let (stable, _) = self.routing.route(live, &self.stable)?;
        assert_eq!(winner.differing(&stable), 0, "seed {seed}: the winner is another engine");
        let (dmodc, _) = self.routing.route(live, &Dmodc)?;
        let (random, _) = self.routing.route(live, &RandomPorts { seed })?;
        let mut relieved = winner.clone();
        relieve(live, &self.routing.preprocess(live), &mut relieved, Thoroughness::Full)?;
        let repaired = self.has_repair.then(|| self.repair(live, winner, &lost));
        let mut rows = vec![dmodc, random];
        rows.extend(variants);
        rows.push(relieved);
        rows.extend(repaired);
        Ok(rows)
    }

    /// Returns the figures of some tables; `before` are those that they replace.
    fn judge(
        &self,
        live: Live<'_>,
        tables: &ForwardingTables,
        before: &ForwardingTables,
        seed: u64,
    ) -> Figures {
        let ranking = self.routing.ranking(live);
        let traffic = Traffic::new(live, &ranking, self.routing.orders(), tables);
        let (sp, rp) = (traffic.shifts(None), traffic.permutations(100, seed));
        let a2a = traffic.all_to_all();
        Figures {
            sp: sp.mean(),
            rp: rp.mean(),
            a2a: a2a.max() as f64,
            sp_bound: sp.mean_bound(),
            rp_bound: rp.mean_bound(),
            a2a_bound: a2a.bound as f64,
            moved: tables.differing(before) as f64 / tables.entry_count() as f64 * 100.0,
        }
    }

    /// Returns the figures of one trial for all rows, in the order of [`VariantFabric::names`].
    pub(crate) fn figures(&self, level: FaultLevel, seed: u64) -> Outcome<Vec<Figures>> {
        let dead = self.faults(level, seed)?;
        let live = Live::new(&self.whole.fabric, &dead);
        let rows = self.rows(&dead, seed)?;
        let judged = rows.iter().zip(&self.before);
        Ok(judged.map(|(tables, before)| self.judge(live, tables, before, seed)).collect())
    }

    /// Returns the time of a re-route by [`Stable`], and of the repair pass after it, the best of three; `None` if the
    /// repair pass is not measured.
    pub(crate) fn times(&self, level: FaultLevel) -> Outcome<Option<(Duration, Duration)>> {
        if !self.has_repair {
            return Ok(None);
        }
        let dead = self.faults(level, 0)?;
        let live = Live::new(&self.whole.fabric, &dead);
        let (variants, lost) = self.tables(live)?;
        let mut best = (Duration::MAX, Duration::MAX);
        for _ in 0..3 {
            let start = Instant::now();
            self.routing.route(live, &self.stable)?;
            best.0 = best.0.min(start.elapsed());
            let start = Instant::now();
            self.repair(live, &variants[ENGINE], &lost);
            best.1 = best.1.min(start.elapsed());
        }
        Ok(Some(best))
    }
}
