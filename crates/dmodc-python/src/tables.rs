//! The class `Tables`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use dmodc::relief::{Thoroughness, relieve};
use dmodc::{Degradation, ForwardingTables, Live, NO_ROUTE, SwitchIndex};
use dmodc_formats::lft::Lft;
use dmodc_study::answers::check::unmatched;
use dmodc_study::answers::input::{LeafRequest, OrderRequest};
use dmodc_study::answers::route_state::{Numbers, RouteParts, RouteState, explain};
use dmodc_study::answers::{input, source, table_file, text};
use dmodc_study::engine::EngineName;
use pyo3::prelude::*;
use serde_json::Value;

use crate::fabric::Fabric;
use crate::request::Routing;
use crate::view::View;
use crate::work::{Going, run};

/// Tables, and everything that they are judged by. It does not change.
pub(crate) struct Judged {
    /// The fabric that they are for.
    pub(crate) present: Arc<dmodc::Fabric>,
    /// The fabric that their rows and columns are of: with a reference, it has absent parts, too.
    pub(crate) parts: RouteParts,
    pub(crate) tables: ForwardingTables,
    /// Whether the columns are already those of a file that was read.
    pub(crate) are_read: bool,
    /// What they are, in words.
    pub(crate) name: String,
    pub(crate) leaves: LeafRequest,
    pub(crate) order: OrderRequest,
    /// The numbers of parts that do not belong to the fabric.
    pub(crate) unmatched: Value,
}

/// Forwarding tables.
#[pyclass(frozen, module = "dmodc._native")]
pub(crate) struct Tables {
    pub(crate) judged: Arc<Judged>,
    #[pyo3(get)]
    engine: Option<String>,
    #[pyo3(get)]
    problems: Vec<String>,
}

impl Tables {
    pub(crate) fn new(judged: Judged, engine: Option<String>) -> Self {
        Tables { judged: Arc::new(judged), engine, problems: Vec::new() }
    }
}

/// Routes a fabric as `dmodc route` does.
pub(crate) fn route(
    present: &Arc<dmodc::Fabric>,
    asked: &crate::request::Asked,
    going: &Going,
) -> anyhow::Result<Tables> {
    let request = asked.request(going);
    let fabric = (**present).clone();
    let state = RouteState::new(&request, Numbers::Once, fabric, asked.reference.clone())?;
    let parts = state.into_parts();
    let live = parts.live();
    let engine = parts.engine.as_ref().context(
        "an engine of OpenSM runs only inside OpenSM; write its tables with the command 'dmodc route' and read them",
    )?;
    let mut tables = parts.routing.empty_tables(live)?;
    let ready = parts.routing.preprocess(live);
    let router = engine.before_relief().unwrap_or(engine);
    router.route(live, &ready, &mut tables).map_err(|error| explain(error, live))?;
    if engine.before_relief().is_some() {
        relieve(live, &ready, &mut tables, Thoroughness::Full)
            .map_err(|error| explain(error.into(), live))?;
    }
    let name = engine.name().to_string();
    let judged = Judged {
        present: present.clone(),
        tables,
        are_read: false,
        name: format!("the engine {name}"),
        leaves: request.leaves,
        order: request.order,
        unmatched: nothing_unmatched(),
        parts,
    };
    Ok(Tables::new(judged, Some(name)))
}

/// Returns that everything belongs to the fabric.
pub(crate) fn nothing_unmatched() -> Value {
    unmatched(&[Lft::default()])
}

