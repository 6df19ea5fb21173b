//! Scenarios: faults and an engine, by the names of the parts, so that they outlive the program.

use serde::{Deserialize, Serialize};

use crate::engines::PageEngine;
use crate::names::part_id;
use crate::problem::Problem;
use crate::workbench::Workbench;

/// The name of the format.
const SCHEMA: &str = "dmodc/scenario/1";

/// Faults and an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the format: `dmodc/scenario/1`.
    pub schema: String,
    /// What people call the fabric.
    #[serde(default)]
    pub fabric: String,
    /// The engine.
    pub engine: String,
    /// The parts that have failed: `GUID` or `GUID/PORT`.
    pub failed: Vec<String>,
}

impl Scenario {
    /// Returns the present faults and engine of a workbench.
    pub fn of(bench: &Workbench) -> Self {
        let parts = bench.router().degradation().removed();
        Scenario {
            schema: SCHEMA.into(),
            fabric: bench.setup().title().into(),
            engine: bench.engine().to_string(),
            failed: parts.map(|part| part_id(bench.fabric(), part)).collect(),
        }
    }

    /// Returns the engine.
    ///
    /// # Errors
    /// If there is none of that name, or the format is another one.
    pub fn engine(&self) -> Result<PageEngine, Problem> {
        if self.schema != SCHEMA {
            return Err(Problem::Invalid(format!(
                "expected a scenario with the schema '{SCHEMA}', not '{}'",
                self.schema
            )));
        }
        self.engine.parse()
    }
}
