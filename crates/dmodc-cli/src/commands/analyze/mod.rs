//! `dmodc analyze`: congestion risk of tables, pattern by pattern.

mod report;
mod words;

use std::collections::HashSet;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use dmodc::judge::risk::Traffic;
use dmodc::{NodeIndex, Orders, Routing, RoutingOptions};
use dmodc_formats::hosts::read_hosts;
use dmodc_formats::lft::Lft;
use dmodc_study::answers::analyze::{
    Analysis, AnalysisGround, AnalysisRequest, JobContext, in_destination_order, json,
};
use dmodc_study::answers::check::unmatched;
use dmodc_study::report as page;

use self::words::Remarks;
use super::check::mismatches;
use crate::args::AnalyzeArgs;
use crate::input::{HealthyFabric, OrderChoice};
use crate::names::NodeNames;
use crate::verdict::HintContext;
use crate::{Answer, input, output, source, table_file};

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
    let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
    let routing = Routing::without_measuring(live, &options);
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
    let request = AnalysisRequest {
        patterns: args.patterns.clone(),
        jobs: args.jobs.clone(),
        rates: args.rates,
        seed: args.seed,
    };
    let ground =
        AnalysisGround { live, ranking, orders, tables: &tables, names: &names, traffic: &traffic };
    let dumps = [dump];
    let analysis = Analysis::new(ground, &request, unmatched(&dumps), start, &|| true)?;
    let coverage = match analysis.delivery.is_complete() {
        true => None,
        false => dmodc::validity(live, &ready, routing.columns()).ok(),
    };
    let situation = HintContext {
        live,
        ranking,
        leaves: &args.leaves,
        delivery: analysis.delivery,
        coverage: coverage.as_ref(),
        dumps: &dumps,
    };
    let context = JobContext { live, names: &names, orders, traffic: &traffic };
    let remarks = Remarks {
        mismatches: mismatches(live, &dumps, [args.tables.as_path()].into_iter()),
        jobs: analysis.jobs.as_ref().map(|jobs| context.text(jobs)).unwrap_or_default(),
        hint: situation.hint(),
    };
    write(args, &analysis, &remarks)?;
    Ok(analysis.delivery.is_complete().into())
}

/// Writes the outputs that the arguments ask for.
fn write(args: &AnalyzeArgs, analysis: &Analysis<'_>, remarks: &Remarks) -> Result<()> {
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
        true => output::print(&json(analysis)),
        false => output::print(&words::text(analysis, remarks)),
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
