//! `dmodc analyze`: congestion risk of tables, pattern by pattern.

mod jobs;
mod rates;
mod report;
mod words;

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::{LostPair, Traffic};
use dmodc::judge::{self, Delivery};
use dmodc::{ForwardingTables, Live, NodeIndex, Orders, Ranking, Routing, RoutingOptions};
use dmodc_formats::hosts::read_hosts;
use dmodc_formats::lft::Lft;
use dmodc_study::analysis::{Finding, Pattern, PatternFlows, find};
use dmodc_study::report as page;
use serde_json::Value;

use self::jobs::JobContext;
use self::rates::AnalysisRates;
use super::check::{mismatches, unmatched};
use crate::args::AnalyzeArgs;
use crate::input::{HealthyFabric, OrderChoice};
use crate::names::{NodeNames, NodePair};
use crate::verdict::HintContext;
use crate::{Answer, input, output, source, table_file};

/// The results of an analysis.
pub(super) struct Analysis<'a> {
    live: Live<'a>,
    ranking: &'a Ranking,
    traffic: &'a Traffic<'a>,
    findings: Vec<Finding>,
    /// The fair rates of all patterns, if they were asked for.
    rates: Option<AnalysisRates>,
    /// The jobs in words, and as JSON if there is a list of jobs.
    jobs_text: String,
    jobs: Option<Value>,
    /// How many node pairs are delivered.
    delivery: Delivery,
    /// The first pairs that are not delivered.
    lost: Vec<LostPair>,
    /// Mismatches between tables and fabric, in words.
    mismatches: String,
    /// What would help if pairs are not delivered.
    hint: String,
    unmatched: Value,
    seed: u64,
    elapsed: Duration,
}

pub(super) fn run(args: &AnalyzeArgs) -> Result<Answer> {
    let job_file = args.nodes.as_deref();
    let inputs = [args.fabric.fabric.as_path(), args.tables.as_path()].into_iter();
    let inputs = inputs.chain(job_file).chain(args.jobs.as_deref());
    source::only_one_from_stdin(inputs)?;
    let fabric = input::fabric(&args.fabric)?;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let whole = HealthyFabric::new(fabric);
    let live = whole.live();
    let dump = table_file::tables(&args.tables, live.fabric, &args.fabric)?;
    table_file::check_fabric(&args.tables, &dump, live.fabric)?;
    let OrderChoice { destinations, switches, .. } = input::order(&args.order)?;
    let routing =
        Routing::new(live, &RoutingOptions { leaves, destinations, switches, switch_lids: true });
    let ready = routing.preprocess(live);
    let (ranking, orders) = (&ready.ranking, routing.orders());
    let tables = Lft::tables(&[&dump], live.fabric)?.remove(0);
    let start = Instant::now();
    let names = NodeNames::new(live.fabric);
    let traffic = match &args.nodes {
        None => Traffic::new(live, ranking, orders, &tables),
        Some(path) => {
            let nodes = match args.listed_order {
                true => listed(path, &names)?,
                false => job(path, &names, orders)?,
            };
            Traffic::among(live, ranking, orders, &tables, nodes)
        }
    };
    let patterns = match (&args.patterns, &args.jobs) {
        (Some(patterns), _) => patterns.clone(),
        (None, Some(_)) => Vec::new(),
        (None, None) => default_patterns(),
    };
    let flows: Vec<PatternFlows> = patterns
        .iter()
        .map(|pattern| flows(pattern, live, &names, &traffic))
        .collect::<Result<_>>()?;
    let fair = args.rates.then(|| FairRates::new(live.fabric, &traffic));
    // Rates come first, because a pattern may have too many flows for them.
    let are_asked_for = args.patterns.is_some();
    let rates = fair
        .as_ref()
        .map(|fair| AnalysisRates::new(fair, &flows, args.seed, are_asked_for))
        .transpose()?;
    let findings: Vec<Finding> =
        flows.iter().map(|flows| find(&traffic, flows, args.seed)).collect();
    let context = JobContext { live, names: &names, orders, traffic: &traffic };
    let jobs =
        args.jobs.as_ref().map(|path| context.find(path, fair.as_ref(), args.seed)).transpose()?;
    let (delivery, lost) = delivery(&traffic, live, &tables, &findings);
    let (elapsed, seed) = (start.elapsed(), args.seed);
    let dumps = [dump];
    let coverage = match delivery.is_complete() {
        true => None,
        false => dmodc::validity(live, &ready, routing.columns()).ok(),
    };
    let situation = HintContext {
        live,
        ranking,
        leaves: &args.leaves,
        delivery,
        coverage: coverage.as_ref(),
        dumps: &dumps,
    };
    let analysis = Analysis {
        live,
        ranking,
        traffic: &traffic,
        findings,
        rates,
        jobs_text: jobs.as_ref().map(|jobs| context.text(jobs)).unwrap_or_default(),
        jobs: jobs.map(|jobs| context.json(&jobs)),
        delivery,
        lost,
        mismatches: mismatches(live, &dumps, [args.tables.as_path()].into_iter()),
        hint: situation.hint(),
        unmatched: unmatched(&dumps),
        seed,
        elapsed,
    };
    write(args, &analysis)?;
    Ok(analysis.delivery.is_complete().into())
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

/// Writes the outputs that the arguments ask for.
fn write(args: &AnalyzeArgs, analysis: &Analysis<'_>) -> Result<()> {
    let to = |path: &Option<std::path::PathBuf>, text: &dyn Fn() -> Result<String>| -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let text = text()?;
        output::to(Some(path), |out| Ok(out.write_all(text.as_bytes())?))
    };
    to(&args.csv, &|| Ok(report::csv(analysis)))?;
    to(&args.svg, &|| report::svg(analysis))?;
    to(&args.html, &|| {
        let (fabric, tables) = (source::name(&args.fabric.fabric), source::name(&args.tables));
        Ok(page::html(&report::page(analysis, &fabric, &tables)))
    })?;
    match args.json {
        true => output::print(&report::json(analysis)),
        false => output::print(&words::text(analysis)),
    }
}

/// Returns the nodes of a job in destination order, each once.
fn job(path: &Path, names: &NodeNames<'_>, orders: &Orders) -> Result<Vec<NodeIndex>> {
    let mut nodes = Vec::new();
    for named in source::read_list(path, read_hosts)? {
        nodes.extend(names.meant(path, &named)?);
    }
    in_destination_order(&mut nodes, orders);
    Ok(nodes)
}

/// Sorts nodes in destination order, and keeps each once.
fn in_destination_order(nodes: &mut Vec<NodeIndex>, orders: &Orders) {
    nodes.sort_by_key(|&n| (!orders.node_number(n).on_leaf, orders.node_number(n).number, n));
    nodes.dedup();
}

/// Returns the nodes of a job in the order of the list, each once. Of hosts with several rails, the first nodes of all
/// hosts come first, then the second ones, and so on.
fn listed(path: &Path, names: &NodeNames<'_>) -> Result<Vec<NodeIndex>> {
    let mut rails: Vec<Vec<NodeIndex>> = Vec::new();
    let mut seen = HashSet::new();
    for named in source::read_list(path, read_hosts)? {
        let nodes = names.meant(path, &named)?;
        for (rail, n) in nodes.into_iter().filter(|&n| seen.insert(n)).enumerate() {
            if rails.len() == rail {
                rails.push(Vec::new());
            }
            rails[rail].push(n);
        }
    }
    Ok(rails.concat())
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
