//! What the judge knows of a fabric, whatever its state: where columns are, which LIDs make a block, which port a link is.

use dmodc::judge::Blocks;
use dmodc::judge::risk::DirectedPort;

use super::arguments::{JudgeAddresses, JudgeNumbers};
use crate::buffer::Buffer;
use crate::buffer::bytes_of_u32s;
use crate::error::GpuError;
use crate::layout::MOST_RANKS;
use crate::router::GpuRouter;

/// What a judge may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgeLimits {
    /// The bytes that the threads of a block share at most.
    pub shared_bytes: usize,
    /// The bytes that they share at most in a sweep of the fewest columns, which needs more than `shared_bytes` if there are many
    /// switches. The host judges fabrics whose sweep needs more than both.
    pub sweep_bytes: usize,
    /// The cuts of a state that kernels number at most. The host judges batches in which a state has more.
    pub cuts: usize,
    /// The lost bundles of a state that are listed at most. The host judges states with more.
    pub lost_bundles: usize,
}

impl JudgeLimits {
    /// Returns the usual limits for the states of a router. The list has room for some leaves that lost all cables.
    pub fn of(router: &GpuRouter) -> Self {
        let machine = router.machine().shared_bytes();
        JudgeLimits {
            shared_bytes: USUAL_SHARED_BYTES.min(machine),
            sweep_bytes: machine,
            cuts: MOST_CUTS,
            lost_bundles: 16 * router.routing().columns().len() + (1 << 16),
        }
    }
}

/// The most shared memory of a block, unless nothing works with less. Several such blocks run at the same time on large devices.
const USUAL_SHARED_BYTES: usize = 96 << 10;

/// The numbers of columns that a sweep may take at once. Fewer need less shared memory.
const SWEPT_COLUMNS: [usize; 3] = [32, 16, 8];

/// The words at the start of the shared memory of a sweep.
const SWEEP_WORDS: usize = 4;

/// The most nodes that kernels judge. Positions have 16 bits, and so have counts of flows. That is enough: fewer flows than there are
/// nodes go to the same node, or leave or enter a cut, and so do fewer flows of a permutation over a port of our tables.
///
/// Why no port from a to b carries the flows of all nodes, if all entries lead closer:
/// - The port leads up. Whoever sends over it climbs to a, so a reaches every sender by going down. No receiver is reached so from a,
///   or a would send down. So a receiver does not send over this port.
/// - The port leads down. A receiver that is h hops below b is h + 1 hops below a, and not fewer. If it sent over this port, too, it would
///   climb to a in h + 1 hops or more, and then go down to b, although it climbs to b in h hops. A route takes no such detour.
const MOST_NODES: usize = 1 << 16;

/// The most nodes if entries are not known to lead closer: a port may carry the flows of all nodes. Entries may form loops, but a flow
/// is counted at most once at a switch.
const MOST_NODES_OF_ANY_TABLES: usize = MOST_NODES - 1;

/// The most cuts of a state. Their numbers have 16 bits, and the greatest is no cut.
const MOST_CUTS: usize = u16::MAX as usize;

/// A rank has at most one cut for each switch. States with more than the usual ranks may still have too many cuts.
const MOST_SWITCHES: usize = MOST_CUTS / MOST_RANKS as usize;

/// The part of the judge that belongs to the fabric.
#[derive(Debug)]
pub(super) struct JudgeTables {
    pub(super) addresses: JudgeAddresses,
    pub(super) numbers: JudgeNumbers,
    pub(super) limits: JudgeLimits,
    /// The number of groups of columns that are swept at once.
    pub(super) groups: u32,
    pub(super) slot_of_column: Vec<u32>,
    pub(super) column_of_slot: Vec<u32>,
    /// Four words for each slot, as `slot_place` of `kernels/judge.cu`.
    places: Vec<u32>,
    pub(super) slot_words: usize,
    /// The number of blocks of LIDs.
    pub(super) lid_blocks: usize,
    /// The link of each port of each switch, by `switch << 8 | port`.
    link_of_port: Vec<u32>,
    /// Whether kernels can judge the states of this fabric, if the router computed their tables.
    judges_routed: bool,
    /// Whether kernels can judge any tables of this fabric.
    judges_any: bool,
    _buffers: [Buffer; 3],
}

