// What an update changes, what any update had to change, and whether the fabric is valid.
//
//     changed(s, d) : the entries of s for d in the old and the new tables differ
//     forced(s, d)  : the old entry e cannot stay; P(s, d) are the ports of the closer groups, and none if d is dead
//                     P not empty: e is not in P
//                     P empty: e is a port, and the new tables have none, or the old route does not arrive
//     valid         : every leaf with nodes reaches every other, by costs
//
// Byte costs are kept for one state at a time. For such states this kernel counts only changes; the host counts forced entries and
// validity.
//
// Layout: the old tables, `kept`, have the layout of the new ones, which routes.cu describes. Shared memory has `BlockView`; in
// the place of its lists, `UpdateView` follows: the group of each port, and four sets of blocks of LIDs. Sums go to the counters
// of the state, and slots with a changed entry to its bits in `touched`, which the kernel `moved` reads.
//
// A block of eight warps takes a switch, and 32 tiles at a time. Departures from the plain loop over columns:
// 1. Closer sets are not built. As for routes, a mask for each group and tile has a bit for each target that the group is closer
//    to. An old entry is in P if the mask of its group has the bit of the target; `group_of` says which group a port belongs to.
// 2. A warp takes a tile, and a lane 16 entries at a time, which are read by one access to each table.
// 3. A block of LIDs may be in several tiles, and counts once. So blocks are marked by bits, which are counted at the end: warps
//    0 to 3 take one set each.
// 4. A thread counts in registers. Counts are added up by warp when the switch is done.
// 5. Old routes are followed only for entries without closer groups, where both tables have a port.
// 6. The block of a leaf also looks whether the leaf reaches all others, for 64 of them by one word.

#define NO_GROUP 0xffffu
#define DOWN_GROUP 0x8000u

// What the warps of a block share, apart from closer sets.
struct UpdateView {
    u16 *group_of;      // [256] the group of a port among those of its direction, or NO_GROUP
    u32 *blocks[4];     // [block_words] blocks of LIDs with an entry that is changed; forced; both; changed and of a live node
};

// What a thread counts.
struct UpdateCounts {
    u32 changed, set, unset, forced, forced_changed, live_changed, live_set, live_unset;
};

__device__ UpdateView update_view(const JudgeArguments &j, BlockView shared) {
    u32 *after = shared.records + WARPS * MOST_RUNS;
    u32 *first = after + 128;
    return {(u16 *)after, {first, first + j.block_words, first + 2 * j.block_words, first + 3 * j.block_words}};
}

// Writes down which group each port belongs to. A thread takes a group.
__device__ void find_groups(BlockView shared, UpdateView update, Counts counts) {
    u32 group = threadIdx.x, groups = counts.up_groups + counts.down_groups;
    if (group < groups) {
        u32 end = group + 1 < groups ? shared.firsts[group + 1] : counts.up_ports + counts.down_ports;
        bool is_up = group < counts.up_groups;
        for (u32 port = shared.firsts[group]; port < end; port++) {
            update.group_of[shared.ports[port]] = is_up ? group : (group - counts.up_groups) | DOWN_GROUP;
        }
    }
}

// One row of a tile.
struct UpdateRow {
    const JudgeArguments &j;
    BlockView shared;
    UpdateView update;
    u32 s;
    u32 local_tile;     // the tile, counted from the first of the block
    bool has_dead_nodes, has_costs;

    // Whether the cable of the node of a slot is dead.
    __device__ __forceinline__ bool is_cut_off(u32 slot) const {
        u32 cable = has_dead_nodes ? j.a.slot_cable[slot] : NONE;
        return cable != NONE && cable_is_dead(j.a, cable);
    }

