//! Congestion risk of tables, pattern by pattern.

mod jobs;
mod json;
mod rates;

pub use jobs::JobContext;
pub use json::{BARS, json};
pub use rates::AnalysisRates;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::{LostPair, Traffic};
use dmodc::judge::{self, Delivery};
use dmodc::{ForwardingTables, Live, NodeIndex, Orders, Ranking};
use serde_json::Value;

use super::names::{NodeNames, NodePair};
use super::source;
use crate::analysis::{Finding, JobsFinding, Pattern, PatternFlows, find, percentile};

/// The tables that are analysed, and their traffic.
#[derive(Clone, Copy)]
pub struct AnalysisGround<'a> {
    /// The fabric.
    pub live: Live<'a>,
    /// Its ranks.
    pub ranking: &'a Ranking,
    /// The order of its destinations.
    pub orders: &'a Orders,
    /// The tables.
    pub tables: &'a ForwardingTables,
    /// Nodes by name.
    pub names: &'a NodeNames<'a>,
    /// The traffic of all nodes, or of some.
    pub traffic: &'a Traffic<'a>,
}

/// What is asked about tables.
#[derive(Clone, Debug)]
pub struct AnalysisRequest {
    /// The patterns; `None` for the usual ones, or for none if there are jobs.
    pub patterns: Option<Vec<Pattern>>,
    /// A file with jobs.
    pub jobs: Option<PathBuf>,
    /// Whether fair rates are computed, too.
    pub rates: bool,
    /// The seed of random patterns.
    pub seed: u64,
}

/// The results of an analysis.
pub struct Analysis<'a> {
    /// The fabric.
    pub live: Live<'a>,
    /// Its ranks.
    pub ranking: &'a Ranking,
    /// The traffic.
    pub traffic: &'a Traffic<'a>,
    /// The results of the patterns.
    pub findings: Vec<Finding>,
    /// The fair rates of all patterns, if they were asked for.
    pub rates: Option<AnalysisRates>,
    /// The jobs, if there is a list of them.
    pub jobs: Option<JobsFinding>,
    /// The same as JSON.
    pub jobs_json: Option<Value>,
    /// How many node pairs are delivered.
    pub delivery: Delivery,
    /// The first pairs that are not delivered.
    pub lost: Vec<LostPair>,
    /// The numbers of mismatches between tables and fabric.
    pub unmatched: Value,
    /// The seed of random patterns.
    pub seed: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// The work was stopped before its end, because that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Stopped;

impl<'a> Analysis<'a> {
    /// Analyses tables. Before each pattern `goes_on` is asked whether the work goes on.
    ///
    /// # Errors
    /// If a pattern or a job names something that there is not, has too many flows for rates, or the work does not go on.
    pub fn new(
        ground: AnalysisGround<'a>,
        request: &AnalysisRequest,
        unmatched: Value,
        start: Instant,
        goes_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self> {
        let AnalysisGround { live, ranking, orders, tables, names, traffic } = ground;
        let seed = request.seed;
        let patterns = match (&request.patterns, &request.jobs) {
            (Some(patterns), _) => patterns.clone(),
            (None, Some(_)) => Vec::new(),
            (None, None) => default_patterns(),
        };
        let flows: Vec<PatternFlows> = patterns
            .iter()
            .map(|pattern| flows(pattern, live, names, traffic))
            .collect::<Result<_>>()?;
        let fair = request.rates.then(|| FairRates::new(live.fabric, traffic));
        // Rates come first, because a pattern may have too many flows for them.
        let are_asked_for = request.patterns.is_some();
        let rates = fair
            .as_ref()
            .map(|fair| AnalysisRates::new(fair, &flows, seed, are_asked_for))
            .transpose()?;
        let mut findings: Vec<Finding> = Vec::new();
        for flows in &flows {
            if !goes_on() {
                bail!(Stopped);
            }
            findings.push(find(traffic, flows, seed));
        }
        let context = JobContext { live, names, orders, traffic };
        let jobs = request.jobs.as_ref();
        let jobs = jobs.map(|path| context.find(path, fair.as_ref(), seed)).transpose()?;
        let (delivery, lost) = delivery(traffic, live, tables, &findings);
        Ok(Analysis {
            live,
            ranking,
            traffic,
            findings,
            rates,
            jobs_json: jobs.as_ref().map(|jobs| context.json(jobs)),
            jobs,
            delivery,
            lost,
            unmatched,
            seed,
            elapsed: start.elapsed(),
        })
    }
}

/// Returns the patterns of an analysis that asks for none.
fn default_patterns() -> Vec<Pattern> {
    vec![Pattern::AllToAll, Pattern::Permutations(1000), Pattern::Shifts(None)]
}

/// Returns how many pairs of nodes are delivered, and the first of the others; this is reported for all patterns. Loads
/// are counted for the first LID of each node only, but a pair counts as delivered only if all LIDs are.
fn delivery(
    traffic: &Traffic<'_>,
    live: Live<'_>,
    tables: &ForwardingTables,
    findings: &[Finding],
) -> (Delivery, Vec<LostPair>) {
    if tables.columns().destinations().iter().any(|d| d.k > 0) {
        let (delivery, lost) = judge::delivery(live, tables, traffic.nodes());
        return (delivery, lost.into_iter().map(|(from, to)| LostPair { from, to }).collect());
    }
    let all = findings.iter().find(|finding| finding.pattern == Pattern::AllToAll);
    let (undelivered, lost) = match all {
        Some(all) => (all.undelivered, all.lost.clone()),
        None => {
            let all = traffic.all_to_all();
            (all.undelivered, all.lost)
        }
    };
    (Delivery::among(live, traffic.nodes().iter().copied(), undelivered), lost)
}

/// Sorts nodes in destination order, and keeps each once.
pub fn in_destination_order(nodes: &mut Vec<NodeIndex>, orders: &Orders) {
    nodes.sort_by_key(|&n| (!orders.node_number(n).on_leaf, orders.node_number(n).number, n));
    nodes.dedup();
}

/// The distribution of a series of numbers.
#[derive(Clone, Copy, Debug)]
pub struct SeriesSummary {
    /// The least.
    pub min: u32,
    /// The median.
    pub median: u32,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub max: u32,
}

impl SeriesSummary {
    /// Takes the distribution of these numbers.
    pub fn of(values: &[u32]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let sum: u64 = sorted.iter().map(|&value| u64::from(value)).sum();
        SeriesSummary {
            min: sorted.first().copied().unwrap_or(0),
            median: sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0),
            mean: sum as f64 / sorted.len().max(1) as f64,
            max: sorted.last().copied().unwrap_or(0),
        }
    }
}

