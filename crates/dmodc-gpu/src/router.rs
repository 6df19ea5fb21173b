//! A fabric on a machine, which is routed under degradations.

mod by_bytes;
mod stream;
mod tables;

use std::sync::Arc;

use dmodc::{Degradation, Fabric, Live, Routing};

use crate::arguments::{Arguments, Sizes, THREADS, TileWindow, WARPS, closer_bytes};
use crate::engine::DeviceEngine;
use crate::error::GpuError;
use crate::kernels::KernelName;
use crate::layout::{CHUNK, DeviceFabric, MOST_RANKS, TilePlace};
use crate::machine::{LaunchSize, Machine};
use crate::states::States;
use crate::windows;

pub use self::stream::{GpuStream, StreamRoom};

/// With at most this many ranks, `routes` computes the planes of rank 0 itself; see `find_masks` of closer.cu.
const FLAT_RANKS: u32 = 4;

/// The bit of `flags` by which kernels say that there are more ranks.
const MORE_RANKS: u32 = 2;

/// The bit of `flags` by which kernels say that ranks are not those of the healthy fabric.
const OTHER_RANKS: u32 = 4;

/// The most states of a batch: a launch has at most this number of blocks along z.
const MOST_STATES: usize = u16::MAX as usize;

/// What kernels do for a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelWork {
    /// Costs alone, since the tables come from elsewhere.
    Costs,
    /// Costs alone; routes follow window by window.
    CostsBeforeRoutes,
    /// Costs and routes, of all tiles at once.
    CostsAndRoutes,
}

/// Routes a fabric under degradations, by the engine `dmodc` or `stable`. The tables stay in the memory of the machine.
#[derive(Debug)]
pub struct GpuRouter {
    machine: Arc<dyn Machine>,
    fabric: Arc<Fabric>,
    routing: Routing,
    /// What chooses ports, if it is not the engine `dmodc`.
    engine: Option<Box<dyn DeviceEngine>>,
    device: Arc<DeviceFabric>,
    /// The windows of tiles that use the memory for tables one after the other: most often one, which has all tiles.
    windows: Vec<TileWindow>,
    states: States,
    /// The number of ranks that kernels are run for.
    ranks_run: u32,
    /// Whether the ranks of all states, on the machine, are those of the healthy fabric.
    ranks_are_healthy: bool,
    /// The number of degradations of the last batch.
    routed: usize,
    /// Whether the tables of the last batch came from elsewhere.
    has_given_tables: bool,
    /// The faults of the last batch, as masks.
    masks: Vec<u8>,
    /// The states of the last batch for which kernels alone did not suffice. Their costs are not on the machine.
    by_host: Vec<usize>,
}

impl GpuRouter {
    /// Puts a fabric on a machine, with room for the tables of `capacity` states at once, but at most 65,535. They are routed by the
    /// engine `dmodc`.
    ///
    /// # Errors
    /// If the machine has too little memory.
    pub fn new(
        machine: Arc<dyn Machine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        capacity: usize,
    ) -> Result<Self, GpuError> {
        let device = Arc::new(DeviceFabric::new(&machine, &fabric, &routing)?);
        let windows = vec![windows::whole(&device)];
        Self::on(machine, fabric, routing, device, &windows, capacity)
    }

    /// Puts a fabric on a machine, with room for the tables of one window of tiles.
    pub(crate) fn windowed(
        machine: Arc<dyn Machine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        room: StreamRoom,
    ) -> Result<Self, GpuError> {
        let device = Arc::new(DeviceFabric::new(&machine, &fabric, &routing)?);
        let windows = windows::of_bytes(&device, room.window_bytes);
        Self::on(machine, fabric, routing, device, &windows, room.capacity)
    }

    /// Routes by another engine from now on.
    pub(crate) fn with_engine(self, engine: Box<dyn DeviceEngine>) -> Self {
        GpuRouter { engine: Some(engine), ..self }
    }

