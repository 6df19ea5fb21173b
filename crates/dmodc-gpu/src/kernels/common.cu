// What all kernels share: the arguments of a launch, the faults as masks, warps.
//
// One launch works on several states of one fabric at once: blockIdx.z counts them. What a state has lies in arrays by state,
// and the fabric itself is stored once.
//
// Names in all files: `a` are the arguments of a launch, `s` is a switch; d, k and q are as in the equations.
//
// A *target* is a destination switch, and a *tile* has the columns of 64 targets. A row of a tile has the entries of one switch:
// a byte for each column, padded to a multiple of 16. A *slot* is a place of a row, with a column or empty. Sixteen slots are a
// *chunk*, which a lane writes at once. A *run* is a series of slots of one target with consecutive numbers d; the empty slots
// are one more. Example: a tile has 26 columns, 20 nodes of target 0 with numbers from 100 on, and 6 of target 1 with numbers
// from 500.
//
//     slot     0 …………………… 15   16 …… 19   20 …… 25   26 …… 31
//     target   0                          1          none
//     d        100 …………………………………… 119   500 … 505  0, not used
//     run      run 0: 20 slots            run 1: 6   run 2: 6
//     chunk    chunk 0         chunk 1
//              {100, 0, 20}    {116, 0, 4}
//
// A chunk is described by d of its first slot, the run of that slot, and the slots of this run from there on. Chunk 0 has one
// run, since 20 are at least 16. Chunk 1 is *mixed*: 4 slots of run 0, 6 of run 1 and 6 of run 2.
//
// A warp is 32 threads in step. Unless a kernel says otherwise, a warp takes a switch, and its lanes take links, groups or tiles.
// All 32 lanes of a warp take part in every exchange between lanes, so a warp leaves a kernel as a whole.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define NONE 0xffffffffu
#define ALL_LANES 0xffffffffu
#define NO_ROUTE 255
#define NO_RANK 255
#define INFINITE 255
#define NO_HEIGHT 0xffffu
// The most ranks that costs as bits can have.
#define MOST_RANKS 8

// Findings of a state, as bits of `flags`.
#define FLAT_CABLE 1u   // A cable joins switches of one rank, so bits do not suffice as costs.
#define MORE_RANKS 2u   // There are more ranks than waves were run.
#define OTHER_RANKS 4u  // Ranks are not those of the healthy fabric, which were assumed.

// What the kernel `routes` needs to know of a tile. Layout.rs writes it.
struct alignas(16) RouteTile {
    u64 offset;         // where its bytes start in the tables
    u32 chunks;         // the chunks of a row
    u32 first_chunk;    // the index of its first chunk among those of all tiles; `first_run` and `first_mixed` count likewise
    u32 first_run;
    u32 runs;           // 0 if they are too many, and entries are computed one by one
    u32 early_chunks;   // the number of chunks whose first slot belongs to one of the first 32 targets; at least 1
    u32 first_mixed, mixed_chunks;
};

static_assert(sizeof(RouteTile) == 48, "layout.rs writes 12 words");

