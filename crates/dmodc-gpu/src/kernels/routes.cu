// Routes: eqs. (1), (3) and (4), from costs to the entries of all switches.
//
//     C(s, t)  = the groups down whose down cost to t is smaller by one, if there are any; else the groups up whose cost is
//     group    = C[(⌊d / Π⌋ + k) mod #C]
//     port     = group[(⌊d / (Π · #C)⌋ + ⌊k / #C⌋) mod #group]
//
// where d is the number of the destination and k says which of its LIDs it is. Dividers of a rank stand in the place of Π, and of
// Π · #C for ports, where there are any.
//
// A switch is loaded in shared.cu. Closer sets are found in closer.cu and turned into sets by target in sets.cu, and rows.cu has
// the entries of a row.
//
// Layout: tile by tile, row by row, a byte for each column. Rows are padded to 16 bytes, so that a lane writes 16 entries, a
// chunk, at once. The head of common.cu has a picture of slots, chunks and runs.
//
// A block of eight warps takes a switch and 32 tiles, or fewer if the window has fewer. Departures from the plain loop over
// columns:
// 1. Closer sets of 64 targets are one word for each group: the planes of the switch and of the peer are joined by "and". All
//    lanes of a warp take one group and 32 tiles, so that words are read in whole lines; the result waits in shared memory. In
//    fabrics of at most four ranks, switches of rank 0 find their planes here, because nobody else needs them.
// 2. A warp then takes a tile. The words by group become sets by target when 32 lanes transpose 32 × 32 bits in five exchanges.
//    No target is reached both up and down, so i-th groups up and down share a word: their sets cannot meet.
// 3. If every group up is closer to every target, which is usual in healthy fabrics, nothing is transposed.
// 4. The lanes take the runs of the tile. Most often a run has one port as a whole, because Π is a multiple of its length; it is
//    written down once, as the record of the run.
// 5. Where Π is 1, ports follow each other in turn. Then the ports of a closer set are written down as a list, and the first ones
//    again at its end, so that any 16 consecutive entries are 16 consecutive bytes of the list. A lane writes the list of a
//    target, for half of the targets at a time.
// 6. The lanes take chunks. Most chunks are one port or two, repeated, or copied from one list. Chunks with more than one run,
//    which are listed for each tile, have several such parts, and follow after the others. Damage makes Π smaller, so that ports
//    change once within a run, or more often; the record of a run says so, too. What is left is walked through, run by run; a
//    division is needed only where a run begins.

// Removes the entries of nodes that are cut off.
__device__ uint4 without_dead(uint4 entries, u32 dead) {
    u32 *words = (u32 *)&entries;
    for (u32 byte = 0; byte < 16; byte++) {
        words[byte / 4] |= dead >> byte & 1 ? 255u << 8 * (byte & 3) : 0;
    }
    return entries;
}

// The chunks whose descriptions a lane loads before it stores the first of them.
#define DESCRIBED 4

// The chunks of a row from a first one on, as long as they are before the end.
struct Chunks {
    uint4 *row;
    const uint2 *chunk_words;
    u32 first, end;
};

// Writes the chunks that are parts of runs with one port.
__device__ void write_ports(const Row &maker, Chunks to) {
    for (u32 first = to.first + lane(); first < to.end; first += 32 * DESCRIBED) {
        u32 chunk_words[DESCRIBED];
#pragma unroll
        for (u32 i = 0; i < DESCRIBED; i++) {
            chunk_words[i] = to.chunk_words[min(first + 32 * i, to.end - 1)].y;
        }
#pragma unroll
        for (u32 i = 0; i < DESCRIBED; i++) {
            u32 record = maker.records[chunk_words[i] & 0xffff];
            if (first + 32 * i < to.end && chunk_words[i] >> 16 >= 16 && record <= NO_ROUTE) {
                __stcs(to.row + first + 32 * i, repeated(record));
            }
        }
    }
    __syncwarp();
}

