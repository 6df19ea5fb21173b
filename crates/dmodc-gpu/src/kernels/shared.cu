// What the warps of a block share: one switch with its groups, and room for everything that follows from them.
//
// The layout is that of `BlockView`, array by array, without gaps. What has the same size in every fabric comes first, so that
// its place is known when a kernel is compiled. The host asks for as many bytes: `closer_bytes` and `route_bytes` of arguments.rs
// have the same sums, and tests compare them with `block_view` at every launch.
//
//     up down own sides peers picks uniform cycle sizes firsts ports packed | parts | masks | sets | records | lists
//     the same in every fabric                                               ranks   groups  groups           groups
//
// Example: a switch has groups up with ports {1, 2} and {5}, and one group down with port {9}. Then `firsts` are 0, 2, 3 and
// `ports` are 1, 2, 5, 9. `packed` are 1, 2, 5, –, 9, since ports down start at a multiple of four. `cycle` is 1, 2, 5, 1, 2, 5,
// 1, … Side 0 begins with group 0 and port 0, side 1 with group 2 and port 3. Side 0 has width 0, because its groups differ.

#define WARPS 8
#define TILES 32
// One word more than tiles, so that lanes that read a column hit different banks.
#define MASK_PITCH 33

// The most runs of a tile that records are kept for.
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

// What the warps of a block share: see the head of this file.
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
// Example: `chosen` = 0b1011 has the selector 0x4320, for bytes 0, 2, 3 and a zero, and 24 bits.
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
