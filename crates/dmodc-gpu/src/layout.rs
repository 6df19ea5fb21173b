//! A fabric with its orders and columns as flat arrays in the memory of a machine. They never change.
//!
//! Columns become *slots*: a tile has its columns, and then as many empty slots as make a multiple of 16, because kernels write 16
//! entries, a *chunk*, at once. A *run* is a series of columns of one destination switch with consecutive numbers, whose entries
//! follow from the first one's by counting.

use std::sync::Arc;

use dmodc::fabric::Peer;
use dmodc::{
    BLOCK, Columns, Degradation, Destination, End, Fabric, LevelRule, Live, RankRule, Ranking,
    Routing, SwitchIndex, Tile,
};

use crate::arguments::{FabricAddresses, MOST_RUNS, Sizes};
use crate::buffer::{Buffer, bytes_of_u32s, bytes_of_u64s};
use crate::error::GpuError;
use crate::machine::{Address, Machine};

/// The slots of a chunk.
pub(crate) const CHUNK: usize = 16;

/// The target of the empty slots at the end of a row.
const NO_TARGET: u32 = 64;

/// Tiles start at multiples of this number of bytes.
const TILE_ALIGNMENT: usize = 256;

/// The most ranks that costs as bits can have.
pub(crate) const MOST_RANKS: u32 = 8;

const NONE: u32 = u32::MAX;

/// A fabric in the memory of a machine.
#[derive(Debug)]
pub(crate) struct DeviceFabric {
    pub(crate) addresses: FabricAddresses,
    pub(crate) sizes: Sizes,
    /// The number of ranks without faults.
    pub(crate) ranks: u32,
    /// The rank of each switch without faults; 255 for none, or for one that is too great.
    pub(crate) healthy_ranks: Vec<u8>,
    /// Whether ranks are counted from the leaves, so that kernels can compute them.
    pub(crate) ranked_from_leaves: bool,
    /// Where each tile starts, and the bytes from row to row.
    pub(crate) places: Vec<TilePlace>,
    /// The bytes of the mask of switches, which the mask of cables follows.
    pub(crate) switch_mask_bytes: usize,
    /// Where the links of each switch start.
    pub(crate) starts: Vec<u32>,
    /// The port of each link.
    pub(crate) link_ports: Vec<u8>,
    /// The memory behind the addresses.
    _buffers: Vec<Buffer>,
}

/// Where a tile is in the tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TilePlace {
    pub(crate) offset: usize,
    pub(crate) pitch: usize,
    pub(crate) slot: usize,
}

impl DeviceFabric {
    pub(crate) fn new(
        machine: &Arc<dyn Machine>,
        fabric: &Fabric,
        routing: &Routing,
    ) -> Result<Self, GpuError> {
        let healthy = Degradation::none(fabric);
        let ranking = routing.ranking(Live::new(fabric, &healthy));
        let columns = routing.columns();
        let links = Links::new(fabric, routing);
        let places = tile_places(columns, fabric.switches().len());
        let slots = Slots::new(fabric, columns, &places);
        let mut upload = Upload { machine, buffers: vec![] };
        let mut is_leaf = vec![0; fabric.switches().len()];
        for leaf in ranking.leaves() {
            is_leaf[leaf.at()] = 1;
        }
        let mut addresses = FabricAddresses::default();
        links.store(&mut upload, &mut addresses)?;
        slots.store(&mut upload, &mut addresses)?;
        store_tiles(&mut upload, &mut addresses, columns, &places)?;
        let switches = fabric.switch_indices();
        addresses.position = upload.u32s(switches.map(|s| routing.orders().position(s)))?;
        addresses.target = upload.u32s(targets(columns, fabric.switches().len()))?;
        addresses.is_leaf = upload.bytes(&is_leaf)?;
        let inverse = |n: u64| if n < 2 { 0 } else { u64::MAX / n + 1 };
        addresses.inverse = upload.bytes(&bytes_of_u64s((0..256).map(inverse)))?;
        addresses.rule = upload.u32s(rules(routing))?;
        // Levels that are counted from a root do not go with ranks alone.
        let from_root = routing.orders().level_dividers().levels_from_root().is_some();
        let sizes = Sizes {
            table_bytes: table_bytes(columns, &places, fabric.switches().len()) as u64,
            switches: fabric.switches().len() as u32,
            links: links.peers.len() as u32,
            tiles: places.len() as u32,
            slots: slots.numbers.len() as u32,
            mask_words: 2 * (healthy.switch_mask().len() + healthy.cable_mask().len()) as u32,
            most_groups: links.most_groups(|_| true),
            most_leaf_groups: links.most_groups(|s| is_leaf[s] == 1),
            has_several_lids: slots.ks.iter().any(|&k| k > 0),
            shared_bytes: machine.shared_bytes() as u32,
        };
        Ok(DeviceFabric {
            addresses,
            sizes,
            ranks: ranking.levels(),
            healthy_ranks: healthy_ranks(fabric, &ranking),
            ranked_from_leaves: *ranking.rule() == RankRule::Leaves && !from_root,
            places,
            switch_mask_bytes: 8 * healthy.switch_mask().len(),
            starts: links.starts,
            link_ports: links.ports,
            _buffers: upload.buffers,
        })
    }
}