/// Reads tables, and matches them with a fabric. Leaves and orders are those of the routing.
#[pyfunction]
pub(crate) fn read_tables(
    py: Python<'_>,
    path: PathBuf,
    fabric: &Fabric,
    routing: Routing,
    strict: bool,
) -> PyResult<Tables> {
    let (present, asked) = (fabric.fabric.clone(), routing.asked(py)?);
    run(py, move |going| {
        let request = dmodc_study::answers::route_state::RoutingRequest {
            engine: EngineName::Dmodc,
            ..asked.request(going)
        };
        let dump = table_file::tables(&path, &present, strict)?;
        table_file::check_fabric(&path, &dump, &present)?;
        let (fabric, leaves) = input::leaf_rule(&request.leaves, (*present).clone())?;
        let choice = input::order(&request.order)?;
        let absent = Degradation::none(&fabric);
        let options = dmodc::RoutingOptions {
            leaves,
            destinations: choice.destinations,
            switches: choice.switches,
            switch_lids: true,
        };
        let routing = dmodc::Routing::new(Live::new(&fabric, &absent), &options);
        let beyond = fabric.infiniband_lids().err();
        let parts = RouteParts { fabric: Arc::new(fabric), absent, routing, engine: None, beyond };
        let tables = Lft::tables(&[&dump], &parts.fabric)?.remove(0);
        let problems = text::dirt(&dump.dirt);
        let judged = Judged {
            present,
            parts,
            tables,
            are_read: true,
            name: source::name(&path),
            leaves: request.leaves,
            order: request.order,
            unmatched: unmatched(&[dump]),
        };
        Ok(Tables { judged: Arc::new(judged), engine: None, problems })
    })
}

impl Judged {
    fn switches(&self) -> Vec<SwitchIndex> {
        self.parts.live().switches().collect()
    }

    /// Returns the columns of live destinations, by LID.
    fn columns(&self) -> Vec<usize> {
        let mut columns = self.tables.columns().by_lid();
        let live = self.parts.live();
        columns.retain(|&c| self.tables.columns().destinations()[c].end.is_alive(live));
        columns
    }
}

#[pymethods]
impl Tables {
    /// Returns the number of entries with a route, and of all entries.
    fn counts(&self) -> (usize, usize) {
        (self.judged.tables.routed(), self.judged.tables.entry_count())
    }

    /// Returns what the tables are, in words.
    fn name(&self) -> String {
        self.judged.name.clone()
    }

    /// Returns the digest of the entries.
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        let judged = self.judged.clone();
        run(py, move |_| Ok(judged.tables.digest().to_string()))
    }

    /// Writes the tables: as an array if the name ends in `.npy`, otherwise as a dump.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let judged = self.judged.clone();
        run(py, move |_| {
            let comments = table_file::comments(judged.parts.beyond);
            table_file::write(Some(&path), judged.parts.live(), &judged.tables, &comments)
        })
    }

    /// Returns a view of every tile.
    fn tiles(&self) -> Vec<View> {
        View::of_tiles(&self.judged, |judged| &judged.tables)
    }

    /// Returns the labels of tiles: the GUID of each row; the LID and the GUID of each column.
    fn tile_labels(&self) -> (Vec<String>, Vec<u32>, Vec<String>) {
        let fabric = &*self.judged.parts.fabric;
        let destinations = self.judged.tables.columns().destinations();
        (
            fabric.switches().iter().map(|switch| switch.guid.to_string()).collect(),
            destinations.iter().map(|d| d.lid.0).collect(),
            destinations.iter().map(|d| d.end.guid(fabric).to_string()).collect(),
        )
    }

    /// Returns a copy of the tables in the layout of a `.npy` file.
    fn array(&self, py: Python<'_>) -> PyResult<View> {
        let judged = self.judged.clone();
        run(py, move |_| {
            let (switches, columns) = (judged.switches(), judged.columns());
            let mut array = vec![NO_ROUTE; switches.len() * columns.len()];
            let rows = array.chunks_mut(columns.len().max(1)).zip(&switches);
            dmodc::parallel::for_each(rows.collect::<Vec<_>>(), |(row, &s)| {
                for (entry, &column) in row.iter_mut().zip(&columns) {
                    *entry = judged.tables.port(s, column).map_or(NO_ROUTE, |port| port.0);
                }
            });
            Ok(View::of(array, vec![switches.len(), columns.len()]))
        })
    }

    /// Returns the labels of [`array`](Self::array): the GUID of each row; the LID and the GUID of each column.
    fn array_labels(&self) -> (Vec<String>, Vec<u32>, Vec<String>) {
        let judged = &self.judged;
        let fabric = &*judged.parts.fabric;
        let destinations = judged.tables.columns().destinations();
        let columns = judged.columns();
        let rows = judged.switches().into_iter().map(|s| fabric.switch(s).guid.to_string());
        let lids = columns.iter().map(|&c| destinations[c].lid.0).collect();
        let guids = columns.iter().map(|&c| destinations[c].end.guid(fabric).to_string());
        (rows.collect(), lids, guids.collect())
    }
}
