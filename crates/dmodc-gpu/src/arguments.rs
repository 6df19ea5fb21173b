//! What a kernel reads and writes: the structure `Arguments` of `kernels/common.cu`.

use crate::machine::Address;

/// The words of the structure `Arguments`.
pub(crate) const WORDS: usize = 49;

/// The tiles that a block of the kernels for routes takes, as in shared.cu.
pub(crate) const TILES: u32 = 32;

/// The threads of a block, and the warps that they make.
pub(crate) const THREADS: u32 = 256;
pub(crate) const WARPS: u32 = THREADS / 32;

/// The most runs of a tile that kernels keep records of, as in shared.cu. The entries of tiles with more are computed one by one.
pub(crate) const MOST_RUNS: u32 = 192;

/// The bytes that a list of ports is longer than the ports, as in shared.cu.
const WRAPPED: u32 = 20;

/// The most bytes that a block shares if it has lists. Some GPUs have hardly more shared memory per block.
const MOST_LIST_BYTES: u32 = 96 << 10;

/// The bytes of the records of runs that a block shares, as in shared.cu.
pub(crate) const RECORD_BYTES: u32 = WARPS * MOST_RUNS * 4;

/// Where the arrays of a fabric are. The comments are in `kernels/common.cu`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FabricAddresses {
    pub(crate) link_start: Address,
    pub(crate) link_peer: Address,
    pub(crate) link_cable: Address,
    pub(crate) link_port: Address,
    pub(crate) position: Address,
    pub(crate) target: Address,
    pub(crate) is_leaf: Address,
    pub(crate) tile_offset: Address,
    pub(crate) tile_pitch: Address,
    pub(crate) tile_width: Address,
    pub(crate) tile_column: Address,
    pub(crate) tile_slot: Address,
    pub(crate) slot_number: Address,
    pub(crate) slot_cable: Address,
    pub(crate) slot_target: Address,
    pub(crate) slot_k: Address,
    pub(crate) slot_port: Address,
    pub(crate) chunk: Address,
    pub(crate) run: Address,
    pub(crate) mixed: Address,
    pub(crate) route_tile: Address,
    pub(crate) inverse: Address,
    pub(crate) rule: Address,
}

/// Where the arrays of the states are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StateAddresses {
    pub(crate) dead_switches: Address,
    pub(crate) dead_cables: Address,
    pub(crate) flags: Address,
    pub(crate) counts: Address,
    pub(crate) peers: Address,
    pub(crate) firsts: Address,
    pub(crate) ports: Address,
    pub(crate) pi: Address,
    pub(crate) dividers: Address,
    pub(crate) ranks: Address,
    pub(crate) planes: Address,
    pub(crate) heights: Address,
    pub(crate) depths: Address,
    pub(crate) dead_slots: Address,
    pub(crate) digests: Address,
    pub(crate) costs: Address,
    pub(crate) tables: Address,
}

/// Consecutive tiles whose tables are in memory at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TileWindow {
    pub(crate) first_tile: u32,
    pub(crate) end_tile: u32,
    /// Where the first tile starts in the whole tables of a state.
    pub(crate) offset: usize,
    /// The bytes of its tiles, for one state.
    pub(crate) bytes: usize,
}

impl TileWindow {
    /// Returns the number of its tiles.
    pub(crate) fn tiles(&self) -> u32 {
        self.end_tile - self.first_tile
    }

    /// Returns the number of blocks that take all its tiles, for one switch.
    pub(crate) fn blocks(&self) -> u32 {
        self.tiles().div_ceil(TILES)
    }

    /// Returns where whole tables would start, if the tables of this window are here.
    pub(crate) fn whole_tables(&self, tables: Address) -> Address {
        // Nothing is read or written there, so it does not matter whether there is memory.
        Address(tables.0.wrapping_sub(self.offset as u64))
    }
}

/// How large a fabric is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    /// The bytes of the tables of one state. The arguments of a launch have those of the largest window.
    pub(crate) table_bytes: u64,
    pub(crate) switches: u32,
    pub(crate) links: u32,
    pub(crate) tiles: u32,
    pub(crate) slots: u32,
    pub(crate) mask_words: u32,
    pub(crate) most_groups: u32,
    /// The greatest number of groups of a leaf. Switches with at most this number have room for lists of ports.
    pub(crate) most_leaf_groups: u32,
    /// Whether some node has more than one LID.
    pub(crate) has_several_lids: bool,
    /// The bytes that the threads of a block may share.
    pub(crate) shared_bytes: u32,
}