    // Whether an old entry may stay: see the head of this file. Nobody reaches a switch that is dead.
    __device__ bool may_stay(u32 slot, u32 old_entry, u32 new_entry) const {
        if (is_cut_off(slot)) {
            return old_entry == NO_ROUTE;
        }
        u64 bit = 1ull << j.a.slot_target[slot];
        if (shared.own[local_tile] & bit) {
            return old_entry == j.a.slot_port[slot];
        }
        if ((shared.up[local_tile] | shared.down[local_tile]) & bit) {
            u32 group = update.group_of[old_entry];
            u64 side = group & DOWN_GROUP ? shared.down[local_tile] : shared.up[local_tile];
            return group != NO_GROUP && shared.masks[(group & ~DOWN_GROUP) * MASK_PITCH + local_tile] & side & bit;
        }
        return old_entry == NO_ROUTE || (new_entry != NO_ROUTE && arrives(j, j.kept, column_of(j, slot), s));
    }

    __device__ void mark(u32 kind, u32 slot) const {
        u32 block = j.slot_block[slot];
        atomicOr(&update.blocks[kind][block >> 5], 1u << (block & 31));
    }

    // Counts an entry that is changed.
    __device__ void change(u32 slot, u32 old_entry, u32 new_entry, UpdateCounts &counts) const {
        u32 is_set = old_entry == NO_ROUTE, is_unset = new_entry == NO_ROUTE;
        counts.changed++;
        counts.set += is_set;
        counts.unset += is_unset;
        mark(0, slot);
        if (!is_cut_off(slot) && !switch_is_dead(j.a, j.slot_place[slot].x)) {
            counts.live_changed++;
            counts.live_set += is_set;
            counts.live_unset += is_unset;
            mark(3, slot);
        }
    }

    // Compares sixteen entries, of which `width` are of columns. Returns a bit for each that differs.
    __device__ u32 compare(u32 slot, u32 width, uint4 old_entries, uint4 new_entries, UpdateCounts &counts) const {
        u64 old_low = old_entries.x | (u64)old_entries.y << 32, old_high = old_entries.z | (u64)old_entries.w << 32;
        u64 new_low = new_entries.x | (u64)new_entries.y << 32, new_high = new_entries.z | (u64)new_entries.w << 32;
        u32 changed = 0;
#pragma unroll 1
        for (u32 byte = 0; byte < min(width, 16u); byte++) {
            u32 old_entry = (byte < 8 ? old_low : old_high) >> 8 * (byte & 7) & 255;
            u32 new_entry = (byte < 8 ? new_low : new_high) >> 8 * (byte & 7) & 255;
            bool is_changed = old_entry != new_entry;
            if (is_changed) {
                changed |= 1u << byte;
                change(slot + byte, old_entry, new_entry, counts);
            }
            if (has_costs && !may_stay(slot + byte, old_entry, new_entry)) {
                counts.forced++;
                mark(1, slot + byte);
                if (is_changed) {
                    counts.forced_changed++;
                    mark(2, slot + byte);
                }
            }
        }
        return changed;
    }

    // Compares the entries of a tile.
    __device__ void compare_tile(u32 tile, UpdateCounts &counts) const {
        const Arguments &a = j.a;
        u32 pitch = a.tile_pitch[tile], first = a.tile_slot[tile], width = a.tile_width[tile];
        u64 row = a.tile_offset[tile] + (u64)s * pitch;
        u32 *touched = j.touched + (u64)state(a) * j.slot_words;
        for (u32 at = lane() * 16; at < pitch; at += 32 * 16) {
            uint4 old_entries = *(const uint4 *)(j.kept + row + at);
            uint4 new_entries = *(const uint4 *)(tables_of(j) + row + at);
            u32 slot = first + at, changed = compare(slot, width - min(width, at), old_entries, new_entries, counts);
            if (changed) {
                atomicOr(&touched[slot >> 5], changed << (slot & 31));
            }
        }
        __syncwarp();
    }
};

