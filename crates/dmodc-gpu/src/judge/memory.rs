//! The memory of a judge on a machine. It grows with the largest batch, and is kept.

use std::sync::Arc;

use super::request::DevicePattern;
use super::tables::JudgeTables;
use crate::buffer::Buffer;
use crate::error::GpuError;
use crate::layout::DeviceFabric;
use crate::machine::{Address, Machine};

/// Memory that grows.
#[derive(Debug, Default)]
pub(super) struct Grown(Option<Buffer>);

impl Grown {
    /// Makes room for this number of bytes. What was there before is lost if there was less.
    pub(super) fn room(
        &mut self,
        machine: &Arc<dyn Machine>,
        bytes: usize,
    ) -> Result<Address, GpuError> {
        if self.0.as_ref().is_none_or(|buffer| buffer.bytes() < bytes) {
            // The old memory is given back first.
            self.0 = None;
            self.0 = Some(Buffer::new(machine, bytes)?);
        }
        Ok(self.address())
    }

    /// Returns where the memory is.
    pub(super) fn address(&self) -> Address {
        self.0.as_ref().map_or(Address(0), Buffer::address)
    }

    /// Returns numbers of 4 bytes from the start of the memory.
    pub(super) fn read_u32s(&self, count: usize) -> Result<Vec<u32>, GpuError> {
        self.0.as_ref().map_or(Ok(vec![]), |buffer| buffer.read_u32s(count))
    }

    /// Returns numbers of 8 bytes from the start of the memory.
    pub(super) fn read_u64s(&self, count: usize) -> Result<Vec<u64>, GpuError> {
        self.0.as_ref().map_or(Ok(vec![]), |buffer| buffer.read_u64s(count))
    }
}

/// The memory of a batch.
#[derive(Debug, Default)]
pub(super) struct JudgeMemory {
    pub(super) states: Grown,
    pub(super) pool: Grown,
    pub(super) channels: Grown,
    pub(super) flows: Grown,
    pub(super) link_loads: Grown,
    pub(super) lost: Grown,
    pub(super) counters: Grown,
    pub(super) touched: Grown,
    pub(super) draws: Grown,
    pub(super) results: Grown,
    pub(super) scratch: Grown,
}

/// The bytes of the arrays of one state.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateBytes {
    pub(super) channels: usize,
    pub(super) flows: usize,
    pub(super) link_loads: usize,
    pub(super) lost: usize,
    pub(super) touched: usize,
}

impl StateBytes {
    pub(super) fn new(device: &DeviceFabric, tables: &JudgeTables) -> Self {
        let sizes = &device.sizes;
        StateBytes {
            channels: (8 * sizes.switches as usize) << tables.numbers.shift,
            flows: 2 * sizes.table_bytes as usize,
            link_loads: 4 * sizes.links as usize,
            lost: 8 * tables.numbers.lost_limit as usize,
            touched: 4 * tables.slot_words,
        }
    }

    /// Returns the bytes of everything that a state needs to be judged by these patterns.
    pub(super) fn sum(&self, nodes: usize, switches: usize, patterns: &[DevicePattern]) -> usize {
        let of_pattern = |pattern: &DevicePattern| match *pattern {
            DevicePattern::AllToAll => 0,
            DevicePattern::Permutations(count)
            | DevicePattern::Bisections(count)
            | DevicePattern::SampledShifts(count) => count * (2 * nodes + 8),
            DevicePattern::Shifts => 8 * nodes,
        };
        // Classes, order, three levels of cuts and what else the host sends.
        let pool = 4 * (8 * switches + 5 * nodes + 1024);
        let arrays = self.channels + self.flows + self.link_loads + self.lost + self.touched;
        arrays + pool + patterns.iter().map(of_pattern).sum::<usize>()
    }
}
