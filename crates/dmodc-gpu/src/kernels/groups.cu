// Port groups: the live links of a switch by peer, those upwards first; `PortGroups` of the engine has the same layout.
//
//     groups(s) = the live links of s by peer;   up where the peer has a higher rank
//
// Layout: those of a switch start where its links do. `peers` and `firsts` have its groups, `ports` has its ports, each upwards
// first. Example: links with ports 1 to 6 lead to the peers 7, 7, 8, 9, 9, 9. Peer 8 is below, the others above, and the cable of
// port 4 is dead. Then there are two groups up and one down:
//
//     peers    7     9     8
//     firsts   0     2     4
//     ports    1  2  5  6  3
//
// Departures from the plain loop over links:
// 1. Links are sorted by peer already, so a group is a series of live links with one peer. A link is the first of its group if
//    the live link before it has another peer, so nothing is looked up.
// 2. A warp takes a switch and reads 32 links at a time. A lane finds its place by counting the lanes before it, with ballots.
// 3. Where groups down start is known only when those up are counted, so links are looked at twice: to count, and to write. The
//    first 64 are kept in registers for that.
// 4. The warp also begins what depends on nothing else: switches of rank 0 have divider 1 and reach themselves alone by going
//    down. And it finds out whether ranks are still those of the healthy fabric: departure 2 of ranks.cu.

// What a lane knows of its link.
struct LinkView {
    u32 peer;
    bool is_alive;
    bool is_up;     // alive, and leads up
    bool is_down;   // alive, and leads down
    bool is_first;  // alive, and the first of its group
};

// Views the links from `first` on, one in each lane, without their groups.
__device__ LinkView view_links(const Arguments &a, u32 s, u32 first, u32 end, u32 &found) {
    const u8 *ranks = a.ranks + (u64)state(a) * a.switches;
    u32 at = first + lane();
    LinkView view = {NONE, false, false, false, false};
    if (at < end) {
        view.peer = a.link_peer[at];
        u32 rank = ranks[s], its = ranks[view.peer];
        view.is_alive = !cable_is_dead(a, a.link_cable[at]) && !switch_is_dead(a, view.peer);
        if (view.is_alive) {
            found |= rank == its ? FLAT_CABLE : rank == NO_RANK || its == NO_RANK ? MORE_RANKS : 0;
            view.is_up = its == rank ? a.position[view.peer] > a.position[s] : its > rank;
            view.is_down = !view.is_up;
        }
    }
    return view;
}

// Finds out which links are the first of their groups. `last` is the peer of the live link before them.
__device__ void find_firsts(LinkView &view, u32 &last) {
    u32 alive = __ballot_sync(ALL_LANES, view.is_alive);
    u32 before = alive & ((1u << lane()) - 1);
    u32 previous = __shfl_sync(ALL_LANES, view.peer, before ? 31 - __clz(before) : 0);
    view.is_first = view.is_alive && view.peer != (before ? previous : last);
    u32 newest = __shfl_sync(ALL_LANES, view.peer, alive ? 31 - __clz(alive) : 0);
    last = alive ? newest : last;
}

// Writes the dividers of a switch: those of its rank, or Π where the rank has none.
__device__ void write_dividers(const Arguments &a, u32 s, u32 rank, u32 pi) {
    uint4 rule = rank < a.ranks_run ? a.rule[rank] : make_uint4(0, 0, 0, 0);
    u64 at = (u64)state(a) * a.switches + s;
    a.pi[at] = pi;
    a.dividers[at] = make_uint4(rule.x ? rule.x : pi, rule.y, rule.z ? rule.z : pi, rule.w);
}

// The next places among the groups and ports of a switch.
struct GroupPlaces {
    u32 up_group, up_port, down_group, down_port;

