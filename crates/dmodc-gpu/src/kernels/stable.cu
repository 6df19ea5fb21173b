// The engine `stable`: an entry of the reference stays as long as it works, and displaced destinations are spread.
//
// The reference is another state of the fabric. R is a closer set of a switch in the reference, C its closer set now. For number
// d of a destination and its k-th LID, with Π, #R and σ of the reference and q = ⌊d / Π⌋:
//
//     slot   = R[(q + k) mod #R],   round = ⌊q / #R⌋
//     entry  = port (round + ⌊k / #R⌋) mod #ports of the slot       if the slot is in C; if that port is gone, the port of the
//                                                                   same number among those that the group has now
//            = place x of the ports of B in turns                   otherwise, where D are the groups of R that are not in C,
//                                                                   x = round · #D + j + σ + k, and the slot is D[j]
//     B      = the groups of C whose switches lost nothing on the way to the target, if these are at least half of C;
//              else those that kept the slot ⌊f / Π⌋ + i of theirs, where f is the first number of the target and i counts rounds
//              from there, up to 3; if there are none, C
//
// In turns: the first port of each group, then the second port of each group that has one, and so on. Where R is empty, the entry
// is that of `dmodc`. A divider of ports stands in the place of rounds where a rank has one. `Stable` of the engine has the same
// in words.
//
// Example: Π = 2, σ = 0, and four groups of one port each, whose ports are 1, 2, 3 and 4. Only group 1 is lost. So
// R = {0, 1, 2, 3}; B = C = {0, 2, 3}, with ports 1, 3 and 4; D = {1}, and x is the round.
//
//     d           0  1    2  3    4  5    6  7    8  9   10 11   12 13   14 15
//     slot          0       1       2       3       0       1       2       3
//     round         0       0       0       0       1       1       1       1
//     reference   1  1    2  2    3  3    4  4    1  1    2  2    3  3    4  4
//     entry       1  1    1  1    3  3    4  4    1  1    3  3    3  3    4  4
//
//     stable.cu          arguments; the reference of a switch next to its present; kernel `reference_closer`, once per reference
//     stable_losses.cu   kernel `losses`: what every switch lost, for others that look ahead to it
//     stable_row.cu      the lost entries of a row
//     stable_routes.cu   kernel `stable_routes`: all rows
//     stable_moved.cu    kernel `moved_entries`: entries that relief moved
//
// Groups have two numberings: those of the reference (R, D) and those of the present (C, B). As in closer.cu, the i-th group up and
// the i-th group down share a word or a bit: the closer set of a target has groups of one direction only.

#define STRETCHES 4

// The state of a switch in the reference, as bits of `is_known`.
#define WAS_ALIVE 1
#define WAS_LEAF 2

// Everything that the kernels of `stable` read and write. `StableArguments` of stable/arguments.rs writes the same layout.
struct StableArguments {
    Arguments now;
    // The reference as one state, which the kernels for states have written.
    const u32 *counts;        // [switches]
    const u32 *peers;         // [links]
    const uint4 *dividers;    // [switches]
    const u8 *firsts;         // [links]
    const u8 *ports;          // [links]
    const u8 *tables;         // [table_bytes] the entries of slots, for the same window of tiles
    const u32 *closer_start;  // [switches + 1] where the closer sets of a switch start
    u64 *closer;              // [groups][tiles] the targets that a group is closer to
    u64 *up;                  // [switches][tiles] targets that need a hop up
    u64 *down;                // [switches][tiles] targets below
    u32 *uniform;             // [switches][tiles / 32] a bit for each tile in which all groups up are closer to all targets
    const u8 *is_known;       // [switches]
    const u32 *sigma;         // [switches] σ
    const u32 *first_number;  // [tiles][64] f
    const uint4 *piece;       // [pieces] runs with their places: the first d; the first slot in the tile; target and k; length
    const u32 *tile_piece;    // [tiles + 1] the first piece
    const struct Moved *moved;
    // One state after the other.
    u64 *harmed;              // [states][switches][tiles] targets for which a switch lost a group or a port
    u64 *kept;                // [states][STRETCHES][switches][tiles] targets for which a switch has the slot of a stretch
    u64 moved_count;
};

