// Ranks: the distance of every switch from the nearest leaf, by breadth-first search over what is alive.
//
//     rank(s) = 0 for live leaves, else 1 + min { rank(p) : p is cabled to s }
//
// One launch of `ranks_start`, then one of `ranks_wave` for each further rank. Departures from the plain queue:
// 1. There is no queue. In wave w every switch without a rank looks for a neighbour of rank w − 1. There are few waves.
// 2. Usually no kernel of this file runs. Faults only make distances longer, and neighbours differ by one rank. So the ranks are
//    still those of the healthy fabric if every switch above the leaves has a live link downwards, which `groups` finds out.
// 3. A wave writes only the number w and looks only for w − 1, so its order does not matter.

extern "C" __global__ void ranks_start(Arguments a) {
    u32 s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s == 0) {
        a.flags[state(a)] = 0;
        a.digests[state(a)] = 0;
    }
    if (s < a.switches) {
        bool is_start = a.is_leaf[s] && !switch_is_dead(a, s);
        a.ranks[(u64)state(a) * a.switches + s] = is_start ? 0 : NO_RANK;
    }
}

extern "C" __global__ void ranks_wave(Arguments a) {
    u32 s = warp_in_grid();
    u8 *ranks = a.ranks + (u64)state(a) * a.switches;
    if (s >= a.switches || ranks[s] != NO_RANK || switch_is_dead(a, s)) {
        return;
    }
    bool found = false;
    u32 end = a.link_start[s + 1];
    for (u32 at = a.link_start[s] + lane(); at < end && !found; at += 32) {
        // A dead switch has no rank.
        found = ranks[a.link_peer[at]] == a.step - 1 && !cable_is_dead(a, a.link_cable[at]);
    }
    __syncwarp();
    if (__any_sync(ALL_LANES, found) && lane() == 0) {
        ranks[s] = a.step;
    }
}