/// The arguments of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) fabric: FabricAddresses,
    pub(crate) states: StateAddresses,
    pub(crate) sizes: Sizes,
    /// The number of ranks, and of planes.
    pub(crate) ranks_run: u32,
    /// Which rank, wave, height or depth the launch is about.
    pub(crate) step: u32,
    /// Whether the nodes of some state are cut off.
    pub(crate) has_dead_nodes: bool,
    /// Whether ranks are those of the healthy fabric, until a switch shows that they are not.
    pub(crate) assumes_ranks: bool,
    /// The first state that the launch is about.
    pub(crate) first_state: u32,
    /// The tiles whose tables are in memory.
    pub(crate) window: TileWindow,
}

impl Arguments {
    /// Returns the same arguments for another step.
    pub(crate) fn at(self, step: u32) -> Self {
        Arguments { step, ..self }
    }

    /// Returns the bytes that a block of the kernel `routes` shares: see `block_view` of shared.cu. Switches with as many groups as
    /// leaves have room for lists of ports, unless that would be too much.
    pub(crate) fn route_bytes(&self) -> u32 {
        let Sizes { most_groups, most_leaf_groups, shared_bytes, .. } = self.sizes;
        let list_words = (most_leaf_groups + WRAPPED).div_ceil(4) | 1;
        let with_lists =
            closer_bytes(most_leaf_groups, self.ranks_run) + WARPS * 32 * list_words * 4;
        let without_lists = closer_bytes(most_groups, self.ranks_run);
        if with_lists <= MOST_LIST_BYTES.min(shared_bytes) {
            with_lists.max(without_lists)
        } else {
            without_lists
        }
    }

    /// Returns the arguments as the kernels read them.
    pub(crate) fn words(&self) -> [u64; WORDS] {
        let (f, s, n) = (&self.fabric, &self.states, &self.sizes);
        let addresses = [
            f.link_start,
            f.link_peer,
            f.link_cable,
            f.position,
            f.target,
            f.tile_offset,
            f.tile_pitch,
            f.tile_width,
            f.tile_column,
            f.tile_slot,
            f.slot_number,
            f.slot_cable,
            f.chunk,
            f.run,
            f.mixed,
            f.route_tile,
            f.inverse,
            f.rule,
            s.dead_switches,
            s.dead_cables,
            s.flags,
            s.counts,
            s.peers,
            s.pi,
            s.dividers,
            s.planes,
            s.heights,
            s.depths,
            s.dead_slots,
            s.digests,
            s.costs,
            self.window.whole_tables(s.tables),
            f.link_port,
            f.is_leaf,
            f.slot_target,
            f.slot_k,
            f.slot_port,
            s.ranks,
            s.firsts,
            s.ports,
        ];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let numbers = [
            n.table_bytes,
            pair(n.switches, n.links),
            pair(n.tiles, n.slots),
            pair(n.mask_words, u32::from(n.has_several_lids)),
            pair(self.ranks_run, self.step),
            pair(n.most_groups, u32::from(self.has_dead_nodes)),
            pair(self.first_state, u32::from(self.assumes_ranks)),
            pair(self.window.first_tile, self.window.end_tile),
            pair(self.route_bytes(), 0),
        ];
        let mut words = [0; WORDS];
        let all = addresses.into_iter().map(|address| address.0).chain(numbers);
        words.iter_mut().zip(all).for_each(|(word, value)| *word = value);
        words
    }
}

/// Returns the bytes that a block shares for closer sets and records: see `block_view` of shared.cu, without lists.
pub(crate) fn closer_bytes(most_groups: u32, ranks: u32) -> u32 {
    let (masks, tiles, sides) = (most_groups * 33 * 8, 3 * TILES * 8, 2 * 48);
    let parts = WARPS * (ranks.max(1) - 1) * TILES * 8;
    let sets = WARPS * 64 * most_groups.div_ceil(32) * 4;
    let (peers, sizes, firsts, ports) = (256 * 4, WARPS * 64, 256, 256 + 256 + 8);
    let (cycle, uniform, picks) = (256 + WRAPPED, 4, 16 * 4);
    let before = masks + tiles + parts + sides + sets + peers + sizes + firsts + ports;
    before + cycle + uniform + picks + RECORD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::defined;

    /// The numbers that stand in the source of the kernels, too.
    #[test]
    fn kernels_have_the_same_sizes() {
        for (name, value) in
            [("WARPS", WARPS), ("TILES", TILES), ("MOST_RUNS", MOST_RUNS), ("WRAPPED", WRAPPED)]
        {
            assert_eq!(defined(name), u64::from(value), "{name}");
        }
    }

    #[test]
    fn no_word_is_left_out() {
        let sizes = Sizes { table_bytes: 1, ..Sizes::default() };
        let window = TileWindow { first_tile: 7, offset: 256, ..TileWindow::default() };
        let mut arguments = Arguments { sizes, window, ..Arguments::default() };
        arguments.states.tables = Address(1024);
        let words = arguments.words();
        assert_eq!((words[40], words[47]), (1, 7), "the first number and the last but one");
        assert_eq!(words[31], 768, "whole tables would start before the window");
    }
}
