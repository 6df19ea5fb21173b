// Closer sets, eq. (1), for the kernel of routes.cu: which groups of a switch lead nearer to a destination switch.
//
//     C(s, t) = the groups down whose down cost to t is smaller by one, if there are any; else the groups up whose cost is
//
// The file routes.cu has the head for all of this, with the numbers of the departures.

#define WARPS 8
#define TILES 32
// One word more than tiles, so that lanes that read a column hit different banks.
#define MASK_PITCH 33

// The most runs of a tile that records are kept for, as in layout.rs.
#define MOST_RUNS 192
// The bytes that a list of ports is longer than the ports.
#define WRAPPED 20
static_assert((WRAPPED + 4) % 8 == 0, "what follows in `BlockView` starts at a multiple of eight bytes");

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

// The first tile that a block takes, in the window of the launch.
__device__ __forceinline__ u32 first_tile_of_block(const Arguments &a) { return a.first_tile + blockIdx.y * TILES; }

// What the warps of a block share. What has the same size in every fabric comes first, so that its place is known when the kernel
// is compiled.
struct BlockView {
    u64 *up;        // [TILES] targets that need a hop up
    u64 *down;      // [TILES] targets below
    u64 *own;       // [TILES] the switch itself
    Side *sides;    // [2] up, down
    u32 *peers;     // [256]
    u32 *picks;     // [16] see `pick_of`
    u32 *uniform;   // a bit for each tile: see `note_uniform`
    u8 *cycle;      // [256 + WRAPPED] the ports up, and the first ones again
    u8 *sizes;      // [WARPS][64] the size of each closer set
    u8 *firsts;     // [256]
    u8 *ports;      // [256]
    u8 *packed;     // [256 + 8] the ports again; those down start at a multiple of four. `write_list` may read past the end, into
                    // `parts` and `masks`, and does not use what it reads there
    u64 *parts;     // [WARPS][ranks − 1][TILES] what the peers up of a warp reach, by hops up
    u64 *masks;     // [groups][MASK_PITCH] the targets of a tile that the i-th groups are closer to
    u32 *sets;      // [WARPS][64][words] closer sets by target: a bit for each group, the first one in the highest bit
    u32 *records;   // [WARPS][MOST_RUNS] the port of each run, or how to find it: see rows.cu
    u32 *lists;     // [WARPS][32][list_words] the ports of closer sets, and the first ones again, for half of the targets
    u32 words;      // the words of a closer set
    u32 list_words; // an odd number, so that lanes hit different banks; 0 if there is no room for lists
};

// `groups` are those of the switch in the direction that has more.
__device__ BlockView block_view(const Arguments &a, u32 groups) {
    BlockView shared;
    shared.up = (u64 *)shared_memory;
    shared.down = shared.up + TILES;
    shared.own = shared.down + TILES;
    shared.sides = (Side *)(shared.own + TILES);
    shared.peers = (u32 *)(shared.sides + 2);
    shared.picks = shared.peers + 256;
    shared.uniform = shared.picks + 16;
    shared.cycle = (u8 *)(shared.uniform + 1);
    shared.sizes = shared.cycle + 256 + WRAPPED;
    shared.firsts = shared.sizes + WARPS * 64;
    shared.ports = shared.firsts + 256;
    shared.packed = shared.ports + 256;
    shared.parts = (u64 *)(shared.packed + 256 + 8);
    shared.masks = shared.parts + WARPS * (a.ranks_run - 1) * TILES;
    shared.words = (groups + 31) / 32;
    shared.sets = (u32 *)(shared.masks + groups * MASK_PITCH);
    shared.records = shared.sets + WARPS * 64 * shared.words;
    shared.lists = shared.records + WARPS * MOST_RUNS;
    shared.list_words = ((groups + WRAPPED + 3) / 4) | 1;
    u32 bytes = (u32)((u8 *)(shared.lists + WARPS * 32 * shared.list_words) - (u8 *)shared_memory);
    shared.list_words = bytes <= a.route_bytes ? shared.list_words : 0;
    return shared;
}

// Floor of x / n, where n may be 1.
__device__ __forceinline__ u32 quotient(u32 x, u32 n, u64 inverse) {
    return n == 1 ? x : divided(x, inverse);
}

// Describes one direction of a switch. `firsts` are the first ports of its groups.
__device__ void describe_side(const u8 *firsts, Side *side, Counts counts, bool up, uint4 dividers) {
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
        is_even &= firsts[side->first_group + group] == side->first_port + group * width;
    }
    side->width = is_even ? width : 0;
}

