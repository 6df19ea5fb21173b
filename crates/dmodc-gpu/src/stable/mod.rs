//! The engine `stable` on a machine: its reference, and the kernels that compare states with it.
//!
//! The reference is a state of the same fabric. A router of its own routes it once by the engine `dmodc`, which gives everything that
//! is compared with: its port groups, its dividers, its costs, and as its tables the entries of all slots. From the costs follow
//! the closer sets R, which are kept as words by group. `kernels/stable.cu` says what kernels do with all this.

mod arguments;
mod reference;

use std::sync::{Arc, Mutex, PoisonError};

use dmodc::{Degradation, Digest, Engine, Fabric, ForwardingTables, Live, Routing, Stable};

use self::arguments::{ReferenceAddresses, StableArguments};
use crate::arguments::{Arguments, RECORD_BYTES, THREADS, TILES, WARPS, closer_bytes};
use crate::buffer::Buffer;
use crate::engine::DeviceEngine;
use crate::error::GpuError;
use crate::kernels::KernelName;
use crate::machine::{LaunchSize, Machine};
use crate::router::{GpuRouter, GpuStream, KernelWork, StreamRoom};

/// The stretches that are kept apart when looking ahead, as in stable.cu.
const STRETCHES: usize = dmodc::oracle::stable::STRETCHES;

impl GpuRouter {
    /// Puts a fabric on a machine, with room for the tables of `capacity` states at once. They are routed by the engine `stable`,
    /// with the entries that relief moved.
    ///
    /// Kernels route states whose ranks are counted from the leaves and are at most 8, without cables between switches of one rank;
    /// and only if the reference is such a state, too. The CPU routes all others, and their tables are copied to the machine.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn stable(
        machine: Arc<dyn Machine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        stable: &Stable,
        capacity: usize,
    ) -> Result<Self, GpuError> {
        Self::new(machine, fabric, routing, capacity)?.with_stable(stable)
    }

    /// Routes by the engine `stable` from now on.
    fn with_stable(self, stable: &Stable) -> Result<Self, GpuError> {
        let on_device = StableOnDevice::new(&self, stable)?;
        Ok(self.with_engine(Box::new(StableEngine { stable: stable.clone(), on_device })))
    }
}

impl GpuStream {
    /// Puts a fabric on a machine, with room for the tables of one window. States are routed by the engine `stable`, with the
    /// entries that relief moved. The tables of the reference are streamed, too: kernels route it again for each window.
    ///
    /// [`GpuRouter::stable`] says which states kernels route. The CPU streams all others.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn stable(
        machine: Arc<dyn Machine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        stable: &Stable,
        room: StreamRoom,
    ) -> Result<Self, GpuError> {
        let router = GpuRouter::windowed(machine, fabric, routing, room)?;
        Ok(GpuStream::by(router.with_stable(stable)?))
    }
}

/// The engine `stable`.
#[derive(Debug)]
struct StableEngine {
    stable: Stable,
    /// `None` if kernels cannot compare with the reference.
    on_device: Option<StableOnDevice>,
}

impl DeviceEngine for StableEngine {
    fn state_bytes(&self) -> usize {
        self.on_device.as_ref().map_or(0, |on_device| on_device.state_bytes)
    }

    fn has_kernels(&self) -> bool {
        self.on_device.is_some()
    }

    fn launch(
        &self,
        machine: &dyn Machine,
        arguments: &Arguments,
        states: u32,
    ) -> Result<(), GpuError> {
        match &self.on_device {
            Some(on_device) => on_device.launch(machine, arguments, states),
            None => Ok(()),
        }
    }

    fn route_on_host(
        &self,
        live: Live<'_>,
        routing: &Routing,
    ) -> Result<ForwardingTables, GpuError> {
        Ok(routing.route(live, &self.stable)?.0)
    }