/// The rank of a switch without one.
const NO_RANK: u8 = u8::MAX;

fn healthy_ranks(fabric: &Fabric, ranking: &Ranking) -> Vec<u8> {
    let rank = |s| ranking.rank(s).and_then(|rank| u8::try_from(rank).ok()).unwrap_or(NO_RANK);
    fabric.switch_indices().map(rank).collect()
}

/// Arrays on their way to a machine.
pub(crate) struct Upload<'a> {
    pub(crate) machine: &'a Arc<dyn Machine>,
    pub(crate) buffers: Vec<Buffer>,
}

impl Upload<'_> {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<Address, GpuError> {
        let buffer = Buffer::holding(self.machine, bytes)?;
        let address = buffer.address();
        self.buffers.push(buffer);
        Ok(address)
    }

    pub(crate) fn u32s(
        &mut self,
        numbers: impl IntoIterator<Item = u32>,
    ) -> Result<Address, GpuError> {
        self.bytes(&bytes_of_u32s(numbers))
    }
}

/// The links of all switches: each by position of the peer, then by port.
struct Links {
    starts: Vec<u32>,
    peers: Vec<u32>,
    cables: Vec<u32>,
    ports: Vec<u8>,
}

impl Links {
    fn new(fabric: &Fabric, routing: &Routing) -> Self {
        let mut links = Links { starts: vec![0], peers: vec![], cables: vec![], ports: vec![] };
        for s in fabric.switch_indices() {
            let link = |(at, port): (usize, &dmodc::fabric::Port)| match (port.peer, port.cable()) {
                (Peer::Switch(peer, _), Some(cable)) => Some((peer, at, cable)),
                _ => None,
            };
            let numbered = fabric.ports_of(s).iter().enumerate();
            let mut own: Vec<_> = numbered.filter_map(link).collect();
            own.sort_by_key(|&(peer, at, _)| (routing.orders().position(peer), at));
            for (peer, at, cable) in own {
                links.peers.push(peer.at() as u32);
                links.cables.push(cable.at() as u32);
                // The first port of a switch has the number 1.
                links.ports.push(at as u8 + 1);
            }
            links.starts.push(links.peers.len() as u32);
        }
        links
    }

    fn store(&self, upload: &mut Upload<'_>, to: &mut FabricAddresses) -> Result<(), GpuError> {
        to.link_start = upload.u32s(self.starts.iter().copied())?;
        to.link_peer = upload.u32s(self.peers.iter().copied())?;
        to.link_cable = upload.u32s(self.cables.iter().copied())?;
        to.link_port = upload.bytes(&self.ports)?;
        Ok(())
    }

    /// Returns the greatest number of neighbours of some switches: a switch may have all of them in one direction.
    fn most_groups(&self, is_wanted: impl Fn(usize) -> bool) -> u32 {
        let neighbours = |range: &[u32]| {
            let own = &self.peers[range[0] as usize..range[1] as usize];
            own.chunk_by(|a, b| a == b).count()
        };
        let wanted = self.starts.windows(2).enumerate().filter(|(s, _)| is_wanted(*s));
        wanted.map(|(_, range)| neighbours(range)).max().unwrap_or(0) as u32
    }
}