// Writes the chunks that are parts of runs with one port or two.
__device__ void write_two_ports(const Row &maker, Chunks to) {
    u32 next = to.chunk_words[min(to.first + lane(), to.end - 1)].y;
    for (u32 chunk = to.first + lane(); chunk < to.end; chunk += 32) {
        // The next description is loaded while this chunk is computed.
        u32 chunk_words = next, record = maker.records[chunk_words & 0xffff];
        next = to.chunk_words[min(chunk + 32, to.end - 1)].y;
        if (chunk_words >> 16 >= 16 && maker.is_simple(record)) {
            __stcs(to.row + chunk, maker.simple(record, chunk_words >> 16, 0));
        }
    }
    __syncwarp();
}

// Writes the chunks that are parts of runs with one port or with a list. `UNIFORM` is as in `Row`.
template <bool UNIFORM> __device__ void write_turns(const Row &maker, Chunks to) {
    uint2 next = to.chunk_words[min(to.first + lane(), to.end - 1)];
    for (u32 chunk = to.first + lane(); chunk < to.end; chunk += 32) {
        uint2 chunk_words = next;
        next = to.chunk_words[min(chunk + 32, to.end - 1)];
        u32 record = maker.records[chunk_words.y & 0xffff];
        if (chunk_words.y >> 16 < 16) {
            continue;
        }
        if (record <= NO_ROUTE) {
            __stcs(to.row + chunk, repeated(record));
        } else if (maker.is_listed<UNIFORM>(record)) {
            __stcs(to.row + chunk, maker.turns<UNIFORM>(record & 63, chunk_words.x, 0));
        }
    }
    __syncwarp();
}

// The kinds of runs that a row has.
struct RowKinds {
    bool turns;     // whether some run has a list
    bool two;       // whether some run has two ports
    bool others;    // whether some run is of another kind than one port, two ports or a list
};

// Writes the chunks that have more than one run, and all that are left if there are other kinds of runs.
__device__ void write_rest(const Row &maker, Chunks to, const RouteTile &tile, RowKinds kinds) {
    bool has_more = kinds.others || (kinds.turns && kinds.two);
    u32 count = has_more ? to.end - to.first : tile.mixed_chunks;
    for (u32 at = lane(); at < count; at += 32) {
        u32 chunk = has_more ? to.first + at : maker.a.mixed[tile.first_mixed + at];
        uint2 chunk_words = to.chunk_words[chunk];
        bool is_done = false;
        if (has_more && chunk_words.y >> 16 >= 16) {
            u32 record = maker.records[chunk_words.y & 0xffff];
            is_done = kinds.turns ? record <= NO_ROUTE || maker.is_listed(record) : maker.is_simple(record);
        }
        if (!is_done && to.first <= chunk && chunk < to.end) {
            __stcs(to.row + chunk, maker.chunk((tile.first_chunk + chunk) * 16, chunk_words));
        }
    }
    __syncwarp();
}

// Removes the entries of nodes that are cut off from a row.
__device__ void remove_dead(const Arguments &a, uint4 *row, const RouteTile &tile) {
    const u16 *dead = a.dead_slots + (u64)state(a) * (a.slots / 16) + tile.first_chunk;
    for (u32 chunk = lane(); chunk < tile.chunks; chunk += 32) {
        if (dead[chunk]) {
            row[chunk] = without_dead(row[chunk], dead[chunk]);
        }
    }
}