// Everything that a kernel reads and writes. `Arguments` of arguments.rs writes the same layout.
struct Arguments {
    // The fabric, which never changes.
    const u32 *link_start;    // [switches + 1] where the links of a switch start
    const u32 *link_peer;     // [links] by switch; then by position of the peer, then by port
    const u32 *link_cable;    // [links]
    const u32 *position;      // [switches] switch order
    const u32 *target;        // [switches] the place among destination switches, or NONE
    const u64 *tile_offset;   // [tiles] where the bytes of a tile start in the tables
    const u32 *tile_pitch;    // [tiles] the bytes from row to row, a multiple of 16
    const u32 *tile_width;    // [tiles] the columns
    const u32 *tile_column;   // [tiles] the first column
    const u32 *tile_slot;     // [tiles] the first slot: the columns of a tile are padded to its pitch
    const u32 *slot_number;   // [slots] d
    const u32 *slot_cable;    // [slots] the cable of the node, or NONE
    const uint2 *chunk;       // [slots / 16] d of the first slot; its run in the tile, and from bit 16 on the slots of the run
                              // from there on. Run and slots are 0 in tiles with too many runs
    const uint2 *run;         // [runs] the first d; target, k from bit 8 on and the length from bit 16 on
    const u32 *mixed;         // the chunks of all tiles that have more than one run, counted from the first of the tile
    const RouteTile *route_tile; // [tiles]
    const u64 *inverse;       // [256] the least integer that is at least 2^64 / n
    const uint4 *rule;        // [ranks] dividers: groups up, ports up, groups down, ports down; 0 is none
    // One state after the other.
    const u32 *dead_switches; // [states][mask_words] a bit for each switch
    const u32 *dead_cables;   // [states][mask_words] a bit for each cable; both masks of a state stand together
    u32 *flags;               // [states]
    u32 *counts;              // [states][switches] a byte each: groups up, groups down, ports up, ports down
    u32 *peers;               // [states][links] groups up, then groups down: the switch at the other end
    u32 *pi;                  // [states][switches] the divider of the paper
    uint4 *dividers;          // [states][switches] as in `rule`, but never 0 for groups
    u64 *planes;              // [states][planes][switches][tiles] see costs.cu
    u16 *heights;             // [states][switches] the longest way down, for costs as bytes
    u16 *depths;              // [states][switches] the longest way up, for costs as bytes
    u16 *dead_slots;          // [states][slots / 16] a bit for each slot whose node is cut off
    u64 *digests;             // [states]
    u8 *costs;                // [switches][tiles][64] costs of one state as bytes; null if they are bits
    u8 *tables;               // [states][table_bytes] the tables of a window of tiles; where they would start if they were whole
    const u8 *link_port;      // [links]
    const u8 *is_leaf;        // [switches]
    const u8 *slot_target;    // [slots] the destination switch, counted from the first of the tile
    const u8 *slot_k;         // [slots] which LID of the node
    const u8 *slot_port;      // [slots] the port of the destination switch
    u8 *ranks;                // [states][switches]
    u8 *firsts;               // [states][links] where the ports of a group start among those of the switch
    u8 *ports;                // [states][links] the ports of all groups
    u64 table_bytes;          // the bytes of a state, which are those of the largest window
    u32 switches, links, tiles, slots, mask_words;
    u32 has_several_lids;     // whether some node has more than one LID
    u32 ranks_run;            // the number of ranks, and of planes
    u32 step;                 // which rank, wave, height or depth this launch is about
    u32 most_groups;          // the greatest number of groups that a switch has in one direction
    u32 has_dead_nodes;       // whether `dead_slots` has bits
    u32 first_state;          // the state of blocks with z = 0
    u32 assumes_ranks;        // whether ranks are those of the healthy fabric, until a switch shows that they are not
    u32 first_tile, end_tile; // the window: the tiles whose tables are in memory
    u32 route_bytes;          // the bytes that a block of the kernel `routes` shares
    u32 unused;
};

static_assert(sizeof(Arguments) == 392, "arguments.rs writes 49 words");

extern __shared__ uint4 shared_memory[];

__device__ __forceinline__ u32 lane() { return threadIdx.x & 31; }

// The index of a warp in the whole grid, counted along x.
__device__ __forceinline__ u32 warp_in_grid() {
    return (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
}

__device__ __forceinline__ u32 state(const Arguments &a) { return a.first_state + blockIdx.z; }

__device__ __forceinline__ bool bit_of(const u32 *bits, u32 at) {
    return bits[at >> 5] >> (at & 31) & 1;
}

__device__ __forceinline__ bool switch_is_dead(const Arguments &a, u32 s) {
    return bit_of(a.dead_switches + (u64)state(a) * a.mask_words, s);
}

__device__ __forceinline__ bool cable_is_dead(const Arguments &a, u32 c) {
    return bit_of(a.dead_cables + (u64)state(a) * a.mask_words, c);
}

// How many groups and ports a switch has.
struct Counts {
    u32 up_groups, down_groups, up_ports, down_ports;
};

__device__ __forceinline__ Counts counts_of(const Arguments &a, u32 s) {
    u32 packed = a.counts[(u64)state(a) * a.switches + s];
    return {packed & 255, packed >> 8 & 255, packed >> 16 & 255, packed >> 24};
}

// The planes of one hop count, of all switches: [switches][tiles].
__device__ __forceinline__ u64 *plane(const Arguments &a, u32 hops_up) {
    u64 of_state = (u64)state(a) * a.ranks_run + hops_up;
    return a.planes + of_state * a.switches * a.tiles;
}

// A bit for the target that a switch is itself, if it is one of this tile.
__device__ __forceinline__ u64 own_bit(u32 target, u32 tile) {
    return target != NONE && target >> 6 == tile ? 1ull << (target & 63) : 0;
}

// floor(x / n) for n > 1, where `inverse` is the least integer that is at least 2^64 / n. It is exact for all 32-bit numbers.
__device__ __forceinline__ u32 divided(u32 x, u64 inverse) { return (u32)__umul64hi(inverse, x); }

__device__ __forceinline__ u64 inverse_of(u32 n) { return ~0ull / n + 1; }

// Joins the values of all lanes of a warp. Every lane gets the result: after the step of 16, lanes 0 and 16 have the same, and so
// on.
__device__ u32 warp_maximum(u32 value) {
    for (u32 step = 16; step; step >>= 1) {
        value = max(value, __shfl_xor_sync(ALL_LANES, value, step));
    }
    return value;
}

__device__ u32 warp_sum(u32 value) {
    for (u32 step = 16; step; step >>= 1) {
        value += __shfl_xor_sync(ALL_LANES, value, step);
    }
    return value;
}

__device__ u64 warp_union(u64 word) {
    for (u32 step = 16; step; step >>= 1) {
        word |= __shfl_xor_sync(ALL_LANES, word, step);
    }
    return word;
}
