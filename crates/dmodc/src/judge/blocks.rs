//! Blocks of LIDs: what a subnet manager sends to a switch at once.

use crate::id::Lid;
use crate::tables::Columns;

/// How many entries the subnet manager sends at once: those of 64 successive LIDs.
const BLOCK_OF_LIDS: u32 = 64;

/// Returns the number of the block that a LID is in.
pub(super) fn block(lid: Lid) -> u32 {
    lid.0 / BLOCK_OF_LIDS
}

/// The blocks that columns are in, numbered without gaps: LIDs may lie anywhere in 32 bits, and blocks without a column
/// are not counted.
pub(super) struct Blocks {
    pub(super) of_column: Vec<u32>,
    pub(super) count: usize,
}

impl Blocks {
    pub(super) fn new(columns: &Columns) -> Self {
        let mut all: Vec<u32> = columns.destinations().iter().map(|d| block(d.lid)).collect();
        let of_each = all.clone();
        all.sort_unstable();
        all.dedup();
        let place = |b: &u32| all.partition_point(|other| other < b) as u32;
        Blocks { of_column: of_each.iter().map(place).collect(), count: all.len() }
    }
}
