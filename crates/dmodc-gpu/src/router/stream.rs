//! Digests of tables that do not fit into memory: one window of tiles after the other is routed and digested.

use std::sync::Arc;

use dmodc::{Degradation, Digest, Fabric, Live, Routing};

use super::{GpuRouter, KernelWork};
use crate::arguments::Arguments;
use crate::error::GpuError;
use crate::machine::Machine;

/// How much memory a stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRoom {
    /// The number of states that are routed at once.
    pub capacity: usize,
    /// The bytes of the tables of one state that are in memory at the same time. A window of one tile may have more. Kernels take 32
    /// tiles at once, so smaller windows take longer.
    pub window_bytes: usize,
}

/// Computes the digests of the tables of a fabric under degradations, by the engine `dmodc` or `stable`. The tables are never in
/// memory as a whole.
#[derive(Debug)]
pub struct GpuStream {
    router: GpuRouter,
}

impl GpuStream {
    /// Puts a fabric on a machine, with room for the tables of one window. States are routed by the engine `dmodc`.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn new(
        machine: Arc<dyn Machine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        room: StreamRoom,
    ) -> Result<Self, GpuError> {
        Ok(Self::by(GpuRouter::windowed(machine, fabric, routing, room)?))
    }

    /// Streams what a router computes.
    pub(crate) fn by(router: GpuRouter) -> Self {
        GpuStream { router }
    }

    /// Returns how many states are routed at once.
    pub fn capacity(&self) -> usize {
        self.router.capacity()
    }

    /// Returns the number of windows.
    pub fn windows(&self) -> usize {
        self.router.windows.len()
    }

    /// Returns the bytes of the largest window, for one state.
    pub fn window_bytes(&self) -> usize {
        self.router.states.table_bytes
    }

    /// Returns the states of the last batch for which kernels alone did not suffice. By the engine `dmodc`, the host prepared
    /// them; by the engine `stable`, it streamed them.
    pub fn by_host(&self) -> &[usize] {
        self.router.by_host()
    }

    /// Returns the digests of the tables under each of these degradations, which are at most [`capacity`](Self::capacity).
    ///
    /// # Errors
    /// If a route is longer than costs can count, or the machine fails.
    pub fn digests(&mut self, degradations: &[Degradation]) -> Result<Vec<Digest>, GpuError> {
        let digests = self.digest_all(degradations);
        self.router.forget_after_error(digests)
    }

    fn digest_all(&mut self, degradations: &[Degradation]) -> Result<Vec<Digest>, GpuError> {
        let router = &mut self.router;
        let arguments = router.prepare(degradations, KernelWork::CostsBeforeRoutes)?;
        let by_host = router.by_host.clone();
        let mut digests = vec![Digest::default(); degradations.len()];
        if by_host.len() < degradations.len() {
            // States that need the host get the digests of anything here. They are replaced below.
            digests = router.digest_windows(&arguments, degradations.len() as u32)?;
        }
        for state in by_host {
            let degradation = &degradations[state];
            digests[state] = match &router.engine {
                None => {
                    let own = router.costs_by_bytes(arguments, state, degradation)?;
                    router.digest_windows(&own, 1)?[state]
                }
                Some(engine) => engine
                    .digest_on_host(Live::new(&router.fabric, degradation), &router.routing)?,
            };
        }
        Ok(digests)
    }

    /// Fills the memory of each window with one byte, as fast as the machine can: the limit for routes. All windows together have
    /// the bytes of whole tables.
    ///
    /// # Errors
    /// If the machine fails.
    pub fn fill_windows(&self, value: u8) -> Result<(), GpuError> {
        let GpuRouter { machine, states, windows, routed, .. } = &self.router;
        let fill = |bytes| machine.fill(states.tables.address(), value, bytes);
        windows.iter().try_for_each(|window| fill(window.bytes * routed))
    }

    /// Waits until the machine is done.
    ///
    /// # Errors
    /// If something failed on the machine.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.router.wait()
    }
}

impl GpuRouter {
    /// Routes and digests one window after the other, for this number of states from the first one of the arguments on. Returns
    /// the digests of all states; those of others mean nothing.
    fn digest_windows(&self, arguments: &Arguments, states: u32) -> Result<Vec<Digest>, GpuError> {
        self.clear_digests()?;
        for &window in &self.windows {
            let arguments = Arguments { window, ..*arguments };
            self.launch_routes(&arguments, states)?;
            self.launch_digest(&arguments, states)?;
        }
        self.read_digests()
    }
}