/// The hosts of a series of patterns.
#[derive(Clone, Debug)]
pub struct WorstHosts {
    /// The mean of each host over all patterns.
    pub means: Vec<f64>,
    /// The hosts, the worst first.
    pub order: Vec<usize>,
}

/// Returns the means of all hosts, and their order.
pub fn worst_hosts(finding: &Finding) -> WorstHosts {
    let patterns = finding.maxima.len().max(1) as f64;
    let means: Vec<f64> = finding.by_host.iter().map(|host| host.sum as f64 / patterns).collect();
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|&a, &b| means[b].total_cmp(&means[a]).then(a.cmp(&b)));
    WorstHosts { means, order }
}

/// Returns percentiles of the loads of ports, by name.
pub fn percentiles(finding: &Finding) -> Vec<(String, u64)> {
    let mut sorted = finding.by_port.clone();
    sorted.sort_unstable();
    let all = [0.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0];
    all.iter().map(|&p| (p.to_string(), percentile(&sorted, p))).collect()
}

/// Returns a pattern with its names resolved.
fn flows(
    pattern: &Pattern,
    live: Live<'_>,
    names: &NodeNames<'_>,
    traffic: &Traffic<'_>,
) -> Result<PatternFlows> {
    let mut positions = vec![None; names.count()];
    for (position, n) in traffic.nodes().iter().enumerate() {
        positions[n.at()] = Some(position as u32);
    }
    let position = |n: NodeIndex, name: &str| {
        positions[n.at()].ok_or_else(|| {
            anyhow!("'{name}' is not in the list of --nodes; add it there, or leave it out here")
        })
    };
    let all = 0..traffic.nodes().len() as u32;
    let others = |one: &[u32]| -> Vec<u32> { all.clone().filter(|n| !one.contains(n)).collect() };
    let one = |name: &str| -> Result<Vec<u32>> {
        names.find(name)?.into_iter().map(|n| position(n, name)).collect()
    };
    let pairs = match pattern {
        Pattern::OneToAll(name) => {
            let one = one(name)?;
            let to = others(&one);
            one.iter().flat_map(|&from| to.iter().map(move |&to| (from, to))).collect()
        }
        Pattern::AllToOne(name) => {
            let one = one(name)?;
            let from = others(&one);
            one.iter().flat_map(|&to| from.iter().map(move |&from| (from, to))).collect()
        }
        Pattern::File(path) => {
            let path = Path::new(path);
            let mut pairs = Vec::new();
            for NodePair { from, to, listed } in names.pairs(path)? {
                let place = || format!("{}:{}", source::name(path), listed.0.line);
                let from = position(from, &listed.0.name).with_context(place)?;
                pairs.push((from, position(to, &listed.1.name).with_context(place)?));
            }
            pairs
        }
        _ => return Ok(PatternFlows::new(live, traffic.nodes(), pattern)?),
    };
    Ok(PatternFlows::of_pairs(pattern, pairs))
}