// Adds a number of each thread of a warp to a counter.
__device__ void add_to(u64 *counter, u32 value) {
    u32 sum = warp_sum(value);
    if (sum && lane() == 0) {
        atomicAdd(counter, (u64)sum);
    }
}

// Adds what the threads of a block counted.
__device__ void add_counts(const JudgeArguments &j, UpdateView update, UpdateCounts counts) {
    u64 *counters = counters_of(j);
    __syncwarp();
    add_to(counters + CHANGED, counts.changed);
    add_to(counters + SET, counts.set);
    add_to(counters + UNSET, counts.unset);
    add_to(counters + FORCED, counts.forced);
    add_to(counters + FORCED_CHANGED, counts.forced_changed);
    add_to(counters + LIVE_CHANGED, counts.live_changed);
    add_to(counters + LIVE_SET, counts.live_set);
    add_to(counters + LIVE_UNSET, counts.live_unset);
    if (threadIdx.x >= 4 * 32) {
        return;
    }
    // A warp counts the blocks of one kind.
    u32 kind = threadIdx.x >> 5, blocks = 0;
    for (u32 word = lane(); word < j.block_words; word += 32) {
        blocks += __popc(update.blocks[0][kind * j.block_words + word]);
    }
    __syncwarp();
    u32 sum = warp_sum(blocks);
    if (!sum || lane()) {
        return;
    }
    u32 place = kind == 0 ? CHANGED_BLOCKS : kind == 1 ? FORCED_BLOCKS : kind == 2 ? FORCED_CHANGED_BLOCKS : LIVE_CHANGED_BLOCKS;
    atomicAdd(counters + place, (u64)sum);
    if (kind == 0 || kind == 3) {
        atomicAdd(counters + (kind ? LIVE_CHANGED_SWITCHES : CHANGED_SWITCHES), 1ull);
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 4) update(const __grid_constant__ JudgeArguments j) {
    const Arguments &a = j.a;
    const JudgedState &judged = judged_of(j);
    u32 s = blockIdx.x, warp = threadIdx.x >> 5;
    const u64 *leaves = (const u64 *)(j.pool + judged.leaves);
    bool has_costs = judged.has_costs;
    bool is_leaf = a.target[s] != NONE && leaves[a.target[s] >> 6] & own_bit(a.target[s], a.target[s] >> 6);
    if (switch_is_dead(a, s) || !(j.kept || (is_leaf && has_costs))) {
        return;
    }
    Counts counts = counts_of(a, s);
    BlockView shared = block_view(a, max(counts.up_groups, counts.down_groups));
    UpdateView update = update_view(j, shared);
    UpdateCounts found = {0, 0, 0, 0, 0, 0, 0, 0};
    update.group_of[threadIdx.x] = NO_GROUP;
    for (u32 word = threadIdx.x; word < 4 * j.block_words; word += blockDim.x) {
        update.blocks[0][word] = 0;
    }
    if (has_costs) {
        load_switch(a, shared, s, counts);
        find_groups(shared, update, counts);
    }
    __syncthreads();
    for (u32 first_tile = 0; first_tile < a.tiles; first_tile += TILES) {
        if (has_costs) {
            find_closer(a, shared, s, counts, first_tile);
        }
        __syncthreads();
        u32 tile = first_tile + lane();
        if (warp == 0 && has_costs && is_leaf && tile < a.tiles &&
            leaves[tile] & ~(shared.up[lane()] | shared.down[lane()] | shared.own[lane()])) {
            atomicOr(&counters_of(j)[INVALID], 1ull);
        }
        __syncwarp();
        for (u32 tile = first_tile + warp; j.kept && tile < min(first_tile + TILES, a.tiles); tile += WARPS) {
            UpdateRow row = {j, shared, update, s, tile - first_tile, judged.has_dead_nodes != 0, has_costs};
            row.compare_tile(tile, found);
        }
        __syncthreads();
    }
    if (j.kept) {
        add_counts(j, update, found);
    }
}
