//! Scenarios: faults and an engine, by the names of the parts, so that they outlive the program.

use serde::{Deserialize, Serialize};

use crate::engines::PageEngine;
use crate::problem::Problem;

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
    /// Takes the name of a fabric, an engine, and the parts that have failed.
    pub fn new(fabric: &str, engine: PageEngine, failed: Vec<String>) -> Self {
        let (schema, engine) = (SCHEMA.into(), engine.to_string());
        Scenario { schema, fabric: fabric.into(), engine, failed }
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
