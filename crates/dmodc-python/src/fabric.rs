//! The class `Fabric`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use dmodc::fabric::{AdapterKind, PRESETS, Shape};
use dmodc::{Degradation, Departures, Draw, GuidOrder, LeafRule, Lid, Live, Pgft, Preset, Ranking};
use dmodc_formats::{dot, graphml, ibnetdiscover, json};
use dmodc_study::answers::route_state::WholeFabric;
use dmodc_study::answers::{input, output, text};
use pyo3::prelude::*;

use crate::work::run;

/// A fabric.
#[pyclass(frozen, module = "dmodc._native")]
pub(crate) struct Fabric {
    pub(crate) fabric: Arc<dmodc::Fabric>,
    /// Where it comes from, for messages.
    #[pyo3(get)]
    pub(crate) name: String,
    /// What its reader found wrong, in words.
    #[pyo3(get)]
    pub(crate) problems: Vec<String>,
}

impl Fabric {
    pub(crate) fn new(fabric: dmodc::Fabric, name: impl Into<String>) -> Self {
        Fabric { fabric: Arc::new(fabric), name: name.into(), problems: Vec::new() }
    }

    /// Returns the fabric as a reference.
    pub(crate) fn whole(&self) -> WholeFabric {
        WholeFabric { fabric: (*self.fabric).clone(), name: self.name.clone() }
    }
}

/// Reads a fabric: the file of this name, or the text that is given with a name for messages.
#[pyfunction]
#[pyo3(signature = (name, text, strict))]
pub(crate) fn read(
    py: Python<'_>,
    name: PathBuf,
    text: Option<Vec<u8>>,
    strict: bool,
) -> PyResult<Fabric> {
    run(py, move |_| {
        let reading = match &text {
            Some(text) => input::reading_of(&name, text, strict)?,
            None => input::reading(&name, strict)?,
        };
        let problems = text::dirt(&reading.dirt);
        let name = name.display().to_string();
        Ok(Fabric { fabric: Arc::new(reading.fabric), name, problems })
    })
}

/// Makes a fabric of a kind: a PGFT, directors or pods from their notation, or a preset by its name.
#[pyfunction]
#[pyo3(signature = (kind, notation, shuffled, departures, seed))]
pub(crate) fn generate(
    py: Python<'_>,
    kind: String,
    notation: String,
    shuffled: bool,
    departures: Option<String>,
    seed: u64,
) -> PyResult<Fabric> {
    run(py, move |_| {
        let shape = match &*kind {
            "pgft" => Shape::Pgft(notation.parse::<Pgft>()?),
            "directors" => Shape::Directors(notation.parse().map_err(|why| anyhow!("{why}"))?),
            "pods" => Shape::Pods(notation.parse().map_err(|why| anyhow!("{why}"))?),
            _ => preset(&notation)?.shape(),
        };
        let guids = if shuffled { GuidOrder::Shuffled(seed) } else { GuidOrder::Topological };
        let mut fabric = shape.fabric(guids)?;
        if let Some(departures) = departures {
            let departures: Departures = departures.parse().map_err(|why| anyhow!("{why}"))?;
            fabric = departures.of(&fabric, seed).context("departures")?;
        }
        Ok(Fabric::new(fabric, notation))
    })
}

fn preset(name: &str) -> anyhow::Result<&'static Preset> {
    Preset::named(name).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
        anyhow!("there is no preset '{name}'; the presets are {}", names.join(", "))
    })
}

/// Returns the presets: name, notation, numbers of nodes and switches, and what each is.
#[pyfunction]
pub(crate) fn presets() -> Vec<(String, String, usize, usize, String)> {
    let one = |preset: &Preset| {
        let shape = preset.shape();
        let notation = shape.pgft().map_or_else(|| shape.to_string(), ToString::to_string);
        let (nodes, switches) = (shape.node_count(), shape.switch_count());
        (preset.name.into(), notation, nodes, switches, preset.about.into())
    };
    PRESETS.iter().map(one).collect()
}

/// What is removed from a fabric. The fields are those of `dmodc._request.Removal`.
#[derive(FromPyObject)]
pub(crate) struct Removal {
    cables: String,
    switches: String,
    any_cable: bool,
    any_switch: bool,
    remove: Vec<String>,
    seed: u64,
}

/// A switch as Python gets it: GUID, name, LID, number of ports, level from 1 if it is connected to a leaf, whether it is a
/// leaf.
type SwitchRow = (String, String, u32, u8, Option<u32>, bool);

/// A cable between switches: GUID and port of both ends, and the rate.
type CableRow = (String, u8, String, u8, String);

