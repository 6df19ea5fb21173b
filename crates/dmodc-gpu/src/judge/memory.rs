//! The memory of a judge on a machine. It grows with the largest batch, and is kept.

use super::request::DevicePattern;
use super::tables::JudgeTables;
use crate::buffer::GrowingBuffer;
use crate::layout::DeviceFabric;

/// The memory of a batch.
#[derive(Debug, Default)]
pub(super) struct JudgeMemory {
    pub(super) states: GrowingBuffer,
    pub(super) pool: GrowingBuffer,
    pub(super) channels: GrowingBuffer,
    pub(super) flows: GrowingBuffer,
    pub(super) link_loads: GrowingBuffer,
    pub(super) lost: GrowingBuffer,
    pub(super) counters: GrowingBuffer,
    pub(super) touched: GrowingBuffer,
    pub(super) draws: GrowingBuffer,
    pub(super) results: GrowingBuffer,
    pub(super) scratch: GrowingBuffer,
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
