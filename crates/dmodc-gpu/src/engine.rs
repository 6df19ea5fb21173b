//! Engines other than `dmodc`: the last step, from costs to tables.

use std::fmt;

use dmodc::{Digest, ForwardingTables, Live, Routing};

use crate::arguments::Arguments;
use crate::error::GpuError;
use crate::machine::Machine;

/// An engine that chooses ports from the costs and groups of states.
pub(crate) trait DeviceEngine: fmt::Debug + Send + Sync {
    /// Returns the bytes of memory of the machine that the engine needs for one state.
    fn state_bytes(&self) -> usize;

    /// Returns whether kernels can choose. If they cannot, [`route_on_host`](Self::route_on_host) routes all states.
    fn has_kernels(&self) -> bool;

    /// Starts the kernels from costs to the tables of a window, for the first `states` states. States with flags are left out.
    ///
    /// # Errors
    /// If the machine fails.
    fn launch(
        &self,
        machine: &dyn Machine,
        arguments: &Arguments,
        states: u32,
    ) -> Result<(), GpuError>;

    /// Returns the tables of a state that kernels cannot route.
    ///
    /// # Errors
    /// If they do not fit into memory, or a route is longer than costs can count.
    fn route_on_host(
        &self,
        live: Live<'_>,
        routing: &Routing,
    ) -> Result<ForwardingTables, GpuError>;

    /// Returns the digest of the tables of a state that kernels cannot route. The tables are not kept.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    fn digest_on_host(&self, live: Live<'_>, routing: &Routing) -> Result<Digest, GpuError>;
}
