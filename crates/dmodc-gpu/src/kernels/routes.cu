// Routes: eqs. (1), (3) and (4), from costs to the entries of all switches.
//
//     C(s, t)  = the groups down whose down cost to t is smaller by one, if there are any; else the groups up whose cost is
//     group    = C[(⌊d / Π⌋ + k) mod #C]
//     port     = group[(⌊d / (Π · #C)⌋ + ⌊k / #C⌋) mod #group]
//
// where d is the number of the destination and k says which of its LIDs it is. Dividers of a rank stand in the place of Π, and of
// Π · #C for ports, where there are any.
//
// Layout: tile by tile, row by row, a byte for each column. Rows are padded to 16 bytes, so that a lane writes 16 entries, a chunk, at
// once.
//
// A block of eight warps takes a switch and 32 tiles. Departures from the plain loop over columns:
// 1. Closer sets of 64 targets are one word for each group: the planes of the switch and of the peer are joined by "and". All lanes
//    of a warp take one group and 32 tiles, so that words are read in whole lines; the result waits in shared memory.
// 2. A warp then takes a tile. The words by group become sets by target when 32 lanes transpose 32 × 32 bits in five exchanges.
//    No target is reached both up and down, so i-th groups up and down share a word: their sets cannot meet.
// 3. A lane writes 16 entries. Where these are consecutive numbers of one target, it divides once and walks through the set.
// 4. If 16 entries have one port, they are one byte, repeated.

#define WARPS 8
#define TILES 32
// One word more than tiles, so that lanes that read a column hit different banks.
#define MASK_PITCH 33

// The groups of the switch in one direction.
struct Side {
    u32 first_group;    // counted from all groups of the switch
    u32 first_port;     // counted from all ports of the switch
    u32 ports_end;
    u32 groups;
    u32 width;          // the ports of each group if all have equally many, else 0
    u32 divider, port_divider;
    u64 inverse, port_inverse;
};

// What the warps of a block share.
struct BlockView {
    u64 *masks;     // [most groups][MASK_PITCH] the targets of a tile that the i-th groups are closer to
    u64 *up;        // [TILES] targets that need a hop up
    u64 *down;      // [TILES] targets below
    u64 *own;       // [TILES] the switch itself
    Side *sides;    // [2] up, down
    u32 *sets;      // [WARPS][64][words] closer sets by target: a bit for each group
    u32 *peers;     // [255]
    u8 *sizes;      // [WARPS][64] the size of each closer set
    u8 *firsts;     // [256]
    u8 *ports;      // [256]
    u32 words;      // the words of a closer set
};

__device__ BlockView block_view(const Arguments &a, u32 groups) {
    BlockView v;
    v.words = (groups + 31) / 32;
    v.masks = (u64 *)shared_memory;
    v.up = v.masks + a.most_groups * MASK_PITCH;
    v.down = v.up + TILES;
    v.own = v.down + TILES;
    v.sides = (Side *)(v.own + TILES);
    v.sets = (u32 *)(v.sides + 2);
    v.peers = v.sets + WARPS * 64 * ((a.most_groups + 31) / 32);
    v.sizes = (u8 *)(v.peers + 256);
    v.firsts = v.sizes + WARPS * 64;
    v.ports = v.firsts + 256;
    return v;
}

// Floor of x / n, where n may be 1.
__device__ __forceinline__ u32 quotient(u32 x, u32 n, u64 inverse) {
    return n == 1 ? x : divided(x, inverse);
}

// Describes one direction of a switch. `firsts` must be in shared memory.
__device__ void describe_side(BlockView v, Side *side, Counts counts, bool up, uint4 dividers) {
    side->first_group = up ? 0 : counts.up_groups;
    side->first_port = up ? 0 : counts.up_ports;
    side->groups = up ? counts.up_groups : counts.down_groups;
    u32 ports = up ? counts.up_ports : counts.down_ports;
    side->ports_end = side->first_port + ports;
    side->divider = up ? dividers.x : dividers.z;
    side->port_divider = up ? dividers.y : dividers.w;
    side->inverse = inverse_of(side->divider);
    side->port_inverse = side->port_divider ? inverse_of(side->port_divider) : 0;
    u32 width = side->groups ? ports / side->groups : 1;
    bool is_even = width * side->groups == ports;
    for (u32 group = 0; width > 1 && group < side->groups; group++) {
        is_even &= v.firsts[side->first_group + group] == side->first_port + group * width;
    }
    side->width = is_even ? width : 0;
}