/// A node: GUID of its port, name, GUID of its adapter, port of the adapter, LID, LMC, GUID and port of its switch, its kind.
type NodeRow = (String, String, String, u8, u32, u8, String, u8, &'static str);

#[pymethods]
impl Fabric {
    /// Returns the numbers of nodes, switches and cables between switches.
    fn counts(&self) -> (usize, usize, usize) {
        let (nodes, _) = self.fabric.host_counts();
        (nodes, self.fabric.switches().len(), self.fabric.inter_switch_cables().len())
    }

    /// Returns whether both are the same.
    fn equals(&self, other: &Fabric) -> bool {
        self.fabric == other.fabric
    }

    /// Returns the fabric without some parts, and these in words.
    fn degrade(&self, py: Python<'_>, removal: Removal) -> PyResult<(Fabric, Vec<String>)> {
        let (fabric, name) = (self.fabric.clone(), self.name.clone());
        run(py, move |_| {
            let Removal { cables, switches, any_cable, any_switch, remove, seed } = removal;
            let draw = Draw {
                cables: cables.parse()?,
                switches: switches.parse()?,
                any_cable,
                any_switch,
                seed,
            };
            let mut degradation = draw.degradation(&fabric)?;
            for part in &remove {
                degradation.remove(&fabric, part)?;
            }
            let removed = degradation.removed().map(|part| text::removed(&fabric, part)).collect();
            let rest = fabric.without(&degradation);
            ensure!(!rest.switches().is_empty(), "no switch would be left; remove fewer switches");
            Ok((Fabric::new(rest, format!("{name}, degraded")), removed))
        })
    }

    /// Writes the fabric to a file.
    fn write(&self, py: Python<'_>, path: PathBuf, format: String) -> PyResult<()> {
        let fabric = self.fabric.clone();
        run(py, move |_| write(&fabric, &path, &format))
    }

    /// Returns the switches.
    fn switches(&self) -> Vec<SwitchRow> {
        let whole = Degradation::none(&self.fabric);
        let ranking = Ranking::new(Live::new(&self.fabric, &whole), &LeafRule::Detect);
        let row = |s: dmodc::SwitchIndex| {
            let switch = self.fabric.switch(s);
            let level = ranking.rank(s).map(|rank| rank + 1);
            let (guid, name) = (switch.guid.to_string(), switch.name.to_string());
            (guid, name, switch.lid.0, switch.ports, level, ranking.is_leaf(s))
        };
        self.fabric.switch_indices().map(row).collect()
    }

    /// Returns the cables between switches.
    fn cables(&self) -> Vec<CableRow> {
        let guid = |s| self.fabric.switch(s).guid.to_string();
        let row = |cable: &dmodc::fabric::Cable| {
            let rate = self.fabric.port(cable.a.0, cable.a.1).map(|port| port.rate.to_string());
            let (a, b) = (cable.a, cable.b);
            (guid(a.0), a.1.0, guid(b.0), b.1.0, rate.unwrap_or_default())
        };
        self.fabric.inter_switch_cables().iter().map(row).collect()
    }

    /// Returns the nodes.
    fn nodes(&self) -> Vec<NodeRow> {
        let row = |n: dmodc::NodeIndex| {
            let (node, adapter) = (self.fabric.node(n), self.fabric.adapter_of(n));
            let kind = match adapter.kind {
                AdapterKind::Host => "host",
                AdapterKind::Aggregation => "aggregation",
                AdapterKind::Router => "router",
                AdapterKind::Aside => "aside",
            };
            let (guid, name) = (node.guid.to_string(), adapter.name.to_string());
            let switch = self.fabric.switch(node.switch).guid.to_string();
            let (port, at) = (node.adapter_port.0, node.switch_port.0);
            (guid, name, adapter.guid.to_string(), port, node.lid.0, node.lmc, switch, at, kind)
        };
        self.fabric.node_indices().map(row).collect()
    }
}

/// Writes a fabric in one of the formats, as `dmodc convert` does.
fn write(fabric: &dmodc::Fabric, path: &Path, format: &str) -> anyhow::Result<()> {
    let mut comments = Vec::new();
    if let Err(lid) = fabric.infiniband_lids() {
        let last = Lid::LAST_UNICAST;
        ensure!(
            format != "ibsim",
            "LID {lid} is beyond {last}, so ibsim cannot simulate this fabric"
        );
        comments.push(format!(
            "LIDs are beyond {last}, the last unicast LID of InfiniBand: dmodc reads them, OpenSM does not."
        ));
    }
    output::to(Some(path), |out| {
        match format {
            "ibnetdiscover" | "ibsim" => ibnetdiscover::write(fabric, &comments, out)?,
            "json" => json::write(fabric, out)?,
            "dot" => dot::write(fabric, out)?,
            "graphml" => graphml::write(fabric, out)?,
            _ => bail!(
                "there is no format '{format}'; expected ibnetdiscover, ibsim, json, dot or graphml"
            ),
        }
        Ok(())
    })
}