// How to pick some of four bytes: a selector for `__byte_perm` that puts the chosen ones first and zeros after them, and, from
// bit 16 on, the number of bits of the chosen bytes. Bit 3 of `chosen` stands for the lowest byte.
__device__ u32 pick_of(u32 chosen) {
    u32 selector = 0x4444, bits = 0;
    for (u32 byte = 0; byte < 4; byte++) {
        if (chosen >> (3 - byte) & 1) {
            selector = (selector & ~(15u << bits / 2)) | byte << bits / 2;
            bits += 8;
        }
    }
    return selector | bits << 16;
}

// Loads the groups of a switch.
__device__ void load_switch(const Arguments &a, BlockView shared, u32 s, Counts counts) {
    u64 first = (u64)state(a) * a.links + a.link_start[s];
    if (threadIdx.x < counts.up_groups + counts.down_groups) {
        shared.peers[threadIdx.x] = a.peers[first + threadIdx.x];
        shared.firsts[threadIdx.x] = a.firsts[first + threadIdx.x];
    }
    if (threadIdx.x < counts.up_ports + counts.down_ports) {
        shared.ports[threadIdx.x] = a.ports[first + threadIdx.x];
    }
    if (threadIdx.x < 16) {
        shared.picks[threadIdx.x] = pick_of(threadIdx.x);
    }
    if (threadIdx.x == 16) {
        *shared.uniform = NONE;
    }
    __syncthreads();
    u32 up_words = (counts.up_ports + 3) / 4;
    if (threadIdx.x < counts.up_ports + counts.down_ports) {
        u32 at = threadIdx.x;
        shared.packed[at < counts.up_ports ? at : at - counts.up_ports + 4 * up_words] = shared.ports[at];
    }
    for (u32 at = threadIdx.x; counts.up_ports && at < counts.up_ports + WRAPPED; at += WARPS * 32) {
        shared.cycle[at] = shared.ports[at % counts.up_ports];
    }
    if (threadIdx.x == 0 || threadIdx.x == 32) {
        bool up = threadIdx.x == 0;
        describe_side(shared.firsts, &shared.sides[!up], counts, up, a.dividers[(u64)state(a) * a.switches + s]);
    }
}

// Whether every group up is closer to every target that is reached, and none is reached downwards: departure 3. A lane has a
// tile, and a warp knows this of its own groups; the bits of all warps are joined by "and".
__device__ void note_uniform(BlockView shared, bool is_same) {
    u32 same = __ballot_sync(ALL_LANES, is_same);
    if (lane() == 0) {
        atomicAnd(shared.uniform, same);
    }
}

// The planes of a switch that has none below it, as `descend` of costs.cu would compute them: departure 1. Each warp takes some
// of the peers.
template <int HOPS>
__device__ void find_planes(const Arguments &a, BlockView shared, Counts counts, u32 tile, u64 known, u64 *planes) {
    u32 warp = threadIdx.x >> 5;
    u64 reached[HOPS];
#pragma unroll
    for (int u = 0; u < HOPS; u++) {
        reached[u] = 0;
    }
#pragma unroll 2
    for (u32 group = warp; group < counts.up_groups; group += WARPS) {
        u64 at = (u64)shared.peers[group] * a.tiles + tile;
#pragma unroll
        for (int u = 0; u < HOPS; u++) {
            reached[u] |= tile < a.tiles ? plane(a, u)[at] : 0;
        }
    }
#pragma unroll
    for (int u = 0; u < HOPS; u++) {
        shared.parts[(warp * HOPS + u) * TILES + lane()] = reached[u];
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < HOPS; u++) {
        u64 all = 0;
        for (u32 other = 0; other < WARPS; other++) {
            all |= shared.parts[(other * HOPS + u) * TILES + lane()];
        }
        planes[u + 1] = all & ~known;
        known |= all;
    }
}

