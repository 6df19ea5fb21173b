//! What tables are worth: `check` and `analyze`, as the JSON of these commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use dmodc::judge::risk::Traffic;
use dmodc::{ForwardingTables, NodeIndex, Preprocessing, RoutingOptions, judge};
use dmodc_formats::lft::as_if_read;
use dmodc_study::analysis::Pattern;
use dmodc_study::answers::analyze::{
    Analysis, AnalysisGround, AnalysisRequest, in_destination_order, json,
};
use dmodc_study::answers::check;
use dmodc_study::answers::input::{self, HealthyFabric};
use dmodc_study::answers::names::NodeNames;
use pyo3::prelude::*;

use crate::tables::{Judged, Tables};
use crate::view::View;
use crate::work::{Going, run};

/// Tables with the fabric that they are judged on, as if both came from files.
struct Ground<'a> {
    whole: HealthyFabric,
    routing: dmodc::Routing,
    tables: TablesOf<'a>,
}

/// Tables that need no copy, or a copy with other columns.
enum TablesOf<'a> {
    Same(&'a ForwardingTables),
    Copy(ForwardingTables),
}

impl<'a> Ground<'a> {
    fn new(judged: &'a Judged) -> Result<Self> {
        let (fabric, leaves) = input::leaf_rule(&judged.leaves, (*judged.present).clone())?;
        let whole = HealthyFabric::new(fabric);
        let choice = input::order(&judged.order)?;
        let (destinations, switches) = (choice.destinations, choice.switches);
        let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
        let routing = dmodc::Routing::without_measuring(whole.live(), &options);
        let tables = match judged.are_read {
            true => TablesOf::Same(&judged.tables),
            false => {
                let live = judged.parts.live();
                TablesOf::Copy(as_if_read(live, &judged.tables, &whole.fabric)?)
            }
        };
        Ok(Ground { whole, routing, tables })
    }

    fn tables(&self) -> &ForwardingTables {
        match &self.tables {
            TablesOf::Same(tables) => tables,
            TablesOf::Copy(tables) => tables,
        }
    }

    fn preprocess(&self) -> Preprocessing {
        self.routing.preprocess(self.whole.live())
    }
}

fn check_json(judged: &Judged) -> Result<String> {
    let ground = Ground::new(judged)?;
    let (live, ready) = (ground.whole.live(), ground.preprocess());
    let start = Instant::now();
    let found = judge::check(live, &ready.ranking, ground.routing.orders(), ground.tables());
    let elapsed = start.elapsed();
    // If costs cannot be counted, the rest is reported all the same.
    let coverage = dmodc::validity(live, &ready, ground.routing.columns()).ok();
    Ok(check::json(live.fabric, &found, coverage.as_ref(), &judged.unmatched, elapsed))
}

/// What is asked of an analysis. The fields are those of `dmodc._request.Question`.
#[derive(FromPyObject)]
pub(crate) struct Question {
    patterns: Option<Vec<String>>,
    jobs: Option<PathBuf>,
    nodes: Option<Vec<String>>,
    rates: bool,
    seed: u64,
}

/// The answer to it.
struct AnalysisAnswer {
    json: String,
    /// The directed ports: switch, port, and the switch at the other end.
    ports: Vec<(String, u8, String)>,
    /// The loads of these ports, for each pattern.
    loads: Vec<(String, Vec<u64>)>,
}

fn analysis(judged: &Judged, question: &Question, going: &Going) -> Result<AnalysisAnswer> {
    let request = AnalysisRequest {
        patterns: question.patterns.as_ref().map(|all| patterns(all)).transpose()?,
        jobs: question.jobs.clone(),
        rates: question.rates,
        seed: question.seed,
    };
    let ground = Ground::new(judged)?;
    let (live, ready, tables) = (ground.whole.live(), ground.preprocess(), ground.tables());
    let (ranking, orders) = (&ready.ranking, ground.routing.orders());
    let start = Instant::now();
    let names = NodeNames::new(live.fabric);
    let traffic = match &question.nodes {
        None => Traffic::new(live, ranking, orders, tables),
        Some(list) => {
            let mut nodes: Vec<NodeIndex> = Vec::new();
            for name in list {
                nodes.extend(names.find(name)?);
            }
            in_destination_order(&mut nodes, orders);
            Traffic::among(live, ranking, orders, tables, nodes)
        }
    };
    let ground = AnalysisGround { live, ranking, orders, tables, names: &names, traffic: &traffic };
    let unmatched = judged.unmatched.clone();
    let found = Analysis::new(ground, &request, unmatched, start, &|| going.goes_on())?;
    let guid = |s| live.fabric.switch(s).guid.to_string();
    let ports = traffic.ports().iter().map(|p| (guid(p.switch), p.port.0, guid(p.peer)));
    let json = json(&found);
    let loads = found.findings.into_iter().map(|f| (f.pattern.to_string(), f.by_port));
    Ok(AnalysisAnswer { json, ports: ports.collect(), loads: loads.collect() })
}

/// Returns patterns by their names.
pub(crate) fn patterns(names: &[String]) -> Result<Vec<Pattern>> {
    names.iter().map(|name| Ok(name.parse()?)).collect()
}

/// An analysis as Python gets it: JSON, ports, and loads by pattern.
type AnalysisParts = (String, Vec<(String, u8, String)>, Vec<(String, View)>);

/// Returns what `dmodc check --json` prints.
#[pyfunction]
pub(crate) fn check_tables(py: Python<'_>, tables: &Tables) -> PyResult<String> {
    let judged: Arc<Judged> = tables.judged.clone();
    run(py, move |_| check_json(&judged))
}

/// Returns what `dmodc analyze --json` prints, the directed ports, and their loads.
#[pyfunction]
pub(crate) fn analyze(
    py: Python<'_>,
    tables: &Tables,
    question: Question,
) -> PyResult<AnalysisParts> {
    let judged = tables.judged.clone();
    let answer = run(py, move |going| analysis(&judged, &question, going))?;
    let view = |(pattern, loads): (String, Vec<u64>)| {
        let shape = vec![loads.len()];
        (pattern, View::of(loads, shape))
    };
    Ok((answer.json, answer.ports, answer.loads.into_iter().map(view).collect()))
}
