// What an update changes, what any update had to change, and whether the fabric is valid.
//
//     changed(s, d) : the entries of s for d in the old and the new tables differ
//     forced(s, d)  : the old entry e cannot stay. P(s, d) are the ports of the closer groups; a destination that is dead has no entry.
//                     P not empty: e is not in P.   P empty: e is a port, and the new tables have none or the old route does not arrive
//     valid         : every leaf with nodes reaches every other, by costs
//
// A block of eight warps takes a switch, and 32 tiles at a time. The closer sets are those of closer.cu, found in the same way as for
// routes; so a mask for each group and tile waits in shared memory. Then a warp takes a tile, and a lane 16 entries at a time. Blocks of LIDs
// with a changed entry are bits in shared memory, because a block may be in several tiles.

#define NO_GROUP 0xffffu
#define DOWN_GROUP 0x8000u

// What the warps of a block share, apart from closer sets.
struct UpdateView {
    u16 *group_of;      // [256] the group of a port among those of its direction, or NO_GROUP
    u32 *blocks[3];     // [block_words] blocks of LIDs with an entry that is changed, forced, or both
};

// What a thread counts.
struct UpdateCounts {
    u32 changed, set, unset, forced, forced_changed;
};

__device__ UpdateView update_view(const JudgeArguments &j, BlockView v) {
    u32 *after = (u32 *)(v.records + WARPS * MOST_RUNS);
    return {(u16 *)after, {after + 128, after + 128 + j.block_words, after + 128 + 2 * j.block_words}};
}

// Writes down which group each port belongs to. A thread takes a group.
__device__ void find_groups(BlockView v, UpdateView u, Counts counts) {
    u32 group = threadIdx.x, groups = counts.up_groups + counts.down_groups;
    if (group < groups) {
        u32 end = group + 1 < groups ? v.firsts[group + 1] : counts.up_ports + counts.down_ports;
        bool is_up = group < counts.up_groups;
        for (u32 port = v.firsts[group]; port < end; port++) {
            u.group_of[v.ports[port]] = is_up ? group : (group - counts.up_groups) | DOWN_GROUP;
        }
    }
}

// One row of the i-th tile.
struct UpdateRow {
    const JudgeArguments &j;
    BlockView v;
    UpdateView u;
    u32 s, i;
    bool has_dead_nodes;

    // Whether an old entry may stay: see the head of this file.
    __device__ bool may_stay(u32 slot, u32 old_entry, u32 new_entry) const {
        u32 cable = has_dead_nodes ? j.a.slot_cable[slot] : NONE;
        if (cable != NONE && cable_is_dead(j.a, cable)) {
            return old_entry == NO_ROUTE;
        }
        u64 bit = 1ull << j.a.slot_target[slot];
        if (v.own[i] & bit) {
            return old_entry == j.a.slot_port[slot];
        }
        if ((v.up[i] | v.down[i]) & bit) {
            u32 group = u.group_of[old_entry];
            u64 side = group & DOWN_GROUP ? v.down[i] : v.up[i];
            return group != NO_GROUP && v.masks[(group & ~DOWN_GROUP) * MASK_PITCH + i] & side & bit;
        }
        return old_entry == NO_ROUTE || (new_entry != NO_ROUTE && arrives(j, j.kept, column_of(j, slot), s));
    }

    // Whether a change counts: always, or only if the destination is alive.
    __device__ bool is_counted(u32 slot) const {
        if (!j.only_live) {
            return true;
        }
        u32 cable = j.a.slot_cable[slot];
        return !switch_is_dead(j.a, j.slot_place[slot].x) && (cable == NONE || !cable_is_dead(j.a, cable));
    }

    __device__ void mark(u32 kind, u32 slot) const {
        u32 block = j.slot_block[slot];
        atomicOr(&u.blocks[kind][block >> 5], 1u << (block & 31));
    }

