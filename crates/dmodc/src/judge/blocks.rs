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
pub struct Blocks {
    /// The block of each column.
    pub of_column: Vec<u32>,
    /// How many blocks there are.
    pub count: usize,
}

impl Blocks {
    /// Returns the blocks of these columns.
    pub fn new(columns: &Columns) -> Self {
        let mut all: Vec<u32> = columns.destinations().iter().map(|d| block(d.lid)).collect();
        let of_each = all.clone();
        all.sort_unstable();
        all.dedup();
        let place = |b: &u32| all.partition_point(|other| other < b) as u32;
        Blocks { of_column: of_each.iter().map(place).collect(), count: all.len() }
    }
}