// The closer sets of 32 tiles, from planes: departure 1. `HOPS` is the greatest number of hops up.
template <int HOPS>
__device__ void find_masks(const Arguments &a, BlockView shared, u32 s, Counts counts, u32 first_tile) {
    u32 warp = threadIdx.x >> 5, tile = first_tile + lane();
    bool is_tile = tile < a.tiles;
    u64 place = (u64)s * a.tiles + tile;
    u64 own = is_tile ? own_bit(a.target[s], tile) : 0;
    u64 down = is_tile ? plane(a, 0)[place] & ~own : 0;
    u64 planes[HOPS + 1], up = 0;
    bool is_lowest = HOPS && HOPS == a.ranks_run - 1;
    if constexpr (HOPS > 0) {
        if (is_lowest) {
            find_planes<HOPS>(a, shared, counts, tile, own, planes);
        }
    }
#pragma unroll
    for (int u = 1; u <= HOPS; u++) {
        planes[u] = is_lowest ? planes[u] : is_tile ? plane(a, u)[place] : 0;
        up |= planes[u];
    }
    if (warp == 0) {
        shared.up[lane()] = up;
        shared.down[lane()] = down;
        shared.own[lane()] = own;
    }
    u32 groups = max(counts.up_groups, counts.down_groups);
    bool is_same = !down && counts.up_groups == groups;
#pragma unroll 2
    for (u32 group = warp; group < groups; group += WARPS) {
        u64 mask = 0;
        if (group < counts.up_groups) {
            u64 at = (u64)shared.peers[group] * a.tiles + tile;
#pragma unroll
            for (int u = 1; u <= HOPS; u++) {
                mask |= planes[u] ? planes[u] & plane(a, u - 1)[at] : 0;
            }
        }
        if (group < counts.down_groups && down) {
            u64 at = (u64)shared.peers[counts.up_groups + group] * a.tiles + tile;
            mask |= down & plane(a, 0)[at];
        }
        shared.masks[group * MASK_PITCH + lane()] = mask;
        is_same &= mask == up;
    }
    __syncwarp();
    note_uniform(shared, is_same);
}

