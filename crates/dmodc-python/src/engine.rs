//! Engines that are Python functions. The function gets the closer sets of one switch and returns a port for each
//! destination. It is called for one switch after the other, in the order of switches, so the tables are always the same.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use dmodc::fabric::Peer;
use dmodc::{
    Coverage, ForwardingTables, Live, NO_ROUTE, PortNumber, Preprocessing, RouteError, SwitchIndex,
    alternative_ports, validity,
};
use pyo3::prelude::*;

use crate::closer_ports::CloserPorts;
use crate::view::View;
use crate::work::{Going, call_python, in_engine};

/// The most ports in closer sets that are kept at a time. More switches than fit take another pass over the targets.
const MOST: usize = 1 << 28;

/// An engine that is a Python function.
#[pyclass(frozen, module = "dmodc._native")]
pub(crate) struct Engine {
    #[pyo3(get)]
    name: String,
    #[pyo3(get)]
    strict: bool,
    function: Py<PyAny>,
}

#[pymethods]
impl Engine {
    /// Takes a function that gets a [`Task`] and returns a byte for each destination.
    #[new]
    fn new(function: Py<PyAny>, name: String, strict: bool) -> Self {
        Engine { name, strict, function }
    }
}

impl Engine {
    /// Returns the engine as the library takes it.
    pub(crate) fn engine(&self, py: Python<'_>) -> Arc<PythonEngine> {
        let function = Arc::new(self.function.clone_ref(py));
        let (name, is_strict) = (self.name.clone(), self.strict);
        Arc::new(PythonEngine { name, is_strict, function, going: Going::default() })
    }
}

/// What the function gets for one switch.
#[pyclass(frozen, module = "dmodc._native")]
pub(crate) struct Task {
    /// The place of the switch in the fabric, its GUID and its name.
    #[pyo3(get)]
    switch: (usize, String, String),
    /// For each target a row of ports, with 255 after the last one.
    #[pyo3(get)]
    ports: Py<View>,
    /// For each target, the number of its ports.
    #[pyo3(get)]
    counts: Py<View>,
    /// For each destination, its target, its number and its LID.
    #[pyo3(get)]
    targets: Py<View>,
    #[pyo3(get)]
    numbers: Py<View>,
    #[pyo3(get)]
    lids: Py<View>,
}

/// The engine as the library takes it.
pub(crate) struct PythonEngine {
    name: String,
    /// Whether ports outside closer sets are refused.
    is_strict: bool,
    function: Arc<Py<PyAny>>,
    going: Going,
}

impl fmt::Debug for PythonEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine {}", self.name)
    }
}

impl PythonEngine {
    /// Returns the same engine, which stops when the work does.
    pub(crate) fn with(&self, going: Going) -> Self {
        let PythonEngine { name, is_strict, function, .. } = self;
        PythonEngine {
            name: name.clone(),
            is_strict: *is_strict,
            function: function.clone(),
            going,
        }
    }

    fn error(&self, why: impl fmt::Display) -> RouteError {
        RouteError::Other(format!("the engine '{}': {why}", self.name))
    }

    /// Lets the function choose ports for one switch, and writes them.
    fn choose(
        &self,
        live: Live<'_>,
        tables: &mut ForwardingTables,
        s: SwitchIndex,
        closer: &CloserPorts,
    ) -> Result<(), RouteError> {
        let columns = tables.columns().clone();
        // Destinations on the switch itself have their port, and dead ones have none.
        let is_asked = |&c: &usize| {
            let d = &columns.destinations()[c];
            d.switch != s && d.end.is_alive(live)
        };
        let mut asked: Vec<(usize, usize)> = Vec::new();
        for target in 0..columns.switches().len() {
            asked.extend(columns.of_switch(target).filter(is_asked).map(|c| (c, target)));
        }
        for c in 0..columns.len() {
            let d = &columns.destinations()[c];
            let own = (d.switch == s && d.end.is_alive(live)).then_some(d.port);
            tables.set(s, c, own);
        }
        let name = || format!("switch '{}'", live.fabric.switch(s).name);
        let chosen = self.call(live, s, closer, &columns, &asked);
        let chosen = chosen.map_err(|error| self.error(format!("{}: {error}", name())))?;
        if chosen.len() != asked.len() {
            let (got, of) = (chosen.len(), asked.len());
            return Err(self.error(format!("{}: {got} ports for {of} destinations", name())));
        }
        let working: HashSet<u8> = working_ports(live, s).collect();
        for (&(column, target), &port) in asked.iter().zip(&chosen) {
            let is_known = port == NO_ROUTE || working.contains(&port);
            if !is_known || self.is_strict && port != NO_ROUTE && !closer.of(target).contains(&port)
            {
                let lid = columns.destinations()[column].lid;
                let why = match is_known {
                    true => "it is not in the closer set of this destination",
                    false => "no working cable leads from it to a switch",
                };
                return Err(self.error(format!("{}: port {port} for LID {lid}: {why}", name())));
            }
            tables.set(s, column, (port != NO_ROUTE).then_some(PortNumber(port)));
        }
        Ok(())
    }

