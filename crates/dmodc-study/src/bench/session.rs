//! A fabric with its faults, ready to be measured.

use std::sync::Arc;

use dmodc::fabric::Part;
use dmodc::{Degradation, Engine, Fabric, Live, Routing, RoutingOptions, parallel};
use serde_json::json;

use super::case::{BenchCase, BenchError};
use super::settings::BenchSettings;
use super::times::{RowFields, fields};
use crate::engine::EngineInputs;
use crate::machine;

/// A fabric with its faults, ready to be measured.
pub(super) struct BenchSession<'a> {
    pub(super) case: &'a BenchCase,
    pub(super) settings: &'a BenchSettings,
    pub(super) fabric: Arc<Fabric>,
    pub(super) degraded: Degradation,
    pub(super) routing: Routing,
    /// The memory of the process when it held only the fabric.
    pub(super) fabric_memory: Option<u64>,
}

impl<'a> BenchSession<'a> {
    /// Makes the fabric, draws its faults, and fixes the orders of the healthy fabric.
    pub(super) fn new(
        case: &'a BenchCase,
        settings: &'a BenchSettings,
    ) -> Result<Self, BenchError> {
        let fabric = Arc::new(case.fabric()?);
        let degraded = case.draw().degradation(&fabric)?;
        let fabric_memory = machine::resident().filter(|_| machine::forget_peak());
        let healthy = Degradation::none(&fabric);
        let options = RoutingOptions { switch_lids: case.switch_lids, ..RoutingOptions::default() };
        let routing = Routing::new(Live::new(&fabric, &healthy), &options);
        Ok(BenchSession { case, settings, fabric, degraded, routing, fabric_memory })
    }

    /// Returns the engine that is measured. The healthy fabric is its reference.
    ///
    /// # Errors
    /// If the engine runs inside OpenSM only.
    pub(super) fn engine(&self) -> Result<Arc<dyn Engine>, BenchError> {
        let healthy = Degradation::none(&self.fabric);
        let reference = Live::new(&self.fabric, &healthy);
        let inputs = EngineInputs {
            routing: &self.routing,
            reference,
            first: reference,
            seed: self.case.seed,
        };
        let engine = self.settings.engine.engine(inputs);
        engine.ok_or_else(|| BenchError::NotHere(self.settings.engine.to_string()))
    }

    /// Returns the degraded fabric.
    pub(super) fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.degraded)
    }

    /// Returns the number of table entries.
    pub(super) fn entries(&self) -> usize {
        self.routing.columns().len() * self.fabric.switches().len()
    }

    /// Returns the fields of the row that identify the case.
    pub(super) fn about(&self) -> RowFields {
        let mut about = fields(json!({
            "preset": self.case.name,
            "pgft": self.case.shape.pgft().map(ToString::to_string),
            "engine": self.settings.name(),
            "nodes": self.fabric.nodes().len(),
            "switches": self.fabric.switches().len(),
            "cables_dead": self.case.cables,
            "switches_dead": self.case.switches,
            "seed": self.case.seed,
            "switch_lids": self.case.switch_lids,
            "entries": self.entries(),
            "threads": parallel::threads(),
            "kernel": self.settings.kernel.name(),
            "rounds": self.settings.rounds,
        }));
        if self.case.shape.pgft().is_none() {
            about.insert(self.case.shape.kind().into(), json!(self.case.shape.to_string()));
        }
        about
    }

    /// Returns the peak of the memory that was used in addition to the fabric and the tables.
    pub(super) fn peak_extra(&self, tables: usize) -> Option<u64> {
        let before = self.fabric_memory?;
        Some(machine::peak()?.saturating_sub(before + tables as u64))
    }

    pub(super) fn is_alive(&self, part: &Part) -> bool {
        match *part {
            Part::Switch(s) => !self.degraded.switch_is_dead(s),
            Part::Cable(c) => !self.degraded.cable_is_dead(c),
        }
    }
}