    // Compares sixteen entries, of which `width` are of columns. Returns a bit for each that differs.
    __device__ u32 compare(u32 slot, u32 width, uint4 old_entries, uint4 new_entries, UpdateCounts &counts) const {
        u32 old_words[4] = {old_entries.x, old_entries.y, old_entries.z, old_entries.w};
        u32 new_words[4] = {new_entries.x, new_entries.y, new_entries.z, new_entries.w};
        u32 changed = 0;
#pragma unroll
        for (u32 byte = 0; byte < 16; byte++) {
            u32 old_entry = old_words[byte / 4] >> 8 * (byte & 3) & 255;
            u32 new_entry = new_words[byte / 4] >> 8 * (byte & 3) & 255;
            if (byte >= width) {
                continue;
            }
            bool is_changed = old_entry != new_entry && is_counted(slot + byte), is_forced = !may_stay(slot + byte, old_entry, new_entry);
            if (is_changed) {
                changed |= 1u << byte;
                counts.changed++;
                counts.set += old_entry == NO_ROUTE;
                counts.unset += new_entry == NO_ROUTE;
                mark(0, slot + byte);
            }
            if (is_forced) {
                counts.forced++;
                mark(1, slot + byte);
            }
            if (is_changed && is_forced) {
                counts.forced_changed++;
                mark(2, slot + byte);
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

__device__ u32 warp_sum(u32 value) {
    for (u32 step = 16; step; step >>= 1) {
        value += __shfl_xor_sync(ALL_LANES, value, step);
    }
    return value;
}

// Adds what the threads of a warp counted.
__device__ void add_counts(const JudgeArguments &j, UpdateView u, UpdateCounts counts) {
    u64 *counters = counters_of(j);
    u32 values[8] = {counts.changed, counts.set, counts.unset, counts.forced, counts.forced_changed, 0, 0, 0};
    for (u32 kind = 0; kind < 3; kind++) {
        for (u32 word = threadIdx.x; word < j.block_words; word += blockDim.x) {
            values[5 + kind] += __popc(u.blocks[kind][word]);
        }
    }
    const u32 places[8] = {CHANGED, SET, UNSET, FORCED, FORCED_CHANGED, CHANGED_BLOCKS, FORCED_BLOCKS, FORCED_CHANGED_BLOCKS};
    __syncwarp();
    for (u32 i = 0; i < 8; i++) {
        u32 sum = warp_sum(values[i]);
        if (sum && lane() == 0) {
            atomicAdd(&counters[places[i]], (u64)sum);
        }
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 4) update(const __grid_constant__ JudgeArguments j) {
    const Arguments &a = j.a;
    const JudgedState &about = judged(j);
    u32 s = blockIdx.x, warp = threadIdx.x >> 5;
    const u64 *leaves = (const u64 *)(j.pool + about.leaves);
    bool is_leaf = !about.is_skipped && a.target[s] != NONE && leaves[a.target[s] >> 6] & own_bit(a.target[s], a.target[s] >> 6);
    if (about.is_skipped || switch_is_dead(a, s) || !(j.kept || is_leaf)) {
        return;
    }
    Counts counts = counts_of(a, s);
    BlockView v = block_view(a, max(counts.up_groups, counts.down_groups));
    UpdateView u = update_view(j, v);
    UpdateCounts found = {0, 0, 0, 0, 0};
    load_switch(a, v, s, counts);
    u.group_of[threadIdx.x] = NO_GROUP;
    for (u32 word = threadIdx.x; word < 3 * j.block_words; word += blockDim.x) {
        u.blocks[0][word] = 0;
    }
    __syncthreads();
    find_groups(v, u, counts);
    for (u32 first_tile = 0; first_tile < a.tiles; first_tile += TILES) {
        find_closer(a, v, s, counts, first_tile);
        __syncthreads();
        u32 tile = first_tile + lane();
        if (warp == 0 && is_leaf && tile < a.tiles && leaves[tile] & ~(v.up[lane()] | v.down[lane()] | v.own[lane()])) {
            atomicOr(&counters_of(j)[INVALID], 1ull);
        }
        __syncwarp();
        for (u32 tile = first_tile + warp; j.kept && tile < min(first_tile + TILES, a.tiles); tile += WARPS) {
            UpdateRow row = {j, v, u, s, tile - first_tile, about.has_dead_nodes != 0};
            row.compare_tile(tile, found);
        }
        __syncthreads();
    }
    if (j.kept) {
        add_counts(j, u, found);
        u32 is_changed = 0;
        for (u32 word = lane(); word < j.block_words; word += 32) {
            is_changed |= u.blocks[0][word];
        }
        __syncwarp();
        if (warp == 0 && __any_sync(ALL_LANES, is_changed) && lane() == 0) {
            atomicAdd(&counters_of(j)[CHANGED_SWITCHES], 1ull);
        }
    }
}