    /// Calls the function.
    fn call(
        &self,
        live: Live<'_>,
        s: SwitchIndex,
        closer: &CloserPorts,
        columns: &dmodc::Columns,
        asked: &[(usize, usize)],
    ) -> Result<Vec<u8>, String> {
        let targets = columns.switches().len();
        let most = (0..targets).map(|target| closer.of(target).len()).max().unwrap_or(0);
        let mut ports = vec![NO_ROUTE; targets * most];
        for target in 0..targets {
            let of = closer.of(target);
            ports[target * most..target * most + of.len()].copy_from_slice(of);
        }
        let counts: Vec<i64> = (0..targets).map(|target| closer.of(target).len() as i64).collect();
        let number = |of: fn(&dmodc::Destination) -> i64| -> Vec<i64> {
            asked.iter().map(|&(column, _)| of(&columns.destinations()[column])).collect()
        };
        let (numbers, lids) = (number(|d| d.number.into()), number(|d| d.lid.0.into()));
        let its: Vec<i64> = asked.iter().map(|&(_, target)| target as i64).collect();
        let switch = live.fabric.switch(s);
        let switch = (s.at(), switch.guid.to_string(), switch.name.to_string());
        let chosen = call_python(|py| -> PyResult<Vec<u8>> {
            let list = |numbers: Vec<i64>| {
                let shape = vec![numbers.len()];
                Py::new(py, View::of(numbers, shape))
            };
            let task = Task {
                switch,
                ports: Py::new(py, View::of(ports, vec![targets, most]))?,
                counts: list(counts)?,
                targets: list(its)?,
                numbers: list(numbers)?,
                lids: list(lids)?,
            };
            in_engine(|| self.function.bind(py).call1((task,))?.extract())
        });
        chosen.ok_or("Python ends")?.map_err(|error| error.to_string())
    }
}

/// Returns the ports of a switch from which a working cable leads to another switch.
fn working_ports<'a>(live: Live<'a>, s: SwitchIndex) -> impl Iterator<Item = u8> + 'a {
    let ports = live.fabric.ports_of(s).iter().enumerate();
    ports.filter_map(move |(at, port)| match (port.peer, port.cable()) {
        (Peer::Switch(peer, _), Some(cable)) if live.switch(peer) && live.cable(cable) => {
            Some(at as u8 + 1)
        }
        _ => None,
    })
}

impl dmodc::Engine for PythonEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        tables.tiles_mut().into_iter().for_each(|(_, entries)| entries.fill(NO_ROUTE));
        let switches: Vec<SwitchIndex> = live.switches().collect();
        let ports = live.fabric.switches().iter().map(|s| usize::from(s.ports)).max().unwrap_or(1);
        let mut places = vec![0; live.fabric.switches().len()];
        for (place, target) in columns.switches().iter().enumerate() {
            places[target.at()] = place;
        }
        let at_once = (MOST / (ports * columns.switches().len()).max(1)).max(1);
        for some in switches.chunks(at_once) {
            let (first, last) = (some[0], some[some.len() - 1]);
            let mut closer: Vec<CloserPorts> = (first.at()..=last.at())
                .map(|_| CloserPorts::new(columns.switches().len()))
                .collect();
            alternative_ports(live, ready, columns.switches(), |s, target, ports| {
                if (first..=last).contains(&s) {
                    closer[s.at() - first.at()].add(places[target.at()], ports);
                }
            })?;
            closer.iter_mut().for_each(CloserPorts::finish);
            for &s in some {
                if !self.going.goes_on() {
                    return Err(self.error("interrupted"));
                }
                self.choose(live, tables, s, &closer[s.at() - first.at()])?;
            }
        }
        Ok(validity(live, ready, &columns)?)
    }
}