// The same for any number of hops up, with planes that are read again for each group. Few fabrics have so many ranks, and the
// registers of a kernel are those of its greediest path.
__device__ void find_masks_deep(const Arguments &a, BlockView shared, u32 s, Counts counts, u32 first_tile, u32 hops) {
    u32 warp = threadIdx.x >> 5, tile = first_tile + lane(), groups = max(counts.up_groups, counts.down_groups);
    bool is_tile = tile < a.tiles;
    u64 place = (u64)s * a.tiles + tile, up = 0;
    u64 own = is_tile ? own_bit(a.target[s], tile) : 0;
    u64 down = is_tile ? plane(a, 0)[place] & ~own : 0;
    for (u32 u = 1; u <= hops; u++) {
        up |= is_tile ? plane(a, u)[place] : 0;
    }
    if (warp == 0) {
        shared.up[lane()] = up;
        shared.down[lane()] = down;
        shared.own[lane()] = own;
    }
    bool is_same = !down && counts.up_groups == groups;
    for (u32 group = warp; group < groups; group += WARPS) {
        u64 mask = 0;
        for (u32 u = 1; up && group < counts.up_groups && u <= hops; u++) {
            mask |= plane(a, u)[place] & plane(a, u - 1)[(u64)shared.peers[group] * a.tiles + tile];
        }
        if (group < counts.down_groups && down) {
            mask |= down & plane(a, 0)[(u64)shared.peers[counts.up_groups + group] * a.tiles + tile];
        }
        shared.masks[group * MASK_PITCH + lane()] = mask;
        is_same &= mask == up;
    }
    __syncwarp();
    note_uniform(shared, is_same);
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
__device__ void find_masks_by_bytes(const Arguments &a, BlockView shared, u32 s, Counts counts, u32 first_tile) {
    u32 warp = threadIdx.x >> 5, groups = max(counts.up_groups, counts.down_groups);
    for (u32 local_tile = warp; local_tile < TILES && first_tile + local_tile < a.tiles; local_tile += WARPS) {
        u32 tile = first_tile + local_tile;
        u64 finite = 0, own = own_bit(a.target[s], tile);
        for (u32 half = 0; half < 64; half += 32) {
            bool is_finite = cost_row(a, s, tile)[half + lane()] != INFINITE;
            finite |= (u64)__ballot_sync(ALL_LANES, is_finite) << half;
        }
        u64 below = plane(a, 0)[(u64)s * a.tiles + tile];
        u64 down = below & ~own, up = finite & ~below & ~own;
        if (lane() == 0) {
            shared.up[local_tile] = up;
            shared.down[local_tile] = down;
            shared.own[local_tile] = own;
        }
        bool is_same = !down && counts.up_groups == groups;
        for (u32 group = 0; group < groups; group++) {
            u64 mask = 0;
            if (group < counts.up_groups) {
                mask |= up & closer_by_bytes(a, s, shared.peers[group], tile);
            }
            if (group < counts.down_groups) {
                u32 peer = shared.peers[counts.up_groups + group];
                u64 its = plane(a, 0)[(u64)peer * a.tiles + tile];
                mask |= down & its & closer_by_bytes(a, s, peer, tile);
            }
            if (lane() == 0) {
                shared.masks[group * MASK_PITCH + local_tile] = mask;
            }
            is_same &= mask == up;
        }
        // All lanes of this warp have the same tile, so only lane `local_tile` may clear a bit.
        note_uniform(shared, is_same || lane() != local_tile);
    }
}

// The closer sets of 32 tiles, from costs of any kind.
__device__ void find_closer(const Arguments &a, BlockView shared, u32 s, Counts counts, u32 first_tile) {
    if (a.costs) {
        find_masks_by_bytes(a, shared, s, counts, first_tile);
        return;
    }
    u32 rank = a.ranks[(u64)state(a) * a.switches + s];
    u32 hops = rank == NO_RANK ? 0 : a.ranks_run - 1 - rank;
    switch (hops) {
    case 0: find_masks<0>(a, shared, s, counts, first_tile); break;
    case 1: find_masks<1>(a, shared, s, counts, first_tile); break;
    case 2: find_masks<2>(a, shared, s, counts, first_tile); break;
    case 3: find_masks<3>(a, shared, s, counts, first_tile); break;
    default: find_masks_deep(a, shared, s, counts, first_tile, hops);
    }
}

// Bit t of lane g becomes bit g of lane t. In each step, a lane keeps half of its bits, and takes the others from the lane whose
// number differs in one bit: the lower half of a word goes up, or the upper half down. The first two steps are about whole bytes.
__device__ u32 transposed(u32 bits) {
    bits = __byte_perm(bits, __shfl_xor_sync(ALL_LANES, bits, 16), lane() & 16 ? 0x3276 : 0x5410);
    bits = __byte_perm(bits, __shfl_xor_sync(ALL_LANES, bits, 8), lane() & 8 ? 0x3715 : 0x6240);
    u32 low = 0x0f0f0f0f;
#pragma unroll
    for (u32 step = 4; step; step >>= 1, low ^= low << step) {
        u32 other = __shfl_xor_sync(ALL_LANES, bits, step), own_step = lane() & step;
        // Shifts and rotations by numbers of the lane take fewer instructions than choices between two words.
        u32 kept = low << own_step, turned = __funnelshift_r(other, other, 2 * own_step - step);
        bits = (bits & kept) | (turned & ~kept);
    }
    return bits;
}

// One word of the closer sets of two targets for each lane: bits for 32 groups, the first one in the highest bit.
struct TwoSets {
    u32 low, high;  // of target number `lane()`, and of the one 32 further on
};

// The most groups of a word that are taken one by one; transposing takes longer from there on.
#define FEW_GROUPS 6

// From words by group, one in each lane, to sets by target: departure 2.
__device__ TwoSets sets_of(u64 targets) {
    u32 groups = __ballot_sync(ALL_LANES, targets != 0);
    TwoSets sets = {0, 0};
    if (__popc(groups) > FEW_GROUPS) {
        sets.low = __brev(transposed((u32)targets));
        sets.high = __brev(transposed((u32)(targets >> 32)));
        return sets;
    }
    for (; groups; groups &= groups - 1) {
        u32 group = 31 - __clz(groups & -groups);
        u32 low = __shfl_sync(ALL_LANES, (u32)targets, group), high = __shfl_sync(ALL_LANES, (u32)(targets >> 32), group);
        sets.low |= (low >> lane() & 1) << (31 - group);
        sets.high |= (high >> lane() & 1) << (31 - group);
    }
    return sets;
}

// Writes the closer sets of a tile, by target, and their sizes: departures 2 and 3.
__device__ void find_sets(BlockView shared, u32 local_tile, u32 groups, bool is_uniform) {
    u32 warp = threadIdx.x >> 5;
    u32 *sets = shared.sets + warp * 64 * shared.words;
    u32 low_size = 0, high_size = 0;
    for (u32 word = 0; word * 32 < groups; word++) {
        u32 group = word * 32 + lane();
        TwoSets found;
        if (is_uniform) {
            u32 all = groups - word * 32 < 32 ? ~(~0u >> (groups - word * 32)) : ~0u;
            found.low = shared.up[local_tile] >> lane() & 1 ? all : 0;
            found.high = shared.up[local_tile] >> (lane() + 32) & 1 ? all : 0;
        } else {
            found = sets_of(group < groups ? shared.masks[group * MASK_PITCH + local_tile] : 0);
        }
        sets[lane() * shared.words + word] = found.low;
        sets[(lane() + 32) * shared.words + word] = found.high;
        low_size += __popc(found.low);
        high_size += __popc(found.high);
    }
    shared.sizes[warp * 64 + lane()] = low_size;
    shared.sizes[warp * 64 + 32 + lane()] = high_size;
    __syncwarp();
}

// Writes the sizes of the closer sets of a tile where they have all groups or none.
__device__ void find_uniform_sizes(BlockView shared, u32 local_tile, u32 groups) {
    u8 *sizes = shared.sizes + (threadIdx.x >> 5) * 64 + lane();
    sizes[0] = shared.up[local_tile] >> lane() & 1 ? groups : 0;
    sizes[32] = shared.up[local_tile] >> (lane() + 32) & 1 ? groups : 0;
    __syncwarp();
}