static_assert(sizeof(StableArguments) == sizeof(Arguments) + 160, "stable/arguments.rs writes 20 words more");

// Where a group of the reference is now, packed: its index in its direction, and these bits.
#define NOW_DOWN 256    // it is a group down now
#define NOW_OTHER 512   // it has other ports than in the reference
#define NOW_GONE 0xffff

// The switch in the reference, which the warps of a block share as they share `BlockView`, its present. The bits of sets are as
// there. These arrays take the place of the records of `BlockView` and what follows them.
struct ReferenceSwitch {
    u64 *up;        // [TILES] targets that needed a hop up
    u64 *down;      // [TILES] targets that were below
    Side *sides;    // [2] up, down
    u32 *members;   // [WARPS][64][words] R by target
    u32 *lost;      // [WARPS][64][words] D by target
    u32 *spread;    // [WARPS][64][words] B by target
    u32 *thinned;   // [2][8] groups up and down that have other ports now
    u16 *now;       // [256] where each group is now
    u8 *firsts;     // [256]
    u8 *ports;      // [256]
    Counts counts;
    u32 words;      // the words of a set, in either numbering
    u32 uniform;    // a bit for each tile
};

// Returns where everything about the reference of a switch is. `stable_shared_bytes` of stable/mod.rs has the same sum.
__device__ ReferenceSwitch reference_switch(const StableArguments &stable, BlockView shared, u32 s, Counts now, u32 first_tile) {
    ReferenceSwitch reference;
    u32 packed = stable.counts[s];
    reference.counts = {packed & 255, packed >> 8 & 255, packed >> 16 & 255, packed >> 24};
    u32 reference_groups = max(reference.counts.up_groups, reference.counts.down_groups);
    u32 groups = max(reference_groups, max(now.up_groups, now.down_groups));
    reference.words = (groups + 31) / 32;
    // The records of routes.cu are not used here.
    reference.up = (u64 *)shared.records;
    reference.down = reference.up + TILES;
    reference.sides = (Side *)(reference.down + TILES);
    u32 most_words = (stable.now.most_groups + 31) / 32;
    reference.members = (u32 *)(reference.sides + 2);
    reference.lost = reference.members + WARPS * 64 * most_words;
    reference.spread = reference.lost + WARPS * 64 * most_words;
    reference.thinned = reference.spread + WARPS * 64 * most_words;
    reference.now = (u16 *)(reference.thinned + 16);
    reference.firsts = (u8 *)(reference.now + 256);
    reference.ports = reference.firsts + 256;
    // A window of fewer tiles than a block takes starts within a word, and ends there.
    u32 words_by_switch = (stable.now.tiles + TILES - 1) / TILES;
    reference.uniform = stable.uniform[(u64)s * words_by_switch + first_tile / TILES] >> first_tile % TILES;
    return reference;
}

// The present group that leads to a peer, or NONE. Most often it has the same direction and the same place, or a place just
// before.
__device__ u32 group_to(BlockView shared, Counts now, u32 peer, u32 place, bool up) {
    u32 first = up ? 0 : now.up_groups, count = up ? now.up_groups : now.down_groups;
    for (u32 i = min(place + 1, count); i-- > 0;) {
        if (shared.peers[first + i] == peer) {
            return first + i;
        }
    }
    // A group that was not there in the reference may stand before it, and ranks may have changed.
    for (u32 i = 0; i < now.up_groups + now.down_groups; i++) {
        if (shared.peers[i] == peer) {
            return i;
        }
    }
    return NONE;
}

// Where the ports of a group end, whose index counts from all groups of the switch.
__device__ u32 ports_end(const u8 *firsts, Counts counts, u32 group) {
    if (group + 1 == counts.up_groups) {
        return counts.up_ports;
    }
    return group + 1 == counts.up_groups + counts.down_groups ? counts.up_ports + counts.down_ports : firsts[group + 1];
}

