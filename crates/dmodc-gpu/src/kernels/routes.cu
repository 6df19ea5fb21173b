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
// once. A run is a series of columns of one target with consecutive numbers.
//
// A block of eight warps takes a switch and 32 tiles. Departures from the plain loop over columns:
// 1. Closer sets of 64 targets are one word for each group: the planes of the switch and of the peer are joined by "and". All lanes
//    of a warp take one group and 32 tiles, so that words are read in whole lines; the result waits in shared memory. In fabrics
//    of at most four ranks, switches of rank 0 find their planes here, because nobody else needs them.
// 2. A warp then takes a tile. The words by group become sets by target when 32 lanes transpose 32 × 32 bits in five exchanges.
//    No target is reached both up and down, so i-th groups up and down share a word: their sets cannot meet.
// 3. If every group up is closer to every target, which is usual in healthy fabrics, nothing is transposed.
// 4. The lanes take the runs of the tile. Most often a run has one port as a whole, because Π is a multiple of its length; it is
//    written down once, as the record of the run.
// 5. The lanes take chunks. A chunk of runs that have one port each is made of bytes, repeated. A chunk where ports follow each other in turn is
//    copied from the list of the ports, written down twice in a row, or walked through if some groups are not closer. Any other chunk
//    is walked through as well, run by run; a division is needed only where a run begins.

#define WARPS 8
#define TILES 32
// One word more than tiles, so that lanes that read a column hit different banks.
#define MASK_PITCH 33

// The most runs of a tile that records are kept for, as in layout.rs.
#define MOST_RUNS 320
// What a record says if it is no port.
#define BY_WALK 256     // ports change within the run
#define BY_ENTRY 512    // the same, and groups have different numbers of ports
#define BY_SLOT 1024    // this switch is the destination switch: each slot has its own port
// The target of the empty slots at the end of a row.
#define NO_TARGET 64
// The bytes that a list of ports is longer than the ports.
#define WRAPPED 20

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
    u64 *parts;     // [WARPS][ranks − 1][TILES] what the peers up of a warp reach, by hops up
    Side *sides;    // [2] up, down
    u32 *sets;      // [WARPS][64][words] closer sets by target: a bit for each group, the first one in the highest bit
    u32 *peers;     // [255]
    u8 *sizes;      // [WARPS][64] the size of each closer set
    u8 *firsts;     // [256]
    u8 *ports;      // [256]
    u8 *cycle;      // [256 + WRAPPED] the ports up, and the first ones again
    u16 *records;   // [WARPS][MOST_RUNS] the port of each run, or how to find it
    u32 words;      // the words of a closer set
};

__device__ BlockView block_view(const Arguments &a, u32 groups) {
    BlockView v;
    v.words = (groups + 31) / 32;
    v.masks = (u64 *)shared_memory;
    v.up = v.masks + a.most_groups * MASK_PITCH;
    v.down = v.up + TILES;
    v.own = v.down + TILES;
    v.parts = v.own + TILES;
    v.sides = (Side *)(v.parts + WARPS * (a.ranks_run - 1) * TILES);
    v.sets = (u32 *)(v.sides + 2);
    v.peers = v.sets + WARPS * 64 * ((a.most_groups + 31) / 32);
    v.sizes = (u8 *)(v.peers + 256);
    v.firsts = v.sizes + WARPS * 64;
    v.ports = v.firsts + 256;
    v.cycle = v.ports + 256;
    v.records = (u16 *)(v.cycle + 256 + WRAPPED);
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
    for (u32 at = threadIdx.x; counts.up_ports && at < counts.up_ports + WRAPPED; at += WARPS * 32) {
        v.cycle[at] = v.ports[at % counts.up_ports];
    }
    if (threadIdx.x == 0 || threadIdx.x == 32) {
        bool up = threadIdx.x == 0;
        describe_side(v, &v.sides[!up], counts, up, a.dividers[(u64)state(a) * a.switches + s]);
    }
}

