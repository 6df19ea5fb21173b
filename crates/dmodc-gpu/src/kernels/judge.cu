// The judge: what its kernels share, and where entries lead to.
//
//     next(s, e) = the switch at the other end of port e of switch s, if the cable and both switches are alive; else nowhere
//
// A *position* is the place of a live node among all nodes that send. Traffic goes to the first LID of a node, so a position has
// one slot. The switches of a state are divided into *classes*: a hop up leads to a higher class, a hop down to a lower one. In
// levelled fabrics these are the ranks.
//
// Kernels take `JudgeArguments` as a constant of the grid, so that a reference to it needs no copy.
//
// Layout: what differs from state to state and comes from the host lies in one pool of words. `JudgedState` says where.

// What is counted for a state: places among its counters. The lost flows of each pattern follow.
#define UNDELIVERED 0u          // flows of all-to-all that do not arrive
#define LOST 1u                 // bundles that do not arrive: all flows from a switch to a node
#define CHANGED 2u              // entries that differ
#define SET 3u                  // those that only the new tables have
#define UNSET 4u                // those that only the old tables have
#define CHANGED_BLOCKS 5u       // blocks of LIDs with an entry that differs
#define CHANGED_SWITCHES 6u
#define FORCED 7u               // entries that cannot stay
#define FORCED_BLOCKS 8u
#define FORCED_CHANGED 9u       // those that the new tables change
#define FORCED_CHANGED_BLOCKS 10u
#define INVALID 11u             // whether a leaf does not reach another
#define MOVED_PAIRS 12u
#define LIVE_CHANGED 13u        // the same as CHANGED and the following ones, for destinations that are alive
#define LIVE_SET 14u
#define LIVE_UNSET 15u
#define LIVE_CHANGED_BLOCKS 16u
#define LIVE_CHANGED_SWITCHES 17u
#define PATTERN_LOST 18u        // flows of the first pattern that do not arrive

// A state, with places in the pool. `Pool::add_state` of judge/pool.rs writes the same layout.
struct JudgedState {
    u32 nodes;          // the number of positions
    u32 places;         // [nodes][4] the column of each position, as in `slot_place`
    u32 weight;         // [switches] the positions on each switch
    u32 counted;        // [slot_words] a bit for each slot that a position has
    u32 classes;        // [switches] the class of each switch; NONE for dead ones
    u32 order;          // [live switches] by class
    u32 class_start;    // [class_count + 1]
    u32 class_count;
    u32 cut_of;         // [switches][level_pairs * 2] the cuts that a switch is in, 16 bits for each level; 0xffff is none
    u32 level_pairs;    // half the number of levels, an even number
    u32 cuts;           // [cut_count][2] the positions inside, and the cables that lead out
    u32 cut_count;
    u32 leaves;         // [tiles][2] a bit for each target that is a leaf with nodes
    u32 has_dead_nodes; // whether the cable of some node is dead
    u32 has_costs;      // whether costs are on the machine, as bits
    u32 spare;
};

// Everything that a kernel of the judge reads and writes. `JudgeArguments` of judge/arguments.rs writes the same layout.
struct JudgeArguments {
    Arguments a;
    const JudgedState *states;  // [states]
    const u32 *pool;
    const uint4 *slot_place;    // [slots] the destination switch; pitch, and the port from bit 24 on; where the column starts
    const u32 *slot_block;      // [slots] the block of the LID
    const uint2 *column_group;  // [groups] columns that one block sweeps: tile, and the first slot
    uint2 *channels;            // [states][switches << shift] the switch there, or NONE; bit 0: whether it leads up; the link
    const u8 *kept;             // [table_bytes] the old tables, or null
    u16 *flows;                 // [states][table_bytes] flows that leave a switch for a slot
    u32 *link_loads;            // [states][links]
    uint2 *lost;                // [states][lost_limit] a slot, and the switch that it is not reached from
    u64 *counters;              // [states][counter_count]
    u32 *touched;               // [states][slot_words] a bit for each slot of which some entry differs
    u16 *draws;                 // the destinations of positions, permutation by permutation
    uint2 *results;             // [states][result_count] the greatest load, and the lower bound
    u32 *scratch;               // [states][blocks][scratch_words] loads that do not fit into shared memory
    u32 shift, group_columns;   // the bits of an entry in a channel; the columns of a group: 8, 16 or 32
    u32 slot_words, block_words;
    u32 lost_limit, counter_count;
    u32 draw, draw_of;          // in the pool: the draws, and [states] which of them a state uses
    u32 is_shift, count;        // about the pattern of this launch
    u32 result_count, first_result;
    u32 pattern, scratch_words; // which pattern; 0 words if loads are in shared memory
};

static_assert(sizeof(JudgeArguments) == sizeof(Arguments) + 22 * 8, "judge/arguments.rs writes 22 words more");
static_assert(sizeof(JudgedState) == 64, "judge/pool.rs writes 16 words");

__device__ __forceinline__ const JudgedState &judged_of(const JudgeArguments &j) { return j.states[state(j.a)]; }

__device__ __forceinline__ u64 *counters_of(const JudgeArguments &j) {
    return j.counters + (u64)state(j.a) * j.counter_count;
}

// The column of a slot: its entries, by switch.
struct ColumnView {
    u64 start;
    u32 home, pitch, port;

    __device__ __forceinline__ u32 entry(const u8 *tables, u32 s) const {
        return tables[start + (u64)s * pitch];
    }
};

__device__ __forceinline__ ColumnView column_at(uint4 place) {
    return {place.z | (u64)place.w << 32, place.x, place.y & 0xffffff, place.y >> 24};
}

__device__ __forceinline__ ColumnView column_of(const JudgeArguments &j, u32 slot) { return column_at(j.slot_place[slot]); }

// The tables of the state.
__device__ __forceinline__ const u8 *tables_of(const JudgeArguments &j) {
    return j.a.tables + state(j.a) * j.a.table_bytes;
}

// Where an entry of a switch leads to.
__device__ __forceinline__ uint2 next_hop(const JudgeArguments &j, u32 s, u32 entry) {
    u64 first = (u64)state(j.a) * j.a.switches + s;
    return j.channels[(first << j.shift) + min(entry, (1u << j.shift) - 1)];
}

// Whether packets from a switch arrive. A route with more hops than there are switches loops.
__device__ bool arrives(const JudgeArguments &j, const u8 *tables, ColumnView column, u32 s) {
    for (u32 hop = 0; hop <= j.a.switches; hop++) {
        u32 entry = column.entry(tables, s);
        uint2 next = next_hop(j, s, entry);
        if (next.x == NONE) {
            return s == column.home && entry == column.port;
        }
        s = next.x;
    }
    return false;
}

// Writes the channels of live links. All others lead nowhere already.
extern "C" __global__ void channels(const __grid_constant__ JudgeArguments j) {
    const Arguments &a = j.a;
    u32 s = warp_in_grid();
    const JudgedState &judged = judged_of(j);
    if (s >= a.switches) {
        return;
    }
    const u32 *classes = j.pool + judged.classes;
    uint2 *own = j.channels + (((u64)state(a) * a.switches + s) << j.shift);
    for (u32 at = a.link_start[s] + lane(); at < a.link_start[s + 1]; at += 32) {
        u32 peer = a.link_peer[at];
        if (classes[s] != NONE && classes[peer] != NONE && !cable_is_dead(a, a.link_cable[at])) {
            own[a.link_port[at]] = make_uint2(peer, at << 1 | (classes[peer] > classes[s]));
        }
    }
}