/// Returns where each tile is in the tables.
fn tile_places(columns: &Columns, switches: usize) -> Vec<TilePlace> {
    let (mut offset, mut slot) = (0, 0);
    let place = |tile: Tile| {
        let pitch = tile.columns.len().next_multiple_of(CHUNK);
        let place = TilePlace { offset, pitch, slot };
        offset = (offset + pitch * switches).next_multiple_of(TILE_ALIGNMENT);
        slot += pitch;
        place
    };
    columns.tiles().map(place).collect()
}

/// Returns the bytes of all tiles.
fn table_bytes(columns: &Columns, places: &[TilePlace], switches: usize) -> usize {
    let last = places.last().filter(|_| !columns.is_empty());
    last.map_or(0, |last| (last.offset + last.pitch * switches).next_multiple_of(TILE_ALIGNMENT))
}

fn store_tiles(
    upload: &mut Upload<'_>,
    to: &mut FabricAddresses,
    columns: &Columns,
    places: &[TilePlace],
) -> Result<(), GpuError> {
    let offsets = places.iter().map(|place| place.offset as u64);
    to.tile_offset = upload.bytes(&bytes_of_u64s(offsets))?;
    to.tile_pitch = upload.u32s(places.iter().map(|place| place.pitch as u32))?;
    to.tile_slot = upload.u32s(places.iter().map(|place| place.slot as u32))?;
    to.tile_width = upload.u32s(columns.tiles().map(|tile| tile.columns.len() as u32))?;
    to.tile_column = upload.u32s(columns.tiles().map(|tile| tile.columns.start as u32))?;
    Ok(())
}

/// Returns the place of each switch among the destination switches.
pub(crate) fn targets(columns: &Columns, switches: usize) -> Vec<u32> {
    let mut targets = vec![NONE; switches];
    for (at, s) in columns.switches().iter().enumerate() {
        targets[s.at()] = at as u32;
    }
    targets
}

/// Returns the dividers of each rank: groups up, ports up, groups down, ports down; 0 is none.
fn rules(routing: &Routing) -> Vec<u32> {
    let levels = routing.orders().level_dividers();
    let numbers = |rule: Option<&LevelRule>| {
        let rule = rule.copied().unwrap_or_default();
        [rule.group.unwrap_or(0), rule.port.unwrap_or(0)]
    };
    let of_rank = |rank: usize| [numbers(levels.up().get(rank)), numbers(levels.down().get(rank))];
    (0..MOST_RANKS as usize).flat_map(of_rank).flatten().collect()
}

/// The columns with their padding.
struct Slots {
    numbers: Vec<u32>,
    cables: Vec<u32>,
    targets: Vec<u8>,
    ks: Vec<u8>,
    ports: Vec<u8>,
    /// Two words for each chunk: d of the first slot; its run in the tile, and the slots of the run from there on, or 0 in tiles with
    /// too many runs.
    chunks: Vec<u32>,
    /// Two words for each run: the first d; target, k and length.
    runs: Vec<u32>,
    /// The chunks of each tile that have more than one run, counted from the first of the tile.
    mixed: Vec<u32>,
    /// The structure `RouteTile` of common.cu for each tile.
    route_tiles: Vec<u32>,
}

impl Slots {
    fn new(fabric: &Fabric, columns: &Columns, places: &[TilePlace]) -> Self {
        let count = places.last().map_or(0, |last| last.slot + last.pitch);
        let mut slots = Slots {
            numbers: vec![0; count],
            cables: vec![NONE; count],
            targets: vec![0; count],
            ks: vec![0; count],
            ports: vec![0; count],
            chunks: vec![],
            runs: vec![],
            mixed: vec![],
            route_tiles: vec![],
        };
        let targets = targets(columns, fabric.switches().len());
        let target = |s: SwitchIndex| targets[s.at()] as usize % BLOCK;
        for (tile, place) in columns.tiles().zip(places) {
            let own = &columns.destinations()[tile.columns.clone()];
            for (at, destination) in own.iter().enumerate() {
                let slot = place.slot + at;
                slots.numbers[slot] = destination.number;
                slots.targets[slot] = target(destination.switch) as u8;
                slots.ks[slot] = destination.k;
                slots.ports[slot] = destination.port.0;
                if let End::Node(n) = destination.end {
                    slots.cables[slot] = fabric.node_cable(n).at() as u32;
                }
            }
            let padding = place.pitch - own.len();
            let runs: Vec<Run> = runs(own, padding, |s| target(s) as u32).collect();
            let is_early = |destination: &&Destination| target(destination.switch) < BLOCK / 2;
            let early_chunks = own.iter().step_by(CHUNK).filter(is_early).count() as u32;
            slots.add_tile(place, &runs, early_chunks);
        }
        slots
    }

