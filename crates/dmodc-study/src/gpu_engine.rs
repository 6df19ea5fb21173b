//! Engines that a GPU routes by.

use std::any::Any;
use std::sync::Arc;

use dmodc::{Dmodc, Engine, Fabric, Routing, Stable};
use dmodc_gpu::{GpuError, GpuRouter, GpuStream, Machine, StreamRoom};

/// What a router on a GPU is made from.
#[derive(Clone, Copy)]
pub(crate) struct GpuInputs<'a> {
    pub(crate) machine: &'a Arc<dyn Machine>,
    pub(crate) fabric: &'a Arc<Fabric>,
    pub(crate) routing: &'a Routing,
    /// How many states are routed at once.
    pub(crate) capacity: usize,
}

impl GpuInputs<'_> {
    /// Returns a router by an engine; `None` if there are no kernels for it.
    ///
    /// # Errors
    /// If the GPU has too little memory, or fails.
    pub(crate) fn router(&self, engine: &dyn Engine) -> Result<Option<GpuRouter>, GpuError> {
        let engine: &dyn Any = engine;
        if engine.is::<Dmodc>() {
            return self.plain().map(Some);
        }
        let stable = engine.downcast_ref::<Stable>();
        let (machine, fabric) = (self.machine.clone(), self.fabric.clone());
        stable
            .map(|it| GpuRouter::stable(machine, fabric, self.routing.clone(), it, self.capacity))
            .transpose()
    }

    /// Returns a stream of digests by an engine, with windows of this number of bytes; `None` if there are no kernels for it.
    ///
    /// # Errors
    /// If the GPU has too little memory, or fails.
    pub(crate) fn stream(
        &self,
        engine: &dyn Engine,
        window_bytes: usize,
    ) -> Result<Option<GpuStream>, GpuError> {
        let engine: &dyn Any = engine;
        let (machine, fabric) = (self.machine.clone(), self.fabric.clone());
        let (routing, room) =
            (self.routing.clone(), StreamRoom { capacity: self.capacity, window_bytes });
        if engine.is::<Dmodc>() {
            return GpuStream::new(machine, fabric, routing, room).map(Some);
        }
        let stable = engine.downcast_ref::<Stable>();
        stable.map(|it| GpuStream::stable(machine, fabric, routing, it, room)).transpose()
    }

    /// Returns a router by the engine `dmodc`, which also takes tables of others.
    ///
    /// # Errors
    /// If the GPU has too little memory, or fails.
    pub(crate) fn plain(&self) -> Result<GpuRouter, GpuError> {
        let (machine, fabric) = (self.machine.clone(), self.fabric.clone());
        GpuRouter::new(machine, fabric, self.routing.clone(), self.capacity)
    }
}
