//! `drain` and `repair`, as the JSON of these commands.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use dmodc::advise::{Advice, DrainLimits, StatePatterns, drain, repair};
use dmodc::fabric::Part;
use dmodc_study::answers::maintenance::{PartList, drain_json, repair_json};
use dmodc_study::answers::route_state::{Numbers, RouteState, explain};
use pyo3::prelude::*;

use crate::fabric::Fabric;
use crate::request::{Asked, Routing};
use crate::work::{Going, run};

/// The number of random permutations, if they have a limit.
const PERMUTATIONS: usize = 100;

/// What is asked. The fields are those of `dmodc._request.Maintenance`.
#[derive(FromPyObject)]
pub(crate) struct Maintenance {
    parts: Vec<String>,
    keep: String,
    shifts: usize,
    states: usize,
    steps: Option<usize>,
}

/// Returns the parts, each once.
fn listed(router: &dmodc::Router, names: &[String]) -> Result<PartList> {
    let (live, mut list, mut known) = (router.live(), PartList::default(), HashSet::new());
    for name in names {
        let part = live.fabric.find_part(name)?;
        let works = match part {
            Part::Switch(s) => live.switch(s),
            Part::Cable(c) => live.cable(c),
        };
        ensure!(works, "'{name}' is not in service now: only the reference has it");
        match known.insert(part) {
            true => list.parts.push(part),
            false => list.repeated += 1,
        }
    }
    ensure!(!list.parts.is_empty(), "the list names no part");
    Ok(list)
}

/// Ends work that does not go on. There is no error in it, so nothing is printed.
fn stop_unless(going: &Going) {
    if !going.goes_on() {
        resume_unwind(Box::new("interrupted"));
    }
}

fn drained(
    fabric: &dmodc::Fabric,
    asked: &Asked,
    what: &Maintenance,
    going: &Going,
) -> Result<String> {
    let limits: DrainLimits = what.keep.parse().map_err(|why| anyhow!("keep: {why}"))?;
    let (request, reference) = (asked.request(going), asked.reference.clone());
    let state = RouteState::new(&request, Numbers::Once, fabric.clone(), reference)?;
    let router = state.into_router()?;
    let list = listed(&router, &what.parts)?;
    let permutations = if limits.rp.is_some() { PERMUTATIONS } else { 0 };
    let advice = Advice {
        patterns: StatePatterns { shifts: what.shifts, permutations, seed: 1 },
        most_states: what.states,
        on_state: &|| stop_unless(going),
    };
    let start = Instant::now();
    let plan = drain(&router, &list.parts, &limits, &advice);
    let plan = plan.map_err(|error| explain(error, router.live()))?;
    Ok(drain_json(router.fabric(), &list, &plan, start.elapsed()))
}

fn repaired(
    fabric: &dmodc::Fabric,
    asked: &Asked,
    what: &Maintenance,
    going: &Going,
) -> Result<String> {
    let whole = asked.reference.clone().context("repair needs the whole fabric as reference")?;
    let (request, name) = (asked.request(going), whole.name.clone());
    let state = RouteState::joined(&request, Numbers::Once, whole, fabric.clone())?;
    let router = state.into_router()?;
    let advice = Advice {
        patterns: StatePatterns { shifts: what.shifts, ..Default::default() },
        on_state: &|| stop_unless(going),
        ..Default::default()
    };
    let start = Instant::now();
    let plan = repair(&router, what.steps.unwrap_or(usize::MAX), &advice);
    let plan = plan.map_err(|error| explain(error, router.live()))?;
    Ok(repair_json(router.fabric(), &plan, &name, start.elapsed()))
}

/// Returns what `dmodc drain --json` prints.
#[pyfunction]
pub(crate) fn drain_parts(
    py: Python<'_>,
    fabric: &Fabric,
    routing: Routing,
    what: Maintenance,
) -> PyResult<String> {
    let (fabric, asked) = (fabric.fabric.clone(), routing.asked(py)?);
    run(py, move |going| drained(&fabric, &asked, &what, going))
}

/// Returns what `dmodc repair --json` prints.
#[pyfunction]
pub(crate) fn repair_parts(
    py: Python<'_>,
    fabric: &Fabric,
    routing: Routing,
    what: Maintenance,
) -> PyResult<String> {
    let (fabric, asked) = (fabric.fabric.clone(), routing.asked(py)?);
    run(py, move |going| repaired(&fabric, &asked, &what, going))
}