// Writes the row of a tile.
__device__ void write_row(const Arguments &a, BlockView shared, u32 s, u32 local_tile, const RouteTile &tile) {
    u32 warp = threadIdx.x >> 5, is_uniform = *shared.uniform >> local_tile & 1;
    u32 *records = shared.records + warp * MOST_RUNS;
    const u8 *sizes = shared.sizes + warp * 64;
    const u32 *sets = shared.sets + warp * 64 * shared.words;
    Row maker = {a, shared, sets, sizes, records, a.run + tile.first_run, local_tile, is_uniform, 0};
    u32 found = 0;
    for (u32 run = lane(); run < tile.runs; run += 32) {
        u32 record = maker.record_of(maker.runs[run]);
        records[run] = record;
        found |= record;
    }
    __syncwarp();
    RowKinds kinds = {__any_sync(ALL_LANES, found & BY_TURN) != 0, __any_sync(ALL_LANES, found & BY_TWO) != 0,
                      __any_sync(ALL_LANES, found & BY_OTHERS) != 0};
    bool has_lists = kinds.turns && !is_uniform;
    if (kinds.others && is_uniform) {
        // Walks through groups need the sets, not only their sizes.
        find_sets(shared, local_tile, shared.sides[0].groups, true);
    }
    uint4 *row = (uint4 *)(a.tables + state(a) * a.table_bytes + tile.offset) + (u64)s * tile.chunks;
    Chunks to = {row, a.chunk + tile.first_chunk, 0, has_lists ? tile.early_chunks : tile.chunks};
    for (; to.first < tile.chunks; to.first = to.end, to.end = tile.chunks, maker.half++) {
        u32 target = maker.half * 32 + lane();
        if (has_lists && sizes[target] >= LEAST_LIST) {
            maker.write_list(target);
        }
        __syncwarp();
        if (kinds.turns && is_uniform) {
            write_turns<true>(maker, to);
        } else if (kinds.turns) {
            write_turns<false>(maker, to);
        } else if (kinds.two) {
            write_two_ports(maker, to);
        } else {
            write_ports(maker, to);
        }
        write_rest(maker, to, tile, kinds);
    }
    if (a.has_dead_nodes) {
        remove_dead(a, to.row, tile);
    }
    __syncwarp();
}

__device__ void write_no_routes(const Arguments &a, u32 s, u32 tile) {
    u32 pitch = a.tile_pitch[tile];
    u8 *row = a.tables + state(a) * a.table_bytes + a.tile_offset[tile] + (u64)s * pitch;
    for (u32 chunk = lane(); chunk < pitch / 16; chunk += 32) {
        __stcs((uint4 *)row + chunk, make_uint4(NONE, NONE, NONE, NONE));
    }
}

// Writes rows without routes if a switch is dead. Returns whether it is.
__device__ bool write_if_dead(const Arguments &a, u32 s, u32 first_tile, u32 end, u32 warp) {
    if (!switch_is_dead(a, s)) {
        return false;
    }
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        write_no_routes(a, s, tile);
    }
    return true;
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 4) routes(Arguments a) {
    if (a.flags[state(a)]) {
        return;
    }
    u32 s = blockIdx.x, first_tile = first_tile_of_block(a), warp = threadIdx.x >> 5;
    u32 end = min(first_tile + TILES, a.end_tile);
    if (write_if_dead(a, s, first_tile, end, warp)) {
        return;
    }
    Counts counts = counts_of(a, s);
    u32 groups = max(counts.up_groups, counts.down_groups);
    BlockView shared = block_view(a, groups);
    load_switch(a, shared, s, counts);
    find_closer(a, shared, s, counts, first_tile);
    __syncthreads();
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        u32 local_tile = tile - first_tile;
        RouteTile route_tile = a.route_tile[tile];
        if (*shared.uniform >> local_tile & 1) {
            find_uniform_sizes(shared, local_tile, groups);
        } else {
            find_sets(shared, local_tile, groups, false);
        }
        write_row(a, shared, s, local_tile, route_tile);
    }
}

// Marks the slots of nodes whose cables are dead. A thread takes 16 slots.
extern "C" __global__ void dead_slots(Arguments a) {
    u32 chunk = blockIdx.x * blockDim.x + threadIdx.x;
    if (chunk >= a.slots / 16) {
        return;
    }
    u32 dead = 0;
    for (u32 i = 0; i < 16; i++) {
        u32 cable = a.slot_cable[chunk * 16 + i];
        dead |= (cable != NONE && cable_is_dead(a, cable)) << i;
    }
    a.dead_slots[(u64)state(a) * (a.slots / 16) + chunk] = dead;
}
