//! Any engine, followed by relief.

use std::sync::Arc;

use super::{Relief, Thoroughness, is_too_large, relieve};
use crate::fabric::Live;
use crate::preprocess::Preprocessing;
use crate::recognise::recognise;
use crate::route::{Coverage, Engine, RouteError, Stable};
use crate::routing::Routing;
use crate::tables::ForwardingTables;

impl Stable {
    /// Relieves the worst ports of one state of the fabric, once: the entries that this moves belong to the reference from
    /// now on. In any other state, too, they have their ports as long as these are in P(s, d). So balance costs nothing when
    /// the fabric is routed again.
    ///
    /// The state is most often the first one that is known: the reference, without the cables that were missing from
    /// the first day. A PGFT without faults is left as it is, so that its tables are those of the paper.
    ///
    /// # Errors
    /// If the tables of that state do not fit into memory, or a route is too long.
    pub fn relieved(
        self,
        routing: &Routing,
        first: Live<'_>,
    ) -> Result<(Stable, Relief), RouteError> {
        let ready = routing.preprocess(first);
        if recognise(first, &ready.ranking, &ready.groups, routing.orders()).is_ok() {
            return Ok((self, Relief::default()));
        }
        if is_too_large(first) {
            return Ok((self, Relief { is_too_large: true, ..Relief::default() }));
        }
        let (mut tables, _) = routing.route(first, &self)?;
        let relief = relieve(first, &ready, &mut tables, Thoroughness::Light)?;
        let reference = (*self.reference).clone().with_moved(routing.columns(), &relief.moved);
        Ok((Stable { reference: Arc::new(reference) }, relief))
    }
}

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

    fn before_relief(&self) -> Option<&Arc<dyn Engine>> {
        Some(&self.engine)
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let coverage = self.engine.route(live, ready, tables)?;
        relieve(live, ready, tables, Thoroughness::Full)?;
        Ok(coverage)
    }
}
