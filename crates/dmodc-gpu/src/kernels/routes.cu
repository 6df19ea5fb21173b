// Routes: eqs. (1), (3) and (4), from costs to the entries of all switches.
//
//     C(s, t)  = the groups down whose down cost to t is smaller by one, if there are any; else the groups up whose cost is
//     group    = C[(⌊d / Π⌋ + k) mod #C]
//     port     = group[(⌊d / (Π · #C)⌋ + ⌊k / #C⌋) mod #group]
//
// where d is the number of the destination and k says which of its LIDs it is. Dividers of a rank stand in the place of Π, and of
// Π · #C for ports, where there are any.
//
// Closer sets are found in closer.cu, and the entries of a row in rows.cu.
//
// Layout: tile by tile, row by row, a byte for each column. Rows are padded to 16 bytes, so that a lane writes 16 entries, a chunk, at
// once. A run is a series of columns of one target with consecutive numbers.
//
// A block of eight warps takes a switch and 32 tiles, or fewer if the window has fewer. Departures from the plain loop over columns:
// 1. Closer sets of 64 targets are one word for each group: the planes of the switch and of the peer are joined by "and". All lanes
//    of a warp take one group and 32 tiles, so that words are read in whole lines; the result waits in shared memory. In fabrics
//    of at most four ranks, switches of rank 0 find their planes here, because nobody else needs them.
// 2. A warp then takes a tile. The words by group become sets by target when 32 lanes transpose 32 × 32 bits in five exchanges.
//    No target is reached both up and down, so i-th groups up and down share a word: their sets cannot meet.
// 3. If every group up is closer to every target, which is usual in healthy fabrics, nothing is transposed.
// 4. The lanes take the runs of the tile. Most often a run has one port as a whole, because Π is a multiple of its length; it is
//    written down once, as the record of the run.
// 5. Where Π is 1, ports follow each other in turn. Then the ports of a closer set are written down as a list, and the first ones again at
//    its end, so that any 16 entries stand in a row somewhere. A lane writes the list of a target, for half of the targets at a time.
// 6. The lanes take chunks. A part of a chunk is one port, repeated, or it is copied from a list; few chunks have more than one part.
//    Any other chunk is walked through, run by run; a division is needed only where a run begins.

// Removes the entries of nodes that are cut off.
__device__ uint4 without_dead(uint4 entries, u32 dead) {
    u32 *words = (u32 *)&entries;
    for (u32 byte = 0; byte < 16; byte++) {
        words[byte / 4] |= dead >> byte & 1 ? 255u << 8 * (byte & 3) : 0;
    }
    return entries;
}

// Writes the row of the i-th tile.
__device__ void write_row(const Arguments &a, BlockView v, u32 s, u32 i, u32 tile, bool is_uniform) {
    u32 warp = threadIdx.x >> 5, chunks = a.tile_pitch[tile] / 16, slot = a.tile_slot[tile];
    uint4 *row = (uint4 *)(a.tables + state(a) * a.table_bytes + a.tile_offset[tile]) + (u64)s * chunks;
    const u16 *dead = a.dead_slots + (u64)state(a) * (a.slots / 16) + slot / 16;
    u32 first_run = a.tile_run[tile], runs = min(a.tile_run[tile + 1] - first_run, (u32)MOST_RUNS);
    u16 *records = v.records + warp * MOST_RUNS;
    const u8 *sizes = v.sizes + warp * 64;
    Row maker = {a, v, v.sets + warp * 64 * v.words, sizes, records, a.run + first_run, i, is_uniform, 0};
    bool has_turns = false;
    for (u32 run = lane(); run < runs; run += 32) {
        u32 record = maker.record_of(a.run[first_run + run]);
        records[run] = record;
        has_turns |= record >= BY_TURN && record < BY_STEP;
    }
    __syncwarp();
    bool has_lists = !is_uniform && __any_sync(ALL_LANES, has_turns);
    u32 middle = has_lists ? a.tile_middle[tile] : chunks;
    const uint2 *about = a.chunk + slot / 16;
    for (u32 first = 0; first < chunks; first = middle, middle = chunks, maker.half++) {
        u32 target = maker.half * 32 + lane();
        if (has_lists && sizes[target] >= LEAST_LIST) {
            maker.write_list(target);
        }
        __syncwarp();
        for (u32 chunk = first + lane(); chunk < middle; chunk += 32) {
            uint4 entries = maker.chunk(slot + chunk * 16, about[chunk]);
            if (a.has_dead_nodes && dead[chunk]) {
                entries = without_dead(entries, dead[chunk]);
            }
            __stcs(row + chunk, entries);
        }
        __syncwarp();
    }
}

__device__ void write_no_routes(const Arguments &a, u32 s, u32 tile) {
    u32 pitch = a.tile_pitch[tile];
    u8 *row = a.tables + state(a) * a.table_bytes + a.tile_offset[tile] + (u64)s * pitch;
    for (u32 chunk = lane(); chunk < pitch / 16; chunk += 32) {
        __stcs((uint4 *)row + chunk, make_uint4(NONE, NONE, NONE, NONE));
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 4) routes(Arguments a) {
    if (a.flags[state(a)]) {
        return;
    }
    u32 s = blockIdx.x, first_tile = first_tile_of_block(a), warp = threadIdx.x >> 5;
    u32 end = min(first_tile + TILES, a.end_tile);
    if (switch_is_dead(a, s)) {
        for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
            write_no_routes(a, s, tile);
        }
        return;
    }
    Counts counts = counts_of(a, s);
    u32 groups = max(counts.up_groups, counts.down_groups);
    BlockView v = block_view(a, groups);
    load_switch(a, v, s, counts);
    find_closer(a, v, s, counts, first_tile);
    __syncthreads();
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        u32 i = tile - first_tile;
        bool is_uniform = *v.uniform >> i & 1;
        find_sets(v, i, groups, is_uniform);
        write_row(a, v, s, i, tile, is_uniform);
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