    /// Returns a router with one state by the engine `dmodc`, with which this one shares the fabric. It has the same windows.
    pub(crate) fn of_same_fabric(&self) -> Result<Self, GpuError> {
        let (machine, fabric) = (self.machine.clone(), self.fabric.clone());
        let device = self.device.clone();
        Self::on(machine, fabric, self.routing.clone(), device, &self.windows, 1)
    }

    fn on(
        machine: Arc<dyn Machine>,
        fabric: Arc<Fabric>,
        routing: Routing,
        device: Arc<DeviceFabric>,
        windows: &[TileWindow],
        capacity: usize,
    ) -> Result<Self, GpuError> {
        let ranks_run = device.ranks.clamp(1, MOST_RANKS);
        let table_bytes = windows.iter().map(|window| window.bytes).max().unwrap_or(0);
        let capacity = capacity.clamp(1, MOST_STATES);
        let states = States::new(&machine, &device, capacity, ranks_run, table_bytes)?;
        Ok(GpuRouter {
            machine,
            fabric,
            routing,
            engine: None,
            device,
            windows: windows.to_vec(),
            states,
            ranks_run,
            ranks_are_healthy: false,
            routed: 0,
            has_given_tables: false,
            masks: vec![],
            by_host: vec![],
        })
    }

    /// Returns the fabric.
    pub fn fabric(&self) -> &Arc<Fabric> {
        &self.fabric
    }

