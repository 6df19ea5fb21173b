//! Any engine, followed by relief.

use std::sync::Arc;

use super::relieve;
use crate::fabric::Live;
use crate::preprocess::Preprocessing;
use crate::route::{Coverage, Engine, RouteError};
use crate::tables::ForwardingTables;

/// Routes by another engine, and then [relieves](relieve) the worst ports. Its name is that of the other engine with
/// `+relief` after it.
///
/// The tables depend on the tables of the other engine and on the fabric alone, never on history. A
/// [`Router`](crate::Router) computes everything anew after a change.
#[derive(Clone, Debug)]
pub struct Relieved {
    engine: Arc<dyn Engine>,
    name: String,
}

impl Relieved {
    /// Takes the engine that routes first. Its routes must keep to closer sets, as those of all engines of this crate do.
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        let name = format!("{}+relief", engine.name());
        Relieved { engine, name }
    }
}

impl Engine for Relieved {
    fn name(&self) -> &str {
        &self.name
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let coverage = self.engine.route(live, ready, tables)?;
        relieve(live, ready, tables)?;
        Ok(coverage)
    }
}
