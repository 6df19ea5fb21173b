//! What kernels need of a reference besides its state: σ, numbers of destinations, moved entries.

use dmodc::fabric::Peer;
use dmodc::{BLOCK, Columns, Fabric, Live, Reference, SwitchIndex};

use super::arguments::ReferenceAddresses;
use crate::arguments::TILES;
use crate::buffer::Buffer;
use crate::error::GpuError;
use crate::layout::{TilePlace, Upload, runs, targets};
use crate::router::GpuRouter;

/// The bits of a switch in `is_known` of stable.cu.
const IS_ALIVE: u8 = 1;
const IS_LEAF: u8 = 2;

/// A reference on a machine.
pub(super) struct Uploaded {
    pub(super) addresses: ReferenceAddresses,
    pub(super) moved_count: u32,
    /// The memory behind the addresses.
    pub(super) buffers: Vec<Buffer>,
}

/// Copies what kernels read, and makes room for the closer sets that they write.
pub(super) fn upload(router: &GpuRouter, reference: &Reference) -> Result<Uploaded, GpuError> {
    let (fabric, columns) = (router.fabric(), router.routing().columns());
    let mut addresses = ReferenceAddresses::default();
    let mut upload = Upload { machine: router.machine(), buffers: vec![] };
    let starts = closer_starts(fabric, reference);
    let (switches, tiles) = (fabric.switches().len(), columns.tiles().len());
    let mut room = |words: usize| -> Result<_, GpuError> {
        let buffer = Buffer::new(router.machine(), 8 * words)?;
        let address = buffer.address();
        upload.buffers.push(buffer);
        Ok(address)
    };
    addresses.closer = room(starts.last().map_or(0, |&all| all as usize) * tiles)?;
    addresses.up = room(switches * tiles)?;
    addresses.down = room(switches * tiles)?;
    addresses.uniform = room(switches * tiles.div_ceil(TILES as usize))?;
    addresses.closer_start = upload.u32s(starts)?;
    addresses.is_known = upload.bytes(&known(fabric, reference))?;
    addresses.sigma = upload.u32s(fabric.switch_indices().map(|s| reference.sigma(s)))?;
    addresses.first_number = upload.u32s(first_numbers(columns))?;
    let pieces = Pieces::new(columns, switches);
    addresses.piece = upload.u32s(pieces.words)?;
    addresses.tile_piece = upload.u32s(pieces.starts)?;
    let moved = moved_entries(fabric, columns, router.places(), reference);
    addresses.moved = upload.u32s(moved.iter().copied().flatten())?;
    Ok(Uploaded { addresses, moved_count: moved.len() as u32, buffers: upload.buffers })
}

/// Returns where the closer sets of each switch start, as a number of words by group: groups up and down share words.
fn closer_starts(fabric: &Fabric, reference: &Reference) -> Vec<u32> {
    let groups = &reference.preprocessing().groups;
    let mut starts = vec![0];
    for s in fabric.switch_indices() {
        let words = groups.up(s).len().max(groups.down(s).len());
        starts.push(starts[s.at()] + words as u32);
    }
    starts
}

/// Returns which switches the reference has, and which of them are leaves.
fn known(fabric: &Fabric, reference: &Reference) -> Vec<u8> {
    let live = Live::new(fabric, reference.degradation());
    let ranking = &reference.preprocessing().ranking;
    let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let known = |s| bit(live.switch(s), IS_ALIVE) | bit(ranking.is_leaf(s), IS_LEAF);
    fabric.switch_indices().map(known).collect()
}

/// Returns f of every target: the number of its first destination. The last tile is filled up.
fn first_numbers(columns: &Columns) -> Vec<u32> {
    let number = |at: usize| columns.destinations()[at].number;
    let first = |target: usize| columns.of_switch(target).next().map_or(0, number);
    let mut numbers: Vec<u32> = (0..columns.switches().len()).map(first).collect();
    numbers.resize(numbers.len().next_multiple_of(BLOCK), 0);
    numbers
}

/// The runs of all tiles, with their places.
struct Pieces {
    /// Four words for each run: the first d, the first slot in its tile, target and k, the length.
    words: Vec<u32>,
    /// Where the runs of each tile start, as a number of runs.
    starts: Vec<u32>,
}

impl Pieces {
    fn new(columns: &Columns, switches: usize) -> Self {
        let mut pieces = Pieces { words: vec![], starts: vec![0] };
        let targets = targets(columns, switches);
        let target = |s: SwitchIndex| targets[s.at()] % BLOCK as u32;
        for tile in columns.tiles() {
            let own = &columns.destinations()[tile.columns.clone()];
            let mut slot = 0;
            for run in runs(own, 0, target) {
                let about = run.target | u32::from(run.k) << 8;
                pieces.words.extend([run.number, slot, about, run.length]);
                slot += run.length;
            }
            pieces.starts.push(pieces.words.len() as u32 / 4);
        }
        pieces
    }
}

/// Returns the moved entries as `Moved` of stable_moved.cu: switch, tile, slot, target in the tile, port, the switch behind the
/// port, the cable, and nothing.
fn moved_entries(
    fabric: &Fabric,
    columns: &Columns,
    places: &[TilePlace],
    reference: &Reference,
) -> Vec<[u32; 8]> {
    let targets = targets(columns, fabric.switches().len());
    let mut moved: Vec<_> = reference.moved_entries().collect();
    moved.sort_unstable();
    let record = |one: dmodc::MovedEntry| {
        let destination = &columns.destinations()[one.column as usize];
        let target = targets[destination.switch.at()] as usize;
        let tile = columns.tile(target / BLOCK);
        let slot = one.column as usize - tile.columns.start;
        let port = fabric.ports_of(one.switch).get(usize::from(one.port.0).checked_sub(1)?)?;
        let Peer::Switch(peer, _) = port.peer else { return None };
        let words = [
            one.switch.at(),
            tile.index,
            places[tile.index].slot + slot,
            target % BLOCK,
            usize::from(one.port.0),
            peer.at(),
            port.cable()?.at(),
        ];
        let mut record = [0; 8];
        record.iter_mut().zip(words).for_each(|(to, word)| *to = word as u32);
        Some(record)
    };
    moved.into_iter().filter_map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::defined;

    #[test]
    fn kernels_have_the_same_bits() {
        assert_eq!(defined("WAS_ALIVE"), u64::from(IS_ALIVE));
        assert_eq!(defined("WAS_LEAF"), u64::from(IS_LEAF));
    }
}