impl JudgeTables {
    pub(super) fn new(router: &GpuRouter, limits: JudgeLimits) -> Result<Self, GpuError> {
        let (device, fabric) = (router.device(), router.fabric());
        let columns = router.routing().columns();
        let (slots, switches) = (device.sizes.slots as usize, fabric.switches().len());
        let blocks = Blocks::new(columns);
        let (mut slot_of_column, mut column_of_slot) = (vec![], vec![0; slots]);
        let (mut places, mut slot_block) = (vec![0; 4 * slots], vec![0; slots]);
        for (tile, place) in columns.tiles().zip(&device.places) {
            for (at, column) in tile.columns.enumerate() {
                let (slot, d) = (place.slot + at, &columns.destinations()[column]);
                let start = (place.offset + at) as u64;
                places[4 * slot..4 * slot + 4].copy_from_slice(&[
                    d.switch.at() as u32,
                    place.pitch as u32 | u32::from(d.port.0) << 24,
                    start as u32,
                    (start >> 32) as u32,
                ]);
                slot_of_column.push(slot as u32);
                column_of_slot[slot] = column as u32;
                slot_block[slot] = blocks.of_column[column];
            }
        }
        let fits = |columns: &usize| sweep_bytes(switches, *columns) <= limits.shared_bytes;
        let [.., fewest] = SWEPT_COLUMNS;
        let group_columns = SWEPT_COLUMNS.into_iter().find(fits).unwrap_or(fewest);
        let groups = column_groups(router, group_columns);
        let most_ports = fabric.switches().iter().map(|s| u32::from(s.ports)).max().unwrap_or(0);
        let hold = |words: &[u32]| {
            Buffer::holding(router.machine(), &bytes_of_u32s(words.iter().copied()))
        };
        let buffers = [hold(&places)?, hold(&slot_block)?, hold(&groups)?];
        let [slot_place, slot_block, column_group] = buffers.each_ref().map(Buffer::address);
        let slot_words = slots.div_ceil(32) + 1;
        let numbers = JudgeNumbers {
            // One channel more than ports and port 0 need: that of entries without a route.
            shift: (most_ports + 2).next_power_of_two().trailing_zeros().min(8),
            group_columns: group_columns as u32,
            slot_words: slot_words as u32,
            block_words: blocks.count.div_ceil(32) as u32,
            lost_limit: limits.lost_bundles as u32,
            ..JudgeNumbers::default()
        };
        let nodes = fabric.nodes().len();
        let most_bytes = limits.sweep_bytes.max(limits.shared_bytes);
        let judges_routed = sweep_bytes(switches, group_columns) <= most_bytes
            && !device.sizes.has_several_lids
            && nodes <= MOST_NODES
            && switches <= MOST_SWITCHES;
        Ok(JudgeTables {
            addresses: JudgeAddresses {
                slot_place,
                slot_block,
                column_group,
                ..JudgeAddresses::default()
            },
            numbers,
            limits,
            groups: groups.len() as u32 / 2,
            slot_of_column,
            column_of_slot,
            places,
            slot_words,
            lid_blocks: blocks.count,
            link_of_port: link_of_port(router),
            judges_routed,
            judges_any: judges_routed && nodes <= MOST_NODES_OF_ANY_TABLES,
            _buffers: buffers,
        })
    }

    /// Returns whether kernels can judge some states of the fabric.
    pub(super) fn judges_some(&self) -> bool {
        self.judges_routed
    }

    /// Returns whether kernels can judge the last batch of the router.
    pub(super) fn can_judge(&self, router: &GpuRouter) -> bool {
        if router.has_given_tables() { self.judges_any } else { self.judges_routed }
    }

    /// Returns the most cuts of a state that kernels number.
    pub(super) fn most_cuts(&self) -> usize {
        self.limits.cuts.min(MOST_CUTS)
    }

    /// Returns where the column of a slot is.
    pub(super) fn place(&self, slot: u32) -> [u32; 4] {
        std::array::from_fn(|word| self.places[4 * slot as usize + word])
    }

    /// Returns the number of the link of a directed port.
    pub(super) fn link(&self, port: &DirectedPort) -> usize {
        self.link_of_port[port.switch.at() << 8 | usize::from(port.port.0)] as usize
    }

    /// Returns the bytes that a block of a sweep shares.
    pub(super) fn sweep_bytes(&self, switches: usize) -> usize {
        sweep_bytes(switches, self.numbers.group_columns as usize)
    }
}

fn sweep_bytes(switches: usize, columns: usize) -> usize {
    4 * SWEEP_WORDS + 2 * switches * columns
}

/// Returns two words for each group of columns that is swept at once: its tile and its first slot.
fn column_groups(router: &GpuRouter, columns: usize) -> Vec<u32> {
    let places = router.device().places.iter().enumerate();
    let of_tile = |(tile, place): (usize, &crate::layout::TilePlace)| {
        let firsts = (place.slot..place.slot + place.pitch).step_by(columns);
        firsts.flat_map(move |slot| [tile as u32, slot as u32])
    };
    places.flat_map(of_tile).collect()
}

fn link_of_port(router: &GpuRouter) -> Vec<u32> {
    let device = router.device();
    let mut links = vec![0; router.fabric().switches().len() << 8];
    for (s, range) in device.starts.windows(2).enumerate() {
        for at in range[0]..range[1] {
            links[s << 8 | usize::from(device.link_ports[at as usize])] = at;
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the page about GPUs: kernels judge as many switches as there are numbers of cuts for, if a block may share
    /// 128 KiB.
    #[test]
    fn a_sweep_of_the_fewest_columns_takes_many_switches() {
        let [.., fewest] = SWEPT_COLUMNS;
        assert_eq!(MOST_SWITCHES, 8191);
        for (switches, kilobytes) in [(MOST_SWITCHES, 128), (6143, 96), (4095, 64)] {
            assert_eq!(sweep_bytes(switches, fewest), kilobytes << 10);
        }
    }
}