// Finds a group of the reference among those of the present.
__device__ void find_now(BlockView shared, ReferenceSwitch reference, Counts now, u32 group, u32 peer) {
    bool up = group < reference.counts.up_groups;
    u32 place = up ? group : group - reference.counts.up_groups, found = group_to(shared, now, peer, place, up);
    u32 code = NOW_GONE;
    if (found != NONE) {
        code = found < now.up_groups ? found : (found - now.up_groups) | NOW_DOWN;
        u32 first = reference.firsts[group], count = ports_end(reference.firsts, reference.counts, group) - first;
        u32 now_first = shared.firsts[found];
        bool is_same = ports_end(shared.firsts, now, found) - now_first == count;
        for (u32 i = 0; is_same && i < count; i++) {
            is_same = shared.ports[now_first + i] == reference.ports[first + i];
        }
        if (!is_same) {
            code |= NOW_OTHER;
            atomicOr(&reference.thinned[(up ? 0 : 8) + place / 32], 0x80000000u >> (place & 31));
        }
    }
    reference.now[group] = code;
}

// Loads the reference of a switch, and compares its groups with those of the present, which are loaded already. A block waits for
// all of it.
__device__ void load_reference(const StableArguments &stable, BlockView shared, ReferenceSwitch reference, u32 s, Counts now,
                               u32 first_tile) {
    u32 at = threadIdx.x, first = stable.now.link_start[s];
    u32 groups = reference.counts.up_groups + reference.counts.down_groups;
    if (at < groups) {
        reference.firsts[at] = stable.firsts[first + at];
    }
    if (at < reference.counts.up_ports + reference.counts.down_ports) {
        reference.ports[at] = stable.ports[first + at];
    }
    if (at < 16) {
        reference.thinned[at] = 0;
    }
    if (at < TILES && first_tile + at < stable.now.tiles) {
        reference.up[at] = stable.up[(u64)s * stable.now.tiles + first_tile + at];
        reference.down[at] = stable.down[(u64)s * stable.now.tiles + first_tile + at];
    }
    __syncthreads();
    if (at < groups) {
        find_now(shared, reference, now, at, stable.peers[first + at]);
    }
    if (at == 64 || at == 96) {
        describe_side(reference.firsts, &reference.sides[at == 96], reference.counts, at == 64, stable.dividers[s]);
    }
    __syncthreads();
}

// Loads a switch in both states, and finds its closer sets in the present. A block waits for all of it.
__device__ ReferenceSwitch load_both(const StableArguments &stable, BlockView shared, u32 s, Counts now, u32 first_tile) {
    ReferenceSwitch reference = reference_switch(stable, shared, s, now, first_tile);
    load_switch(stable.now, shared, s, now);
    load_reference(stable, shared, reference, s, now, first_tile);
    find_closer(stable.now, shared, s, now, first_tile);
    __syncthreads();
    return reference;
}

// The targets for which the i-th groups of the reference are lost, and those for which they are there with other ports.
struct LostTargets {
    u64 lost, thinned;

    // Adds one group and the targets that it was closer to.
    __device__ void add(BlockView shared, u32 local_tile, u64 closer, u32 now) {
        u64 still_closer = 0;
        if (now != NOW_GONE) {
            u64 mask = shared.masks[(now & 255) * MASK_PITCH + local_tile];
            still_closer = mask & (now & NOW_DOWN ? shared.down[local_tile] : shared.up[local_tile]);
        }
        lost |= closer & ~still_closer;
        thinned |= now != NOW_GONE && now & NOW_OTHER ? closer & still_closer : 0;
    }
};

// A switch and a tile, in both states.
struct StableTile {
    const StableArguments &stable;
    BlockView shared;
    ReferenceSwitch reference;
    Counts counts;  // now
    u32 s, tile;
    u32 local_tile; // the tile, counted from the first of the block

    // The sets of this warp.
    __device__ u32 *of_warp(u32 *sets) const { return sets + (threadIdx.x >> 5) * 64 * reference.words; }

