//! What is asked for: engine, orders, leaves. The fields are those of `dmodc._request.Routing`.

use std::path::PathBuf;
use std::sync::Arc;

use dmodc_study::answers::input::{LeafRequest, OrderRequest};
use dmodc_study::answers::route_state::{RoutingRequest, WholeFabric};
use dmodc_study::engine::{EngineName, OwnEngine};
use pyo3::prelude::*;

use crate::engine::{Engine, PythonEngine};
use crate::errors;
use crate::fabric::Fabric;
use crate::work::Going;

/// An engine: by its name, or one that is a Python function.
#[derive(FromPyObject)]
pub(crate) enum EngineArgument {
    Named(String),
    Own(Py<Engine>),
}

/// How a fabric is routed.
#[derive(FromPyObject)]
pub(crate) struct Routing {
    engine: EngineArgument,
    seed: u64,
    reference: Option<Py<Fabric>>,
    roots: Option<PathBuf>,
    leaf_min_nodes: Option<usize>,
    leaf_name: Option<String>,
    exclude: Option<String>,
    destination_order: String,
    switch_order: String,
    orders: Option<PathBuf>,
}

/// The same, ready for another thread.
pub(crate) struct Asked {
    request: RoutingRequest,
    own: Option<Arc<PythonEngine>>,
    pub(crate) reference: Option<WholeFabric>,
}

impl Asked {
    /// Returns the request. An engine of Python stops when the work does.
    pub(crate) fn request(&self, going: &Going) -> RoutingRequest {
        let mut request = self.request.clone();
        if let Some(own) = &self.own {
            request.engine = EngineName::Own(OwnEngine(Arc::new(own.with(going.clone()))));
        }
        request
    }
}

impl Routing {
    /// Checks what is asked for.
    pub(crate) fn asked(self, py: Python<'_>) -> PyResult<Asked> {
        let (engine, own) = match self.engine {
            EngineArgument::Own(engine) => (EngineName::Dmodc, Some(engine.get().engine(py))),
            EngineArgument::Named(name) => {
                let name = name.parse();
                (name.map_err(|why: String| errors::make(py, "InputError", (why,)))?, None)
            }
        };
        let leaves = LeafRequest {
            roots: self.roots,
            min_nodes: self.leaf_min_nodes,
            name: self.leaf_name,
            exclude: self.exclude,
        };
        let order = OrderRequest {
            destinations: self.destination_order,
            switches: self.switch_order,
            saved: self.orders,
        };
        let reference = self.reference.map(|fabric| fabric.get().whole());
        let request = RoutingRequest { leaves, engine, seed: self.seed, order };
        Ok(Asked { request, own, reference })
    }
}
