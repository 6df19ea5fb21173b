//! What follows from a fabric and its engine: tables, `whatif` and `order`, as the JSON of these commands.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use dmodc::advise::{FaultScope, Placement, Present};
use dmodc::{ForwardingTables, Rails};
use dmodc_formats::hosts::ListedName;
use dmodc_study::answers::order::{HostList, ListedHosts, measure};
use dmodc_study::answers::route_state::{Numbers, RouteParts, RouteState, explain};
use dmodc_study::answers::whatif::{WhatifReport, json, series_patterns};
use dmodc_study::engine::EngineName;
use dmodc_study::study::Shard;
use dmodc_study::what_if::{DoubleFaults, FaultSurvey, Faults, groups};
use pyo3::prelude::*;

use crate::fabric::Fabric;
use crate::judgement::patterns;
use crate::request::{Asked, Routing};
use crate::tables::{self, Tables};
use crate::work::{Going, run};

/// Which faults are tried. The fields are those of `dmodc._request.Survey`.
#[derive(FromPyObject)]
pub(crate) struct Survey {
    parts: String,
    any_switch: bool,
    /// The number of random pairs; -1 for all pairs.
    double: Option<i64>,
    patterns: Option<Vec<String>>,
    seed: u64,
}

fn what_if(
    fabric: &dmodc::Fabric,
    asked: &Asked,
    survey: &Survey,
    going: &Going,
) -> Result<String> {
    let request = asked.request(going);
    ensure!(
        request.engine != EngineName::Dmodk,
        "the engine dmodk routes only regular fat trees (PGFTs) without faults, so it cannot try any fault; use --engine dmodc"
    );
    let reference = asked.reference.clone();
    let state = RouteState::new(&request, Numbers::Once, fabric.clone(), reference)?;
    let router = state.into_router()?;
    let names = survey.patterns.as_ref().map(|all| patterns(all)).transpose()?;
    let nodes = router.fabric().nodes().len();
    let (patterns, series) = series_patterns(names.as_deref(), nodes, survey.seed)?;
    let start = Instant::now();
    let present = Present::new(&router, &series);
    let scope = FaultScope {
        cables: survey.parts != "switches",
        switches: survey.parts != "cables",
        leaves: survey.any_switch && survey.parts != "cables",
    };
    let doubles = match survey.double {
        None => DoubleFaults::None,
        Some(-1) => DoubleFaults::All,
        Some(count) => DoubleFaults::Sample { count: count as usize, seed: survey.seed },
    };
    let faults = Faults::new(present.single_faults(scope), doubles)?;
    let engine = request.engine.to_string();
    let run = FaultSurvey::new(&present, &faults, &engine);
    let goes_on = |_| match going.goes_on() {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let outcomes = run.run(Shard::WHOLE, None, goes_on)?;
    let ranking = &router.preprocessing().ranking;
    Ok(json(&WhatifReport {
        fabric: router.fabric(),
        present: &present,
        engine,
        patterns: &patterns,
        groups: groups(router.fabric(), ranking, &faults, &outcomes),
        faults: &faults,
        outcomes: &outcomes,
        shard: Shard::WHOLE,
        device: None,
        elapsed: start.elapsed(),
    }))
}

/// Which hosts are put into order. The fields are those of `dmodc._request.Hosts`.
#[derive(FromPyObject)]
pub(crate) struct Hosts {
    /// The names. Without them and without a file, all hosts are meant.
    hosts: Option<Vec<String>>,
    file: Option<PathBuf>,
    choose: Option<u32>,
    skip_unknown: bool,
}

fn order(
    parts: &RouteParts,
    forwarding: &ForwardingTables,
    name: String,
    asked: Hosts,
) -> Result<String> {
    let live = parts.live();
    let ranking = parts.routing.ranking(live);
    let placement = Placement::new(live, &ranking, parts.routing.orders(), forwarding);
    let rails = Rails::new(live);
    let listed = match (asked.hosts, asked.file) {
        (None, None) => ListedHosts::All,
        (None, Some(path)) => ListedHosts::read(&path)?,
        (Some(hosts), _) => ListedHosts::Listed {
            name: "the list".into(),
            hosts: hosts
                .into_iter()
                .zip(1..)
                .map(|(name, line)| ListedName { name, line })
                .collect(),
        },
    };
    let list = HostList::new(listed, asked.skip_unknown, live, &rails, &placement)?;
    Ok(measure(list, &rails, &placement, asked.choose, name)?.json())
}

/// Routes a fabric.
#[pyfunction]
pub(crate) fn route(py: Python<'_>, fabric: &Fabric, routing: Routing) -> PyResult<Tables> {
    let (fabric, asked) = (fabric.fabric.clone(), routing.asked(py)?);
    run(py, move |going| tables::route(&fabric, &asked, going))
}

/// Returns what `dmodc whatif --json` prints.
#[pyfunction]
pub(crate) fn whatif(
    py: Python<'_>,
    fabric: &Fabric,
    routing: Routing,
    survey: Survey,
) -> PyResult<String> {
    let (fabric, asked) = (fabric.fabric.clone(), routing.asked(py)?);
    run(py, move |going| what_if(&fabric, &asked, &survey, going))
}

/// Returns what `dmodc order --json` prints without a file of tables.
#[pyfunction]
pub(crate) fn order_hosts(
    py: Python<'_>,
    fabric: &Fabric,
    routing: Routing,
    hosts: Hosts,
) -> PyResult<String> {
    let (fabric, asked) = (fabric.fabric.clone(), routing.asked(py)?);
    run(py, move |going| {
        let request = asked.request(going);
        let state = RouteState::new(&request, Numbers::Once, (*fabric).clone(), asked.reference)?;
        let parts = state.into_parts();
        let live = parts.live();
        let engine =
            parts.engine.as_ref().context("an engine of OpenSM runs only inside OpenSM")?;
        let mut tables = parts.routing.empty_tables(live)?;
        let ready = parts.routing.preprocess(live);
        engine.route(live, &ready, &mut tables).map_err(|error| explain(error, live))?;
        let name = format!("the engine {}", engine.name());
        order(&parts, &tables, name, hosts)
    })
}

/// Returns what `dmodc order --json` prints with a file of these tables.
#[pyfunction]
pub(crate) fn order_by_tables(py: Python<'_>, tables: &Tables, hosts: Hosts) -> PyResult<String> {
    let judged = Arc::clone(&tables.judged);
    run(py, move |_| order(&judged.parts, &judged.tables, judged.name.clone(), hosts))
}
