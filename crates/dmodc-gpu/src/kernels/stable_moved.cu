// Entries that relief moved: each has its port as long as that port leads closer to the destination.
//
// A thread takes an entry. There are few, so closer sets are not looked up: a port leads closer downwards if its switch has the
// target below, and upwards if no other switch above needs fewer hops up.

// An entry with another port than its slot has. `moved_entries` of stable/reference.rs writes the same layout.
struct Moved {
    u32 s, tile;
    u32 slot;       // counted from all slots
    u32 target;     // counted from the first of the tile
    u32 port;
    u32 peer;       // the switch behind the port
    u32 cable;
    u32 unused;
};

// The hops up from a switch to a target; NONE if there is no route.
__device__ u32 hops_up(const Arguments &a, u32 s, u32 tile, u32 target) {
    u32 rank = a.ranks[(u64)state(a) * a.switches + s];
    for (u32 hops = 0; rank != NO_RANK && hops < a.ranks_run - rank; hops++) {
        if (plane(a, hops)[(u64)s * a.tiles + tile] >> target & 1) {
            return hops;
        }
    }
    return NONE;
}

__device__ bool leads_closer(const Arguments &a, const Moved &moved) {
    u64 first_switch = (u64)state(a) * a.switches, place = (u64)moved.s * a.tiles + moved.tile;
    bool is_up = a.ranks[first_switch + moved.peer] > a.ranks[first_switch + moved.s];
    if (own_bit(a.target[moved.s], moved.tile) >> moved.target & 1) {
        return false;
    }
    u32 hops = hops_up(a, moved.peer, moved.tile, moved.target);
    if (plane(a, 0)[place] >> moved.target & 1) {
        return !is_up && hops == 0;
    }
    const u32 *above = a.peers + (u64)state(a) * a.links + a.link_start[moved.s];
    bool is_closer = is_up && hops != NONE;
    for (u32 group = 0; is_closer && group < counts_of(a, moved.s).up_groups; group++) {
        is_closer = hops_up(a, above[group], moved.tile, moved.target) >= hops;
    }
    return is_closer;
}

extern "C" __global__ void moved_entries(StableArguments b) {
    const Arguments &a = b.now;
    u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= b.moved_count || a.flags[state(a)]) {
        return;
    }
    Moved moved = b.moved[at];
    if (moved.tile < a.first_tile || moved.tile >= a.end_tile) {
        return;
    }
    bool is_dead = switch_is_dead(a, moved.s) || switch_is_dead(a, moved.peer) || cable_is_dead(a, moved.cable);
    u32 node_cable = a.slot_cable[moved.slot];
    is_dead |= node_cable != NONE && cable_is_dead(a, node_cable);
    if (!is_dead && leads_closer(a, moved)) {
        u32 column = moved.slot - a.tile_slot[moved.tile];
        u64 row = a.tile_offset[moved.tile] + (u64)moved.s * a.tile_pitch[moved.tile];
        a.tables[state(a) * a.table_bytes + row + column] = moved.port;
    }
}