    // Writes links to their places. `start` is the first link of the switch, and `first` the first of the view.
    __device__ void write(const Arguments &a, const LinkView &view, u32 start, u32 first) {
        u32 up_firsts = __ballot_sync(ALL_LANES, view.is_first && view.is_up);
        u32 down_firsts = __ballot_sync(ALL_LANES, view.is_first && view.is_down);
        u32 ups = __ballot_sync(ALL_LANES, view.is_up), downs = __ballot_sync(ALL_LANES, view.is_down);
        u32 before = (1u << lane()) - 1;
        u64 storage = (u64)state(a) * a.links + start;
        if (view.is_alive) {
            u32 port = view.is_up ? up_port + __popc(ups & before) : down_port + __popc(downs & before);
            u32 group = view.is_up ? up_group + __popc(up_firsts & before) : down_group + __popc(down_firsts & before);
            a.ports[storage + port] = a.link_port[first + lane()];
            if (view.is_first) {
                a.peers[storage + group] = view.peer;
                a.firsts[storage + group] = port;
            }
        }
        up_group += __popc(up_firsts);
        up_port += __popc(ups);
        down_group += __popc(down_firsts);
        down_port += __popc(downs);
        __syncwarp();
    }
};

// The views of 32 links that are kept in registers.
#define KEPT_VIEWS 2

extern "C" __global__ void groups(Arguments a) {
    u32 s = warp_in_grid();
    if (s >= a.switches) {
        return;
    }
    u64 at_switch = (u64)state(a) * a.switches + s;
    if (switch_is_dead(a, s)) {
        if (lane() == 0) {
            a.counts[at_switch] = 0;
        }
        return;
    }
    u32 start = a.link_start[s], end = a.link_start[s + 1], found = 0;
    u32 up_groups = 0, up_ports = 0, last = NONE;
    // Most switches have at most two views, which are loaded together and kept.
    LinkView views[KEPT_VIEWS];
#pragma unroll
    for (u32 i = 0; i < KEPT_VIEWS; i++) {
        views[i] = view_links(a, s, start + 32 * i, end, found);
    }
    __syncwarp();
#pragma unroll
    for (u32 i = 0; i < KEPT_VIEWS; i++) {
        find_firsts(views[i], last);
        up_groups += __popc(__ballot_sync(ALL_LANES, views[i].is_first && views[i].is_up));
        up_ports += __popc(__ballot_sync(ALL_LANES, views[i].is_up));
    }
    u32 later = start + 32 * KEPT_VIEWS, last_kept = last;
    for (u32 first = later; first < end; first += 32) {
        LinkView view = view_links(a, s, first, end, found);
        __syncwarp();
        find_firsts(view, last);
        up_groups += __popc(__ballot_sync(ALL_LANES, view.is_first && view.is_up));
        up_ports += __popc(__ballot_sync(ALL_LANES, view.is_up));
    }
    GroupPlaces places = {0, 0, up_groups, up_ports};
#pragma unroll
    for (u32 i = 0; i < KEPT_VIEWS; i++) {
        places.write(a, views[i], start, start + 32 * i);
    }
    for (u32 first = later; first < end; first += 32) {
        LinkView view = view_links(a, s, first, end, found);
        __syncwarp();
        find_firsts(view, last_kept);
        places.write(a, view, start, first);
    }
    u32 down_group = places.down_group, down_port = places.down_port;
    bool is_above = a.ranks[at_switch] != 0 && a.ranks[at_switch] != NO_RANK;
    if (a.assumes_ranks && is_above && down_group == up_groups) {
        found |= OTHER_RANKS;
    }
    if (found) {
        atomicOr(&a.flags[state(a)], found);
    }
    if (lane() == 0) {
        u32 down_groups = down_group - up_groups, down_ports = down_port - up_ports;
        a.counts[at_switch] = up_groups | down_groups << 8 | up_ports << 16 | down_ports << 24;
    }
    u32 rank = a.ranks[at_switch];
    if (rank != 0 && rank != NO_RANK) {
        return;
    }
    if (lane() == 0) {
        write_dividers(a, s, rank, 1);
    }
    for (u32 tile = lane(); tile < a.tiles; tile += 32) {
        plane(a, 0)[(u64)s * a.tiles + tile] = own_bit(a.target[s], tile);
    }
}