// Loads the groups of a switch.
__device__ void load_switch(const Arguments &a, BlockView v, u32 s, Counts counts) {
    u64 first = (u64)state(a) * a.links + a.link_start[s];
    if (threadIdx.x < counts.up_groups + counts.down_groups) {
        v.peers[threadIdx.x] = a.peers[first + threadIdx.x];
        v.firsts[threadIdx.x] = a.firsts[first + threadIdx.x];
    }
    if (threadIdx.x < counts.up_ports + counts.down_ports) {
        v.ports[threadIdx.x] = a.ports[first + threadIdx.x];
    }
    __syncthreads();
    if (threadIdx.x == 0 || threadIdx.x == 32) {
        bool up = threadIdx.x == 0;
        describe_side(v, &v.sides[!up], counts, up, a.dividers[(u64)state(a) * a.switches + s]);
    }
}

// The closer sets of 32 tiles, from planes: departure 1. `HOPS` is the greatest number of hops up.
template <int HOPS>
__device__ void find_masks(const Arguments &a, BlockView v, u32 s, Counts counts, u32 first_tile) {
    u32 warp = threadIdx.x >> 5, tile = first_tile + lane();
    bool is_tile = tile < a.tiles;
    u64 place = (u64)s * a.tiles + tile;
    u64 own = is_tile ? own_bit(a.target[s], tile) : 0;
    u64 down = is_tile ? plane(a, 0)[place] & ~own : 0;
    u64 planes[HOPS + 1], up = 0;
#pragma unroll
    for (int u = 1; u <= HOPS; u++) {
        planes[u] = is_tile ? plane(a, u)[place] : 0;
        up |= planes[u];
    }
    if (warp == 0) {
        v.up[lane()] = up;
        v.down[lane()] = down;
        v.own[lane()] = own;
    }
    u32 groups = max(counts.up_groups, counts.down_groups);
#pragma unroll 4
    for (u32 group = warp; group < groups; group += WARPS) {
        u64 mask = 0;
        if (group < counts.up_groups) {
            u64 at = (u64)v.peers[group] * a.tiles + tile;
#pragma unroll
            for (int u = 1; u <= HOPS; u++) {
                mask |= planes[u] ? planes[u] & plane(a, u - 1)[at] : 0;
            }
        }
        if (group < counts.down_groups && down) {
            u64 at = (u64)v.peers[counts.up_groups + group] * a.tiles + tile;
            mask |= down & plane(a, 0)[at];
        }
        v.masks[group * MASK_PITCH + lane()] = mask;
    }
}

// The targets among those of a tile that a peer is closer to, from bytes. Each lane has two targets.
__device__ u64 closer_by_bytes(const Arguments &a, u32 s, u32 peer, u32 tile) {
    u64 closer = 0;
    for (u32 half = 0; half < 64; half += 32) {
        u32 own = cost_row(a, s, tile)[half + lane()], its = cost_row(a, peer, tile)[half + lane()];
        closer |= (u64)__ballot_sync(ALL_LANES, own != INFINITE && its + 1 == own) << half;
    }
    return closer;
}

// The closer sets of 32 tiles, from bytes.
__device__ void find_masks_by_bytes(const Arguments &a, BlockView v, u32 s, Counts counts, u32 first_tile) {
    u32 warp = threadIdx.x >> 5, groups = max(counts.up_groups, counts.down_groups);
    for (u32 i = warp; i < TILES && first_tile + i < a.tiles; i += WARPS) {
        u32 tile = first_tile + i;
        u64 finite = 0, own = own_bit(a.target[s], tile);
        for (u32 half = 0; half < 64; half += 32) {
            bool is_finite = cost_row(a, s, tile)[half + lane()] != INFINITE;
            finite |= (u64)__ballot_sync(ALL_LANES, is_finite) << half;
        }
        u64 below = plane(a, 0)[(u64)s * a.tiles + tile];
        u64 down = below & ~own, up = finite & ~below & ~own;
        if (lane() == 0) {
            v.up[i] = up;
            v.down[i] = down;
            v.own[i] = own;
        }
        for (u32 group = 0; group < groups; group++) {
            u64 mask = 0;
            if (group < counts.up_groups) {
                mask |= up & closer_by_bytes(a, s, v.peers[group], tile);
            }
            if (group < counts.down_groups) {
                u32 peer = v.peers[counts.up_groups + group];
                u64 its = plane(a, 0)[(u64)peer * a.tiles + tile];
                mask |= down & its & closer_by_bytes(a, s, peer, tile);
            }
            if (lane() == 0) {
                v.masks[group * MASK_PITCH + i] = mask;
            }
        }
    }
}