// The planes of a switch that has none below it, as `descend` of costs.cu would compute them: departure 1. Each warp takes some of the
// peers.
template <int HOPS>
__device__ void find_planes(const Arguments &a, BlockView v, Counts counts, u32 tile, u64 known, u64 *planes) {
    u32 warp = threadIdx.x >> 5;
    u64 reached[HOPS];
#pragma unroll
    for (int u = 0; u < HOPS; u++) {
        reached[u] = 0;
    }
#pragma unroll 4
    for (u32 group = warp; group < counts.up_groups; group += WARPS) {
        u64 at = (u64)v.peers[group] * a.tiles + tile;
#pragma unroll
        for (int u = 0; u < HOPS; u++) {
            reached[u] |= tile < a.tiles ? plane(a, u)[at] : 0;
        }
    }
#pragma unroll
    for (int u = 0; u < HOPS; u++) {
        v.parts[(warp * HOPS + u) * TILES + lane()] = reached[u];
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < HOPS; u++) {
        u64 all = 0;
        for (u32 other = 0; other < WARPS; other++) {
            all |= v.parts[(other * HOPS + u) * TILES + lane()];
        }
        planes[u + 1] = all & ~known;
        known |= all;
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
    bool is_lowest = HOPS && HOPS == a.ranks_run - 1;
    if constexpr (HOPS > 0) {
        if (is_lowest) {
            find_planes<HOPS>(a, v, counts, tile, own, planes);
        }
    }
#pragma unroll
    for (int u = 1; u <= HOPS; u++) {
        planes[u] = is_lowest ? planes[u] : is_tile ? plane(a, u)[place] : 0;
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

// The same for any number of hops up, with planes that are read again for each group. Few fabrics have so many ranks, and the
// registers of a kernel are those of its greediest path.
__device__ void find_masks_deep(const Arguments &a, BlockView v, u32 s, Counts counts, u32 first_tile, u32 hops) {
    u32 warp = threadIdx.x >> 5, tile = first_tile + lane(), groups = max(counts.up_groups, counts.down_groups);
    bool is_tile = tile < a.tiles;
    u64 place = (u64)s * a.tiles + tile, up = 0;
    u64 own = is_tile ? own_bit(a.target[s], tile) : 0;
    u64 down = is_tile ? plane(a, 0)[place] & ~own : 0;
    for (u32 u = 1; u <= hops; u++) {
        up |= is_tile ? plane(a, u)[place] : 0;
    }
    if (warp == 0) {
        v.up[lane()] = up;
        v.down[lane()] = down;
        v.own[lane()] = own;
    }
    for (u32 group = warp; group < groups; group += WARPS) {
        u64 mask = 0;
        for (u32 u = 1; up && group < counts.up_groups && u <= hops; u++) {
            mask |= plane(a, u)[place] & plane(a, u - 1)[(u64)v.peers[group] * a.tiles + tile];
        }
        if (group < counts.down_groups && down) {
            mask |= down & plane(a, 0)[(u64)v.peers[counts.up_groups + group] * a.tiles + tile];
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

// Whether every group up is closer to every target that is reached, and none is reached downwards: departure 3.
__device__ bool is_uniform(BlockView v, u32 i, Counts counts, u32 groups) {
    bool is_same = !v.down[i] && counts.up_groups == groups;
    for (u32 group = lane(); group < groups; group += 32) {
        is_same &= v.masks[group * MASK_PITCH + i] == v.up[i];
    }
    __syncwarp();
    return !__any_sync(ALL_LANES, !is_same);
}

// Writes the closer sets of the i-th tile, by target: departures 2 and 3.
__device__ void find_sets(BlockView v, u32 i, u32 groups, bool is_uniform) {
    u32 warp = threadIdx.x >> 5;
    u32 *sets = v.sets + warp * 64 * v.words;
    u32 low_size = 0, high_size = 0;
    for (u32 word = 0; word * 32 < groups; word++) {
        u32 group = word * 32 + lane(), low, high;
        if (is_uniform) {
            u32 all = groups - word * 32 < 32 ? ~(~0u >> (groups - word * 32)) : ~0u;
            low = v.up[i] >> lane() & 1 ? all : 0;
            high = v.up[i] >> (lane() + 32) & 1 ? all : 0;
        } else {
            u64 mask = group < groups ? v.masks[group * MASK_PITCH + i] : 0;
            low = __brev(transposed((u32)mask));
            high = __brev(transposed((u32)(mask >> 32)));
        }
        sets[lane() * v.words + word] = low;
        sets[(lane() + 32) * v.words + word] = high;
        low_size += __popc(low);
        high_size += __popc(high);
    }
    v.sizes[warp * 64 + lane()] = low_size;
    v.sizes[warp * 64 + 32 + lane()] = high_size;
    __syncwarp();
}

// The place of the i-th one among the bits of a word that has more than i, counted from the highest bit.
__device__ u32 place_of(u32 bits, u32 i) {
    u32 place = 0;
#pragma unroll
    for (u32 half = 16; half; half >>= 1) {
        u32 count = __popc(bits << place >> (32 - half));
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
        left = set[0];
        u32 count = __popc(left);
        while (i >= count) {
            i -= count;
            left = set[++word];
            count = __popc(left);
        }
        left &= ~0u >> place_of(left, i);
    }

    __device__ __forceinline__ u32 group() const { return word * 32 + __clz(left); }

    // Goes to the next group. Returns whether it is the first one again.
    __device__ bool next() {
        left &= 0x7fffffffu >> __clz(left);
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

    // Goes to the next group. Lanes that begin another word do so without a branch, as long as no word of the set is empty.
    template <bool ONE_WORD> __device__ __forceinline__ void step() {
        left &= 0x7fffffffu >> __clz(left);
        if (ONE_WORD) {
            left = left ? left : *set;
            return;
        }
        if (!left) {
            word = word + 1 == words ? 0 : word + 1;
            left = set[word];
        }
        while (!left) {
            word = word + 1 == words ? 0 : word + 1;
            left = set[word];
        }
    }
};

// One row of a tile.
struct Row {
    const Arguments &a;
    BlockView v;
    const u32 *sets;
    const u8 *sizes;
    u16 *records;
    const uint2 *runs;  // those of the tile
    u32 i, is_uniform;

    __device__ Walk walk_of(u32 target) const {
        return {sets + target * v.words, v.words, 0, 0};
    }

    __device__ const Side &side_of(u32 target) const { return v.sides[!(v.up[i] >> target & 1)]; }

    // The i-th group of the closer set of a target.
    __device__ u32 group_at(u32 target, u32 i) const {
        Walk walk = walk_of(target);
        walk.start(i);
        return walk.group();
    }

    // The port for number d of a target that is reached, computed by itself. q is d, divided.
    __device__ u32 port_for(const Side &side, u32 target, u32 d, u32 q, u32 k) const {
        u32 size = sizes[target];
        u32 round = quotient(q, size, a.inverse[size]), at = q - round * size + k;
        at = at < size ? at : at % size;
        u32 group = size == side.groups ? at : group_at(target, at), first = v.firsts[side.first_group + group];
        u32 end = group + 1 < side.groups ? v.firsts[side.first_group + group + 1] : side.ports_end;
        if (end - first == 1) {
            return v.ports[first];
        }
        u32 port = side.port_divider ? quotient(d, side.port_divider, side.port_inverse) : round;
        return v.ports[first + (port + k / size) % (end - first)];
    }

    // One entry, computed by itself.
    __device__ u32 entry(u32 slot) const {
        u32 target = a.slot_target[slot];
        if (v.own[i] >> target & 1) {
            return a.slot_port[slot];
        }
        if (!sizes[target]) {
            return NO_ROUTE;
        }
        const Side &side = side_of(target);
        u32 d = a.slot_number[slot], q = quotient(d, side.divider, side.inverse);
        return port_for(side, target, d, q, a.slot_k[slot]);
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

    // The port of a run, or how to find it: departure 4.
    __device__ u32 record_of(uint2 run) const {
        u32 target = run.y & 255, d = run.x, k = run.y >> 8 & 255, length = run.y >> 16;
        if (target == NO_TARGET || !sizes[target]) {
            return target != NO_TARGET && v.own[i] >> target & 1 ? BY_SLOT : NO_ROUTE;
        }
        const Side &side = side_of(target);
        bool is_even = side.width == 1 || (side.width && !side.port_divider && !k);
        u32 q = quotient(d, side.divider, side.inverse);
        bool is_one = d - q * side.divider + length <= side.divider;
        if (side.width == 1) {
            // A closer set with one port has no other.
            is_one |= sizes[target] == 1;
        } else if (is_one && side.port_divider) {
            is_one = d % side.port_divider + length <= side.port_divider;
        }
        return is_one ? port_for(side, target, d, q, k) : is_even ? BY_WALK : BY_ENTRY;
    }

    // Sixteen entries in turn, from number d on, for a target that all groups up are closer to: departure 5.
    __device__ uint4 window(u32 d) const {
        u32 size = v.sides[0].groups;
        u32 at = d - quotient(d, size, a.inverse[size]) * size;
        const u32 *words = (const u32 *)v.cycle + at / 4;
        u32 shift = 8 * (at & 3), w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3];
        return make_uint4(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift),
                          __funnelshift_r(w2, w3, shift), __funnelshift_r(w3, words[4], shift));
    }

    // Starts a walk at number d of a run whose ports change with every number.
    __device__ Walk walk_from(uint2 run, u32 d) const {
        u32 target = run.y & 255, size = sizes[target];
        u32 at = d - quotient(d, size, a.inverse[size]) * size + (run.y >> 8 & 255);
        Walk walk = walk_of(target);
        walk.start(at < size ? at : at % size);
        return walk;
    }

    // Whether the ports of a run change with every number, and each group has one port.
    __device__ bool is_in_turn(u32 run) const {
        const Side &side = side_of(runs[run].y & 255);
        return records[run] == BY_WALK && side.width == 1 && side.divider == 1;
    }

    // Sixteen entries, a port for each number, from number d of a run on. After `left` of them the next run begins: departure 5.
    template <bool ONE_WORD, bool TWO_RUNS> __device__ uint4 in_turn(u32 run, u32 d, u32 left) const {
        Walk walk = walk_from(runs[run], d), later = walk;
        const u8 *ports = v.ports + side_of(runs[run].y & 255).first_port, *later_ports = ports;
        if (TWO_RUNS) {
            later = walk_from(runs[run + 1], runs[run + 1].x);
            later_ports = v.ports + side_of(runs[run + 1].y & 255).first_port;
        }
        u32 words[4];
#pragma unroll
        for (u32 byte = 0; byte < 16; byte++) {
            if (byte) {
                walk.template step<ONE_WORD>();
            }
            if (byte && TWO_RUNS) {
                bool is_later = byte == left;
                walk.set = is_later ? later.set : walk.set;
                walk.word = is_later ? later.word : walk.word;
                walk.left = is_later ? later.left : walk.left;
                ports = is_later ? later_ports : ports;
            }
            u32 port = ports[ONE_WORD ? __clz(walk.left) : walk.group()];
            words[byte / 4] = byte & 3 ? words[byte / 4] | port << 8 * (byte & 3) : port;
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    // Sixteen entries of one run with at most two ports, because Π is at least 16.
    __device__ uint4 two_ports(uint2 run, u32 d) const {
        u32 target = run.y & 255, k = run.y >> 8 & 255;
        const Side &side = side_of(target);
        u32 q = quotient(d, side.divider, side.inverse), until = side.divider - (d - q * side.divider);
        u64 first = port_for(side, target, d, q, k) * 0x0101010101010101ull, second = first;
        if (until < 16) {
            second = port_for(side, target, d + until, q + 1, k) * 0x0101010101010101ull;
        }
        u64 low_part = until < 8 ? ~0ull << 8 * until : 0;
        u64 high_part = until <= 8 ? ~0ull : until < 16 ? ~0ull << 8 * (until - 8) : 0;
        u64 low = (first & ~low_part) | (second & low_part), high = (first & ~high_part) | (second & high_part);
        return make_uint4((u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32));
    }

    // Sixteen entries of runs that have one port each, from the last `left` entries of a run on. Returns whether all have.
    __device__ bool pieces(u32 run, u32 left, uint4 &entries) const {
        u64 low = 0, high = 0;
        for (u32 from = 0;;) {
            u64 record = records[run];
            if (record > NO_ROUTE) {
                return false;
            }
            // All entries from here on; those of later runs are overwritten.
            u64 repeated = record * 0x0101010101010101ull;
            u64 low_part = from < 8 ? ~0ull << 8 * from : 0;
            u64 high_part = from <= 8 ? ~0ull : ~0ull << 8 * (from - 8);
            low = (low & ~low_part) | (repeated & low_part);
            high = (high & ~high_part) | (repeated & high_part);
            from += left;
            if (from >= 16) {
                entries = make_uint4((u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32));
                return true;
            }
            run++;
            left = runs[run].y >> 16;
        }
    }

    // Sixteen entries of any runs, from this piece of a run on: departure 5.
    __device__ uint4 walked(u32 slot, u32 run, u32 d, u32 left) const {
        uint4 words = {0, 0, 0, 0};
        u32 port, until, turn, width, divider, record;
        const u8 *ports;
        Walk walk;
        bool begins = true;
#pragma unroll 4
        for (u32 byte = 0; byte < 16; byte++) {
            if (begins) {
                record = records[run];
                until = NONE;
                port = record;
                if (record & (BY_ENTRY | BY_SLOT)) {
                    until = 1;
                    port = entry(slot + byte);
                } else if (record == BY_WALK) {
                    u32 target = runs[run].y & 255, k = runs[run].y >> 8 & 255, size = sizes[target];
                    const Side &side = side_of(target);
                    u32 q = quotient(d, side.divider, side.inverse);
                    u32 round = quotient(q, size, a.inverse[size]), at = q - round * size + k;
                    divider = side.divider;
                    width = side.width;
                    ports = v.ports + side.first_port;
                    until = divider - (d - q * divider);
                    walk = walk_of(target);
                    walk.start(at < size ? at : at % size);
                    turn = width == 1 ? 0 : round % width;
                    port = ports[walk.group() * width + turn];
                }
            } else if (until == 0) {
                if (record == BY_WALK) {
                    until = divider;
                    turn += walk.next();
                    turn = turn == width ? 0 : turn;
                    port = ports[walk.group() * width + turn];
                } else {
                    until = 1;
                    port = entry(slot + byte);
                }
            }
            // The four words move on once in four entries, so that no word is chosen by a number.
            if ((byte & 3) == 0) {
                words = make_uint4(words.y, words.z, words.w, 0);
            }
            words.w |= port << 8 * (byte & 3);
            until--;
            begins = --left == 0 && byte < 15;
            if (begins) {
                run++;
                d = runs[run].x;
                left = runs[run].y >> 16;
            }
        }
        return words;
    }

    // The entries of a chunk, which is described as in `Arguments`.
    __device__ uint4 chunk(u32 slot, uint2 about) const {
        u32 run = about.y & 0xffff, left = about.y >> 16;
        if (about.y == NONE) {
            return each_entry(slot);
        }
        u32 record = records[run];
        if (left >= 16 && record <= NO_ROUTE) {
            u32 word = record * 0x01010101u;
            return make_uint4(word, word, word, word);
        }
        if (left >= 16 && is_uniform && record == BY_WALK) {
            return window(about.x);
        }
        uint4 entries;
        if (record <= NO_ROUTE) {
            return pieces(run, left, entries) ? entries : walked(slot, run, about.x, left);
        }
        // The next run may continue this one.
        bool is_whole = left >= 16;
        uint2 next = is_whole ? about : runs[run + 1];
        bool is_long = is_whole || (next.y >> 16) + left >= 16;
        if (is_uniform && record == BY_WALK) {
            bool goes_on = is_long && records[run + 1] == BY_WALK && next.x == about.x + left;
            if (goes_on) {
                return window(about.x);
            }
        }
        if (is_long && is_in_turn(run) && (is_whole || is_in_turn(run + 1))) {
            if (is_whole) {
                return v.words == 1 ? in_turn<true, false>(run, about.x, 16) : in_turn<false, false>(run, about.x, 16);
            }
            return v.words == 1 ? in_turn<true, true>(run, about.x, left) : in_turn<false, true>(run, about.x, left);
        }
        if (is_whole && record == BY_WALK && side_of(runs[run].y & 255).divider >= 16) {
            return two_ports(runs[run], about.x);
        }
        return walked(slot, run, about.x, left);
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
__device__ void write_row(const Arguments &a, BlockView v, u32 s, u32 i, u32 tile, bool is_uniform) {
    u32 warp = threadIdx.x >> 5, pitch = a.tile_pitch[tile], slot = a.tile_slot[tile];
    u8 *row = a.tables + state(a) * a.table_bytes + a.tile_offset[tile] + (u64)s * pitch;
    const u16 *dead = a.dead_slots + (u64)state(a) * (a.slots / 16) + slot / 16;
    const Side &up = v.sides[0];
    // The list of ports serves if each group has one port, ports change with every number, and each node has one LID.
    bool is_cyclic = is_uniform && up.width == 1 && up.divider == 1 && !a.has_several_lids;
    u32 first_run = a.tile_run[tile], runs = min(a.tile_run[tile + 1] - first_run, (u32)MOST_RUNS);
    u16 *records = v.records + warp * MOST_RUNS;
    const u8 *sizes = v.sizes + warp * 64;
    Row maker = {a, v, v.sets + warp * 64 * v.words, sizes, records, a.run + first_run, i, is_cyclic};
    for (u32 run = lane(); run < runs; run += 32) {
        records[run] = maker.record_of(a.run[first_run + run]);
    }
    __syncwarp();
    const uint2 *chunks = a.chunk + slot / 16;
    uint2 about = lane() < pitch / 16 ? chunks[lane()] : make_uint2(0, 0);
    for (u32 chunk = lane(); chunk < pitch / 16; chunk += 32) {
        // The next description is on its way while this chunk is computed.
        uint2 next = chunk + 32 < pitch / 16 ? chunks[chunk + 32] : about;
        uint4 entries = maker.chunk(slot + chunk * 16, about);
        about = next;
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

extern "C" __global__ void __launch_bounds__(WARPS * 32, 4) routes(Arguments a) {
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
        u32 hops = rank == NO_RANK ? 0 : a.ranks_run - 1 - rank;
        switch (hops) {
        case 0: find_masks<0>(a, v, s, counts, first_tile); break;
        case 1: find_masks<1>(a, v, s, counts, first_tile); break;
        case 2: find_masks<2>(a, v, s, counts, first_tile); break;
        case 3: find_masks<3>(a, v, s, counts, first_tile); break;
        default: find_masks_deep(a, v, s, counts, first_tile, hops);
        }
    }
    __syncthreads();
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        u32 i = tile - first_tile;
        bool is_same = is_uniform(v, i, counts, groups);
        find_sets(v, i, groups, is_same);
        write_row(a, v, s, i, tile, is_same);
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
