// Closer sets, eq. (1), for the kernel of routes.cu: which groups of a switch lead nearer to a destination switch.
//
//     C(s, t) = the groups down whose down cost to t is smaller by one, if there are any; else the groups up whose cost is
//
// The file routes.cu has the head for all of this, with the numbers of the departures.

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

// Writes down which targets of a tile are reached in which direction. A lane has a tile, and all warps have the same tiles.
__device__ void keep_reached(BlockView shared, u32 warp, u64 up, u64 down, u64 own) {
    if (warp == 0) {
        shared.up[lane()] = up;
        shared.down[lane()] = down;
        shared.own[lane()] = own;
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
    keep_reached(shared, warp, up, down, own);
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

// The same for any number of hops up, with planes that are read again for each group. Few fabrics have that many ranks, and a kernel
// has as many registers as its most demanding path, whether that is taken or not.
__device__ void find_masks_deep(const Arguments &a, BlockView shared, u32 s, Counts counts, u32 first_tile, u32 hops) {
    u32 warp = threadIdx.x >> 5, tile = first_tile + lane(), groups = max(counts.up_groups, counts.down_groups);
    bool is_tile = tile < a.tiles;
    u64 place = (u64)s * a.tiles + tile, up = 0;
    u64 own = is_tile ? own_bit(a.target[s], tile) : 0;
    u64 down = is_tile ? plane(a, 0)[place] & ~own : 0;
    for (u32 u = 1; u <= hops; u++) {
        up |= is_tile ? plane(a, u)[place] : 0;
    }
    keep_reached(shared, warp, up, down, own);
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