    /// Returns the leaves, orders and columns.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    pub(crate) fn machine(&self) -> &Arc<dyn Machine> {
        &self.machine
    }

    /// Returns where each tile is in the tables.
    pub(crate) fn places(&self) -> &[TilePlace] {
        &self.device.places
    }

    /// Returns how many states are routed at once.
    pub fn capacity(&self) -> usize {
        self.states.capacity
    }

    /// Returns the bytes of memory of the machine that one state needs, its tables included. Whoever wants to know how many states fit
    /// makes a router for one state first.
    pub fn state_bytes(&self) -> usize {
        let of_engine = self.engine.as_ref().map_or(0, |engine| engine.state_bytes());
        States::bytes_of_one(&self.device, self.ranks_run, self.states.table_bytes) + of_engine
    }

    /// Routes the fabric under each of these degradations, which are at most [`capacity`](Self::capacity).
    ///
    /// # Errors
    /// If a route is longer than costs can count, or the machine fails. There is no last batch then.
    pub fn route(&mut self, degradations: &[Degradation]) -> Result<(), GpuError> {
        let routed = self.route_all(degradations);
        self.forget_after_error(routed)
    }

    fn route_all(&mut self, degradations: &[Degradation]) -> Result<(), GpuError> {
        let arguments = self.prepare(degradations, KernelWork::CostsAndRoutes)?;
        for at in 0..self.by_host.len() {
            let state = self.by_host[at];
            match &self.engine {
                None => {
                    let own = self.costs_by_bytes(arguments, state, &degradations[state])?;
                    self.launch_routes(&own, 1)?;
                }
                Some(engine) => {
                    let live = Live::new(&self.fabric, &degradations[state]);
                    self.write_tables(state, &engine.route_on_host(live, &self.routing)?)?;
                }
            }
        }
        Ok(())
    }

    /// Starts a batch: everything that kernels do without the help of the host. The states that need it are noted.
    pub(crate) fn prepare(
        &mut self,
        degradations: &[Degradation],
        work: KernelWork,
    ) -> Result<Arguments, GpuError> {
        assert!(degradations.len() <= self.states.capacity, "more states than there is room for");
        let started = self.start(degradations, work);
        self.forget_after_error(started)
    }

    /// Forgets the batch after an error: what is in the memory belongs to no state, and there may be no planes that a judge could read.
    fn forget_after_error<T>(&mut self, result: Result<T, GpuError>) -> Result<T, GpuError> {
        if result.is_err() {
            self.routed = 0;
            self.by_host.clear();
        }
        result
    }

    fn start(
        &mut self,
        degradations: &[Degradation],
        work: KernelWork,
    ) -> Result<Arguments, GpuError> {
        // A batch for which memory was lacking has left no planes.
        self.states.grow_planes(&self.machine, &self.device, self.ranks_run)?;
        self.routed = degradations.len();
        self.has_given_tables = work == KernelWork::Costs;
        self.by_host.clear();
        if degradations.is_empty() {
            return Ok(self.arguments(false));
        }
        let has_dead_nodes = self.write_masks(degradations)?;
        let mut arguments = self.arguments(has_dead_nodes);
        if has_dead_nodes {
            let chunks = arguments.sizes.slots / CHUNK as u32;
            self.launch(KernelName::DeadSlots, [chunks.div_ceil(THREADS), 1], &arguments)?;
        }
        let has_kernels = work == KernelWork::Costs
            || self.engine.as_ref().is_none_or(|engine| engine.has_kernels());
        self.by_host = match self.device.ranked_from_leaves && has_kernels {
            true => self.route_by_ranks(&mut arguments, work)?,
            false => (0..self.routed).collect(),
        };
        Ok(arguments)
    }

    /// Returns whether there is room for the tables of some tiles only.
    pub(crate) fn is_windowed(&self) -> bool {
        self.windows.len() > 1
    }

    /// Returns the number of states of the last batch.
    pub(crate) fn routed(&self) -> usize {
        self.routed
    }

    /// Returns whether the tables of the last batch were [given](Self::put_tables) and not routed.
    pub(crate) fn has_given_tables(&self) -> bool {
        self.has_given_tables
    }

    pub(crate) fn device(&self) -> &DeviceFabric {
        &self.device
    }

    /// Returns the bytes that a block with closer sets shares.
    pub(crate) fn closer_shared_bytes(&self) -> u32 {
        closer_bytes(self.device.sizes.most_groups, self.ranks_run)
    }

    /// Returns the states of the last batch for which kernels alone did not suffice. By the engine `dmodc`, the host prepared
    /// them; by the engine `stable`, it routed them.
    pub fn by_host(&self) -> &[usize] {
        &self.by_host
    }

    /// Routes all states with kernels alone. Returns the states for which that does not suffice.
    fn route_by_ranks(
        &mut self,
        arguments: &mut Arguments,
        work: KernelWork,
    ) -> Result<Vec<usize>, GpuError> {
        if self.assume_ranks()? {
            self.launch_all(&Arguments { assumes_ranks: true, ..*arguments }, work)?;
            let flags = self.states.flags.read_u32s(self.routed)?;
            if flags.iter().all(|flags| flags & OTHER_RANKS == 0) {
                return Ok(unfinished(&flags));
            }
            self.ranks_are_healthy = false;
        }
        loop {
            self.launch_all(arguments, work)?;
            let flags = self.states.flags.read_u32s(self.routed)?;
            let has_more_ranks = flags.iter().any(|flags| flags & MORE_RANKS != 0);
            if !has_more_ranks || self.ranks_run == MOST_RANKS {
                return Ok(unfinished(&flags));
            }
            let ranks_run = (self.ranks_run + 2).min(MOST_RANKS);
            self.states.grow_planes(&self.machine, &self.device, ranks_run)?;
            self.ranks_run = ranks_run;
            *arguments = self.arguments(arguments.has_dead_nodes);
        }
    }

    /// Makes sure that all states have the ranks of the healthy fabric. Returns `false` if these cannot be assumed, because there
    /// are too many.
    fn assume_ranks(&mut self) -> Result<bool, GpuError> {
        if self.device.ranks > MOST_RANKS {
            return Ok(false);
        }
        if !self.ranks_are_healthy {
            let ranks = self.device.healthy_ranks.repeat(self.states.capacity);
            self.machine.write(self.states.addresses.ranks, &ranks)?;
            self.ranks_are_healthy = true;
        }
        Ok(true)
    }

    /// Starts everything from the masks to the costs, or to the tables.
    fn launch_all(&self, arguments: &Arguments, work: KernelWork) -> Result<(), GpuError> {
        let sizes = &arguments.sizes;
        let by_warp = [sizes.switches.div_ceil(WARPS), 1];
        if !arguments.assumes_ranks {
            self.launch(KernelName::RanksStart, [sizes.switches.div_ceil(THREADS), 1], arguments)?;
            for wave in 1..self.ranks_run {
                self.launch(KernelName::RanksWave, by_warp, &arguments.at(wave))?;
            }
        }
        self.launch(KernelName::Groups, by_warp, arguments)?;
        for rank in 1..self.ranks_run {
            self.launch(KernelName::Ascend, by_warp, &arguments.at(rank))?;
        }
        // In flat fabrics, the kernel for routes finds the planes of rank 0 itself.
        let lowest = u32::from(self.ranks_run <= FLAT_RANKS);
        for rank in (lowest..self.ranks_run - 1).rev() {
            self.launch(KernelName::Descend, by_warp, &arguments.at(rank))?;
        }
        match work {
            KernelWork::Costs | KernelWork::CostsBeforeRoutes => Ok(()),
            KernelWork::CostsAndRoutes => self.launch_routes(arguments, self.routed as u32),
        }
    }

    /// Starts the kernels from costs to the tables of a window, for this number of states.
    pub(crate) fn launch_routes(&self, arguments: &Arguments, states: u32) -> Result<(), GpuError> {
        if let Some(engine) = &self.engine {
            return engine.launch(&*self.machine, arguments, states);
        }
        let blocks = [arguments.sizes.switches, arguments.window.blocks(), states];
        self.launch_blocks(KernelName::Routes, blocks, arguments)
    }

    /// Writes the faults of all states. Returns whether some node is cut off.
    fn write_masks(&mut self, degradations: &[Degradation]) -> Result<bool, GpuError> {
        let mut has_dead_nodes = false;
        // The flags of all states stand before the masks, and are cleared with them.
        self.masks.clear();
        self.masks.resize(self.states.mask_offset, 0);
        for degradation in degradations {
            has_dead_nodes |= Live::new(&self.fabric, degradation).has_dead_node_cables();
            let words = degradation.switch_mask().iter().chain(degradation.cable_mask());
            words.for_each(|word| self.masks.extend_from_slice(&word.to_le_bytes()));
        }
        self.machine.write(self.states.addresses.flags, &self.masks)?;
        Ok(has_dead_nodes)
    }

    pub(crate) fn arguments(&self, has_dead_nodes: bool) -> Arguments {
        Arguments {
            fabric: self.device.addresses,
            states: self.states.addresses,
            sizes: Sizes { table_bytes: self.states.table_bytes as u64, ..self.device.sizes },
            ranks_run: self.ranks_run,
            step: 0,
            has_dead_nodes,
            assumes_ranks: false,
            first_state: 0,
            window: windows::whole(&self.device),
        }
    }

    /// Starts a kernel for all states.
    pub(super) fn launch(
        &self,
        kernel: KernelName,
        [x, y]: [u32; 2],
        arguments: &Arguments,
    ) -> Result<(), GpuError> {
        self.launch_blocks(kernel, [x, y, self.routed as u32], arguments)
    }

    fn launch_blocks(
        &self,
        kernel: KernelName,
        blocks: [u32; 3],
        arguments: &Arguments,
    ) -> Result<(), GpuError> {
        if blocks.contains(&0) {
            return Ok(());
        }
        let shared_bytes = match kernel {
            KernelName::Routes => arguments.route_bytes(),
            _ => 0,
        };
        let size = LaunchSize { blocks, threads: THREADS, shared_bytes };
        self.machine.launch(kernel, size, &arguments.words())
    }

    /// Waits until the machine is done.
    ///
    /// # Errors
    /// If something failed on the machine.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.machine.wait()
    }
}

/// Returns the states that have flags.
fn unfinished(flags: &[u32]) -> Vec<usize> {
    let flagged = flags.iter().enumerate().filter(|(_, flags)| **flags != 0);
    flagged.map(|(state, _)| state).collect()
}
