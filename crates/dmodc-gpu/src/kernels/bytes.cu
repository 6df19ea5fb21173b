// Costs of any fabric, as bytes (Procedure 1), where cables may join switches of one rank.
//
//     down(s) = 0 at the target, else 1 + min { down(b) : b below s }
//     cost(s) = down(s) where that is finite, else 1 + min { cost(p) : p above s }
//
// 255 is infinite. The host orders the switches: the height of a switch is the longest way down from it, its depth the longest
// way up. One launch of `ascend_bytes` for each height from 0 on, then one of `descend_bytes` for each depth. A warp takes a
// switch and a tile, a lane takes the targets `lane` and `lane + 32`.
//
// Layout: switch by switch, tile by tile, 64 bytes. Plane 0 has a bit for each target with a finite down cost.

__device__ __forceinline__ u8 *cost_row(const Arguments &a, u32 s, u32 tile) {
    return a.costs + ((u64)s * a.tiles + tile) * 64;
}

// The least cost of the peers, and one hop more.
__device__ u32 one_more(const Arguments &a, const u32 *peers, u32 count, u32 tile, u32 target) {
    u32 least = INFINITE;
    for (u32 group = 0; group < count; group++) {
        least = min(least, (u32)cost_row(a, peers[group], tile)[target]);
    }
    return min(least + 1, (u32)INFINITE);
}

extern "C" __global__ void ascend_bytes(Arguments a) {
    u32 s = warp_in_grid(), tile = blockIdx.y;
    if (s >= a.switches || a.heights[(u64)state(a) * a.switches + s] != a.step) {
        return;
    }
    Counts counts = counts_of(a, s);
    const u32 *below = a.peers + (u64)state(a) * a.links + a.link_start[s] + counts.up_groups;
    u64 own = own_bit(a.target[s], tile), down = 0;
    for (u32 half = 0; half < 64; half += 32) {
        u32 target = half + lane();
        u32 cost = own >> target & 1 ? 0 : one_more(a, below, counts.down_groups, tile, target);
        cost_row(a, s, tile)[target] = cost;
        down |= (u64)__ballot_sync(ALL_LANES, cost != INFINITE) << half;
    }
    if (lane() == 0) {
        plane(a, 0)[(u64)s * a.tiles + tile] = down;
    }
}

extern "C" __global__ void descend_bytes(Arguments a) {
    u32 s = warp_in_grid(), tile = blockIdx.y;
    if (s >= a.switches || a.depths[(u64)state(a) * a.switches + s] != a.step) {
        return;
    }
    Counts counts = counts_of(a, s);
    const u32 *above = a.peers + (u64)state(a) * a.links + a.link_start[s];
    u64 down = plane(a, 0)[(u64)s * a.tiles + tile];
    for (u32 target = lane(); target < 64; target += 32) {
        if (!(down >> target & 1)) {
            cost_row(a, s, tile)[target] = one_more(a, above, counts.up_groups, tile, target);
        }
    }
}