// Bit t of lane g becomes bit g of lane t.
__device__ u32 transposed(u32 bits) {
    u32 low = 0x0000ffff;
    for (u32 step = 16; step; step >>= 1, low ^= low << step) {
        u32 other = __shfl_xor_sync(ALL_LANES, bits, step);
        bits = lane() & step ? (bits & ~low) | (other >> step & low) : (bits & low) | (other & low) << step;
    }
    return bits;
}

// Writes the closer sets of the i-th tile, by target: departure 2.
__device__ void find_sets(BlockView v, u32 i, u32 groups) {
    u32 warp = threadIdx.x >> 5;
    u32 *sets = v.sets + warp * 64 * v.words;
    u32 low_size = 0, high_size = 0;
    for (u32 word = 0; word * 32 < groups; word++) {
        u32 group = word * 32 + lane();
        u64 mask = group < groups ? v.masks[group * MASK_PITCH + i] : 0;
        u32 low = transposed((u32)mask), high = transposed((u32)(mask >> 32));
        sets[lane() * v.words + word] = low;
        sets[(lane() + 32) * v.words + word] = high;
        low_size += __popc(low);
        high_size += __popc(high);
    }
    v.sizes[warp * 64 + lane()] = low_size;
    v.sizes[warp * 64 + 32 + lane()] = high_size;
    __syncwarp();
}

// The place of the i-th one among the bits of a word that has more than i.
__device__ u32 place_of(u32 bits, u32 i) {
    u32 place = 0;
#pragma unroll
    for (u32 half = 16; half; half >>= 1) {
        u32 count = __popc(bits >> place & ((1u << half) - 1));
        if (i >= count) {
            i -= count;
            place += half;
        }
    }
    return place;
}

// A walk through the groups of a closer set, again and again.
struct Walk {
    const u32 *set;
    u32 words, word;
    u32 left;   // the groups of this word that are not passed yet

    // Starts at the i-th group.
    __device__ void start(u32 i) {
        word = 0;
        u32 count = __popc(set[0]);
        while (i >= count) {
            i -= count;
            count = __popc(set[++word]);
        }
        left = set[word];
        left &= ~0u << place_of(left, i);
    }

    __device__ u32 group() const { return word * 32 + __ffs(left) - 1; }

    // Goes to the next group. Returns whether it is the first one again.
    __device__ bool next() {
        left &= left - 1;
        bool is_round = false;
        while (!left) {
            if (++word == words) {
                word = 0;
                is_round = true;
            }
            left = set[word];
        }
        return is_round;
    }
};

// One row of a tile.
struct Row {
    const Arguments &a;
    BlockView v;
    const u32 *sets;
    const u8 *sizes;
    u32 i, tile;

    __device__ Walk walk_of(u32 target) const {
        return {sets + target * v.words, v.words, 0, 0};
    }

    // One entry, computed by itself.
    __device__ u32 entry(u32 slot) const {
        u32 target = a.slot_target[slot];
        if (v.own[i] >> target & 1) {
            return a.slot_port[slot];
        }
        const Side &side = v.sides[!(v.up[i] >> target & 1)];
        u32 size = sizes[target];
        if (!size) {
            return NO_ROUTE;
        }
        u32 d = a.slot_number[slot], k = a.slot_k[slot];
        u32 q = quotient(d, side.divider, side.inverse), round = q / size;
        Walk walk = walk_of(target);
        walk.start((q - round * size + k) % size);
        u32 group = walk.group(), first = v.firsts[side.first_group + group];
        u32 end = group + 1 < side.groups ? v.firsts[side.first_group + group + 1] : side.ports_end;
        u32 port = side.port_divider ? quotient(d, side.port_divider, side.port_inverse) : round;
        return v.ports[first + (port + k / size) % (end - first)];
    }