    // The set of a target.
    __device__ const u32 *of_target(u32 *sets, u32 target) const { return of_warp(sets) + target * reference.words; }

    // Whether every group of the reference was closer to every target, and none was below.
    __device__ bool was_uniform() const { return reference.uniform >> local_tile & 1; }

    // The direction in which a target was reached in the reference.
    __device__ const Side &reference_side(u32 target) const { return reference.sides[!(reference.up[local_tile] >> target & 1)]; }

    // The targets that the i-th groups of the reference were closer to.
    __device__ u64 reference_closer_to(u32 group) const {
        if (was_uniform()) {
            return group < reference.counts.up_groups ? reference.up[local_tile] : 0;
        }
        bool is_group = group < max(reference.counts.up_groups, reference.counts.down_groups);
        return is_group ? stable.closer[((u64)stable.closer_start[s] + group) * stable.now.tiles + tile] : 0;
    }

    // The targets that the i-th groups of the present are closer to.
    __device__ u64 closer_to(u32 group) const {
        return group < max(counts.up_groups, counts.down_groups) ? shared.masks[group * MASK_PITCH + local_tile] : 0;
    }

    __device__ LostTargets lost_targets(u32 group) const {
        u64 closer = reference_closer_to(group);
        LostTargets all = {0, 0};
        if (closer & reference.up[local_tile]) {
            all.add(shared, local_tile, closer & reference.up[local_tile], reference.now[group]);
        }
        if (closer & reference.down[local_tile]) {
            all.add(shared, local_tile, closer & reference.down[local_tile], reference.now[reference.counts.up_groups + group]);
        }
        return all;
    }
};

// Stores one word of the sets by target: 32 groups, whose targets are in the lanes.
__device__ void store_sets(u32 *sets, u32 words, u32 word, u64 targets) {
    TwoSets found = sets_of(targets);
    sets[lane() * words + word] = found.low;
    sets[(lane() + 32) * words + word] = found.high;
}

__device__ u32 size_of(const u32 *set, u32 words) {
    u32 size = 0;
    for (u32 word = 0; word < words; word++) {
        size += __popc(set[word]);
    }
    return size;
}

// Finds the closer sets of the reference, which is the only state of this launch, for all tiles.
extern "C" __global__ void __launch_bounds__(WARPS * 32) reference_closer(StableArguments stable) {
    const Arguments &a = stable.now;
    u32 s = blockIdx.x, first_tile = blockIdx.y * TILES, warp = threadIdx.x >> 5, tile = first_tile + lane();
    bool is_alive = stable.is_known[s] & WAS_ALIVE;
    Counts counts = counts_of(a, s);
    u32 groups = max(counts.up_groups, counts.down_groups);
    BlockView shared = block_view(a, groups);
    if (is_alive) {
        load_switch(a, shared, s, counts);
        find_closer(a, shared, s, counts, first_tile);
    }
    __syncthreads();
    for (u32 group = warp; is_alive && tile < a.tiles && group < groups; group += WARPS) {
        stable.closer[((u64)stable.closer_start[s] + group) * a.tiles + tile] = shared.masks[group * MASK_PITCH + lane()];
    }
    if (warp > 0) {
        return;
    }
    bool is_same = true;
    if (tile < a.tiles) {
        u64 up = is_alive ? shared.up[lane()] : 0, down = is_alive ? shared.down[lane()] : 0;
        stable.up[(u64)s * a.tiles + tile] = up;
        stable.down[(u64)s * a.tiles + tile] = down;
        is_same = !down;
        for (u32 group = 0; is_alive && group < counts.up_groups; group++) {
            is_same &= shared.masks[group * MASK_PITCH + lane()] == up;
        }
    }
    __syncwarp();
    u32 uniform = __ballot_sync(ALL_LANES, is_same);
    if (lane() == 0) {
        stable.uniform[(u64)s * ((a.tiles + TILES - 1) / TILES) + blockIdx.y] = uniform;
    }
}
