// Costs of levelled fabrics, as bits (Procedure 1), and the divider of the paper.
//
// A switch of rank r that reaches a target of rank t after u hops up does so in r − t + 2u hops altogether, so u is the cost.
// Plane u of a switch has a bit for each target that needs u hops up; no target is in two planes:
//
//     plane 0 (s) = {s} ∪ ⋃ { plane 0 (b) : b below s }
//     plane u (s) = ⋃ { plane u−1 (p) : p above s } \ (plane 0 (s) ∪ … ∪ plane u−1 (s))
//     Π(s)        = max { Π(b) · #upswitches(b) : b below s }, at least 1
//
// Layout: plane by plane, switch by switch, tile by tile, 64 targets in a word. So 32 lanes, which take 32 tiles of a switch,
// read the word of a neighbour for all of them in one access. A switch of rank r of R ranks has at most R − 1 − r hops up: other
// planes are neither written nor read.
//
// One launch of `ascend` for each rank from 1 on, then one of `descend` for each rank from the last but one down to 1. The planes
// of rank 0 are found in routes.cu if there are at most four ranks.

extern "C" __global__ void ascend(Arguments a) {
    u32 s = warp_in_grid();
    u64 first_switch = (u64)state(a) * a.switches;
    if (s >= a.switches || a.ranks[first_switch + s] != a.step) {
        return;
    }
    Counts counts = counts_of(a, s);
    const u32 *below = a.peers + (u64)state(a) * a.links + a.link_start[s] + counts.up_groups;
    u32 pi = 1;
    for (u32 group = lane(); group < counts.down_groups; group += 32) {
        u32 upswitches = a.counts[first_switch + below[group]] & 255;
        u64 product = (u64)a.pi[first_switch + below[group]] * upswitches;
        pi = max(pi, (u32)min(product, (u64)NONE));
    }
    __syncwarp();
    pi = warp_maximum(pi);
    if (lane() == 0) {
        write_dividers(a, s, a.step, pi);
    }
    u64 *down = plane(a, 0);
    for (u32 tile = lane(); tile < a.tiles; tile += 32) {
        u64 reached = own_bit(a.target[s], tile);
#pragma unroll 8
        for (u32 group = 0; group < counts.down_groups; group++) {
            reached |= down[(u64)below[group] * a.tiles + tile];
        }
        down[(u64)s * a.tiles + tile] = reached;
    }
}

// `HOPS` is the greatest number of hops up.
template <int HOPS> __device__ void descend_by(const Arguments &a, u32 s) {
    Counts counts = counts_of(a, s);
    const u32 *above = a.peers + (u64)state(a) * a.links + a.link_start[s];
    u64 own = (u64)s * a.tiles;
    for (u32 tile = lane(); tile < a.tiles; tile += 32) {
        u64 reached[HOPS];
#pragma unroll
        for (int u = 0; u < HOPS; u++) {
            reached[u] = 0;
        }
#pragma unroll 4
        for (u32 group = 0; group < counts.up_groups; group++) {
            u64 at = (u64)above[group] * a.tiles + tile;
#pragma unroll
            for (int u = 0; u < HOPS; u++) {
                reached[u] |= plane(a, u)[at];
            }
        }
        u64 known = plane(a, 0)[own + tile];
#pragma unroll
        for (int u = 0; u < HOPS; u++) {
            plane(a, u + 1)[own + tile] = reached[u] & ~known;
            known |= reached[u];
        }
    }
}

extern "C" __global__ void descend(Arguments a) {
    u32 s = warp_in_grid();
    if (s >= a.switches || a.ranks[(u64)state(a) * a.switches + s] != a.step) {
        return;
    }
    static_assert(MOST_RANKS == 8, "there is a case for each number of hops up");
    switch (a.ranks_run - 1 - a.step) {
    case 1: descend_by<1>(a, s); break;
    case 2: descend_by<2>(a, s); break;
    case 3: descend_by<3>(a, s); break;
    case 4: descend_by<4>(a, s); break;
    case 5: descend_by<5>(a, s); break;
    case 6: descend_by<6>(a, s); break;
    case 7: descend_by<7>(a, s); break;
    }
}