    // Sixteen entries, each computed by itself.
    __device__ uint4 each_entry(u32 slot) const {
        u32 words[4];
        for (u32 word = 0; word < 4; word++) {
            words[word] = 0;
            for (u32 byte = 0; byte < 4; byte++) {
                words[word] |= entry(slot + word * 4 + byte) << 8 * byte;
            }
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    // Sixteen entries of one target with consecutive numbers from d on: departures 3 and 4. All groups have `width` ports.
    __device__ uint4 run(const Side &side, u32 target, u32 d, u32 k) const {
        u32 size = sizes[target];
        u32 q = quotient(d, side.divider, side.inverse);
        u32 round = quotient(q, size, a.inverse[size]), at = q - round * size + k;
        at = at < size ? at : at % size;
        u32 until = side.divider - (d - q * side.divider);
        Walk walk = walk_of(target);
        walk.start(at);
        const u8 *ports = v.ports + side.first_port;
        u32 turn = side.width == 1 ? 0 : round % side.width;
        u32 port = ports[walk.group() * side.width + turn];
        if (until >= 16) {
            u32 word = port * 0x01010101u;
            return make_uint4(word, word, word, word);
        }
        u32 words[4];
#pragma unroll
        for (u32 byte = 0; byte < 16; byte++) {
            u32 shifted = port << 8 * (byte & 3);
            words[byte / 4] = byte & 3 ? words[byte / 4] | shifted : shifted;
            if (--until == 0) {
                until = side.divider;
                turn += walk.next();
                turn = turn == side.width ? 0 : turn;
                port = ports[walk.group() * side.width + turn];
            }
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    __device__ uint4 chunk(u32 slot) const {
        uint2 about = a.chunk[slot / 16];
        u32 target = about.y & 255, k = about.y >> 8 & 255;
        bool is_run = about.y >> 16;
        const Side &side = v.sides[!(v.up[i] >> target & 1)];
        bool is_even = side.width == 1 || (side.width && !side.port_divider && !k);
        if (!is_run || !is_even || v.own[i] >> target & 1) {
            return each_entry(slot);
        }
        if (!sizes[target]) {
            return make_uint4(NONE, NONE, NONE, NONE);
        }
        return run(side, target, about.x, k);
    }
};

// Removes the entries of nodes that are cut off.
__device__ uint4 without_dead(uint4 entries, u32 dead) {
    u32 *words = (u32 *)&entries;
    for (u32 byte = 0; byte < 16; byte++) {
        words[byte / 4] |= dead >> byte & 1 ? 255u << 8 * (byte & 3) : 0;
    }
    return entries;
}

// Writes the row of the i-th tile.
__device__ void write_row(const Arguments &a, BlockView v, u32 s, u32 i, u32 tile) {
    u32 warp = threadIdx.x >> 5, pitch = a.tile_pitch[tile], slot = a.tile_slot[tile];
    u8 *row = a.tables + state(a) * a.table_bytes + a.tile_offset[tile] + (u64)s * pitch;
    const u16 *dead = a.dead_slots + (u64)state(a) * (a.slots / 16) + slot / 16;
    Row maker = {a, v, v.sets + warp * 64 * v.words, v.sizes + warp * 64, i, tile};
    for (u32 chunk = lane(); chunk < pitch / 16; chunk += 32) {
        uint4 entries = maker.chunk(slot + chunk * 16);
        if (a.has_dead_nodes && dead[chunk]) {
            entries = without_dead(entries, dead[chunk]);
        }
        __stcs((uint4 *)row + chunk, entries);
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

extern "C" __global__ void __launch_bounds__(WARPS * 32) routes(Arguments a) {
    if (a.flags[state(a)]) {
        return;
    }
    u32 s = blockIdx.x, first_tile = blockIdx.y * TILES, warp = threadIdx.x >> 5;
    u32 end = min(first_tile + TILES, a.tiles);
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
    u32 rank = a.ranks[(u64)state(a) * a.switches + s];
    if (a.costs) {
        find_masks_by_bytes(a, v, s, counts, first_tile);
    } else {
        switch (rank == NO_RANK ? 0 : a.ranks_run - 1 - rank) {
        case 0: find_masks<0>(a, v, s, counts, first_tile); break;
        case 1: find_masks<1>(a, v, s, counts, first_tile); break;
        case 2: find_masks<2>(a, v, s, counts, first_tile); break;
        case 3: find_masks<3>(a, v, s, counts, first_tile); break;
        case 4: find_masks<4>(a, v, s, counts, first_tile); break;
        case 5: find_masks<5>(a, v, s, counts, first_tile); break;
        case 6: find_masks<6>(a, v, s, counts, first_tile); break;
        case 7: find_masks<7>(a, v, s, counts, first_tile); break;
        }
    }
    __syncthreads();
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        find_sets(v, tile - first_tile, groups);
        write_row(a, v, s, tile - first_tile, tile);
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