    fn digest_on_host(&self, live: Live<'_>, routing: &Routing) -> Result<Digest, GpuError> {
        let sum = Mutex::new(Digest::default());
        let ready = routing.preprocess(live);
        self.stable.stream_tiles(live, &ready, routing.columns(), &|piece| {
            let part = Digest::rows(piece.first, piece.tile, piece.entries);
            let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
            *sum = *sum + part;
        })?;
        Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The reference of the engine `stable` in the memory of a machine, and memory for what states lost.
#[derive(Debug)]
struct StableOnDevice {
    addresses: ReferenceAddresses,
    moved_count: u32,
    /// The bytes of what one state lost.
    state_bytes: usize,
    /// The router that has the reference as its only state. If it is windowed, its tables are those of the window of the last launch.
    reference: GpuRouter,
    /// The memory behind the other addresses.
    _buffers: Vec<Buffer>,
}

impl StableOnDevice {
    /// Puts a reference on the machine of a router. Returns `None` if kernels cannot compare with it.
    fn new(router: &GpuRouter, stable: &Stable) -> Result<Option<Self>, GpuError> {
        let mut routed = router.of_same_fabric()?;
        let work = match routed.is_windowed() {
            true => KernelWork::CostsBeforeRoutes,
            false => KernelWork::CostsAndRoutes,
        };
        routed.prepare(&[without_dead_nodes(router, stable.reference.degradation())], work)?;
        if !routed.by_host().is_empty() {
            return Ok(None);
        }
        let arguments = routed.arguments(false);
        let mut uploaded = reference::upload(router, &stable.reference)?;
        let of_states = &arguments.states;
        let addresses = &mut uploaded.addresses;
        addresses.counts = of_states.counts;
        addresses.peers = of_states.peers;
        addresses.dividers = of_states.dividers;
        addresses.firsts = of_states.firsts;
        addresses.ports = of_states.ports;
        addresses.tables = of_states.tables;
        let masks = 8 * arguments.sizes.switches as usize * arguments.sizes.tiles as usize;
        let machine = router.machine();
        let harmed = Buffer::new(machine, masks * router.capacity())?;
        let kept = Buffer::new(machine, STRETCHES * masks * router.capacity())?;
        // At leaves, and at switches that the reference does not know, nothing is ever lost.
        machine.fill(harmed.address(), 0, harmed.bytes())?;
        machine.fill(kept.address(), u8::MAX, kept.bytes())?;
        addresses.harmed = harmed.address();
        addresses.kept = kept.address();
        uploaded.buffers.extend([harmed, kept]);
        let device = StableOnDevice {
            addresses: uploaded.addresses,
            moved_count: uploaded.moved_count,
            state_bytes: (1 + STRETCHES) * masks,
            reference: routed,
            _buffers: uploaded.buffers,
        };
        device.launch_one(&**machine, KernelName::ReferenceCloser, &arguments, 1)?;
        Ok(Some(device))
    }

    /// Starts the kernels from costs to the tables of a window, for the first `states` states.
    fn launch(
        &self,
        machine: &dyn Machine,
        arguments: &Arguments,
        states: u32,
    ) -> Result<(), GpuError> {
        if self.reference.is_windowed() {
            let window = arguments.window;
            let of_reference = Arguments { window, ..self.reference.arguments(false) };
            self.reference.launch_routes(&of_reference, 1)?;
        }
        self.launch_one(machine, KernelName::Losses, arguments, states)?;
        self.launch_one(machine, KernelName::StableRoutes, arguments, states)?;
        if self.moved_count == 0 {
            return Ok(());
        }
        let blocks = [self.moved_count.div_ceil(THREADS), 1, states];
        let size = LaunchSize { blocks, threads: THREADS, shared_bytes: 0 };
        machine.launch(KernelName::MovedEntries, size, &self.words(arguments))
    }

    /// Starts a kernel whose blocks take a switch and some tiles.
    fn launch_one(
        &self,
        machine: &dyn Machine,
        kernel: KernelName,
        arguments: &Arguments,
        states: u32,
    ) -> Result<(), GpuError> {
        let sizes = &arguments.sizes;
        let blocks = [sizes.switches, arguments.window.blocks(), states];
        if blocks.contains(&0) {
            return Ok(());
        }
        let shared_bytes = stable_shared_bytes(sizes.most_groups, arguments.ranks_run);
        let size = LaunchSize { blocks, threads: THREADS, shared_bytes };
        machine.launch(kernel, size, &self.words(arguments))
    }

    fn words(&self, arguments: &Arguments) -> Vec<u64> {
        let StableOnDevice { addresses, moved_count, .. } = self;
        StableArguments { arguments, addresses, moved_count: *moved_count }.words()
    }
}

/// Returns the reference with all nodes. Slots do not depend on whether a node is cut off.
fn without_dead_nodes(router: &GpuRouter, reference: &Degradation) -> Degradation {
    let (fabric, mut state) = (router.fabric(), reference.clone());
    for node in fabric.node_indices() {
        state.set_cable(fabric.node_cable(node), false);
    }
    state
}

/// Returns the bytes that a block of the kernels of `stable` shares: see `reference_switch` of stable.cu. They do without
/// the records of the kernel `routes`.
fn stable_shared_bytes(most_groups: u32, ranks: u32) -> u32 {
    let block = closer_bytes(most_groups, ranks) - RECORD_BYTES;
    let (tiles, sides) = (2 * TILES * 8, 2 * 48);
    let sets = 3 * WARPS * 64 * most_groups.div_ceil(32) * 4;
    let (thinned, now, firsts, ports) = (2 * 8 * 4, 256 * 2, 256, 256);
    block + tiles + sides + sets + thinned + now + firsts + ports
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::defined;

    #[test]
    fn kernels_have_the_same_stretches() {
        assert_eq!(defined("STRETCHES"), STRETCHES as u64);
    }

    /// The numbers of the page about GPUs: the memory that blocks share in fabrics of three levels, in KiB.
    #[test]
    fn many_neighbours_need_much_shared_memory() {
        for (neighbours, dmodc, stable) in [(144, 61, 87), (254, 95, 139)] {
            assert_eq!(closer_bytes(neighbours, 3).div_ceil(1 << 10), dmodc);
            assert_eq!(stable_shared_bytes(neighbours, 3).div_ceil(1 << 10), stable);
        }
    }
}