    /// Adds the runs of the next tile, and its chunks. `early_chunks` is the number of chunks that begin
    /// with one of its first 32 targets.
    fn add_tile(&mut self, place: &TilePlace, runs: &[Run], early_chunks: u32) {
        assert!(runs.is_empty() || early_chunks > 0, "a tile begins with its first target");
        let first_run = self.runs.len() as u32 / 2;
        for run in runs {
            self.runs.extend([run.number, run.target | u32::from(run.k) << 8 | run.length << 16]);
        }
        let has_records = runs.len() <= MOST_RUNS as usize;
        let slots = runs.iter().enumerate().flat_map(|(at, run)| {
            (0..run.length).map(move |i| {
                // Kernels look up the record of the run in any case, so it must be one that there is memory for.
                let (run_place, left) =
                    if has_records { (at as u32, run.length - i) } else { (0, 0) };
                [run.number.wrapping_add(i), run_place | left << 16]
            })
        });
        let chunks: Vec<[u32; 2]> = slots.step_by(CHUNK).collect();
        let first_mixed = self.mixed.len() as u32;
        let is_mixed = |chunk: &[u32; 2]| (chunk[1] >> 16) < CHUNK as u32;
        let numbered = chunks.iter().zip(0..);
        self.mixed.extend(numbered.filter(|(chunk, _)| is_mixed(chunk)).map(|(_, at)| at));
        self.route_tiles.extend([
            place.offset as u32,
            (place.offset as u64 >> 32) as u32,
            chunks.len() as u32,
            (place.slot / CHUNK) as u32,
            first_run,
            if has_records { runs.len() as u32 } else { 0 },
            early_chunks,
            first_mixed,
            self.mixed.len() as u32 - first_mixed,
            0,
            0,
            0,
        ]);
        self.chunks.extend(chunks.into_iter().flatten());
    }

    fn store(&self, upload: &mut Upload<'_>, to: &mut FabricAddresses) -> Result<(), GpuError> {
        to.run = upload.u32s(self.runs.iter().copied())?;
        to.mixed = upload.u32s(self.mixed.iter().copied())?;
        to.route_tile = upload.u32s(self.route_tiles.iter().copied())?;
        to.slot_number = upload.u32s(self.numbers.iter().copied())?;
        to.slot_cable = upload.u32s(self.cables.iter().copied())?;
        to.slot_target = upload.bytes(&self.targets)?;
        to.slot_k = upload.bytes(&self.ks)?;
        to.slot_port = upload.bytes(&self.ports)?;
        to.chunk = upload.u32s(self.chunks.iter().copied())?;
        Ok(())
    }
}

/// Columns of one destination switch with consecutive numbers.
pub(crate) struct Run {
    pub(crate) number: u32,
    pub(crate) target: u32,
    pub(crate) k: u8,
    pub(crate) length: u32,
}

/// Returns the runs of a tile. The empty slots at its end are one more.
pub(crate) fn runs(
    own: &[Destination],
    padding: usize,
    target: impl Fn(SwitchIndex) -> u32,
) -> impl Iterator<Item = Run> {
    let follows = |a: &Destination, b: &Destination| {
        a.switch == b.switch && a.k == b.k && b.number == a.number.wrapping_add(1)
    };
    let run = move |part: &[Destination]| Run {
        number: part[0].number,
        target: target(part[0].switch),
        k: part[0].k,
        length: part.len() as u32,
    };
    let empty = Run { number: 0, target: NO_TARGET, k: 0, length: padding as u32 };
    own.chunk_by(follows).map(run).chain((padding > 0).then_some(empty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::defined;

    #[test]
    fn kernels_have_the_same_numbers() {
        for (name, value) in [
            ("NO_TARGET", NO_TARGET),
            ("MOST_RANKS", MOST_RANKS),
            ("NO_RANK", NO_RANK.into()),
            ("NONE", NONE),
        ] {
            assert_eq!(defined(name), u64::from(value), "{name}");
        }
        assert_eq!(NO_TARGET as usize, BLOCK, "the first number that is no target of a tile");
    }
}
