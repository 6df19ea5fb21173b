// All-to-all by counting subtrees, and the pairs that an update moves.
//
//     flows(s, d) = nodes(s) + Σ { flows(b, d) : next(b, d) = s }        the flows that leave s for d
//     load(port)  = Σ { flows(s, d) : the entry of s for d is this port }
//     moved(d)    = Σ { still(s, d) : the entries of s for d differ }
//     still(s, d) = nodes(s) + Σ { still(b, d) : next(b, d) = s, and the entries of b for d agree }
//
// The routes to one destination form a tree, so flows are added up from switch to switch. First the classes from the lowest on,
// as long as flows go up; then from the highest on, where they go down. A bundle, which is all flows from one switch to one
// destination, arrives as a whole or not at all; one that does not arrive loads nothing.
//
// Layout: a block takes some neighbouring columns of a tile, all switches, and one state. The flows that came to a switch wait in
// shared memory: [switches][columns], 16 bits each. The lanes of a warp take neighbouring columns, so they read neighbouring
// entries. Departures from the plain loop:
// 1. All switches of a class are taken at once, and add to what waits elsewhere by atomic additions. No link joins two of them.
// 2. A switch has one entry for a column, so flows that came up and flows that came down wait together. That is wrong if flows
//    come down to a switch that sends up, or get lost on the way, which tables of our engines never do. Such a column is *odd*:
//    it is counted again by following the route of each switch. In an odd column, too, a flow waits at a switch at most once, or
//    more than 16 bits might wait, and the column that shares the word would be wrong.
// 3. Loads are not counted here. Flows are written down by entry, and `link_loads` adds them up switch by switch.

// What the threads of a block share.
struct SweepView {
    u32 *active;    // a bit for each column that is counted
    u32 *odd;       // a bit for each column that must be followed
    u32 *lost;      // a bit for each column with a bundle that does not arrive
    u32 *sum;
    u32 *waiting;   // [switches][columns / 2] two columns in a word
};

__device__ SweepView sweep_view() {
    u32 *words = (u32 *)shared_memory;
    return {words, words + 1, words + 2, words + 3, words + 4};
}

// What a thread of a sweep is about: one column.
struct Sweep {
    const JudgeArguments &j;
    SweepView shared;
    const u32 *weight, *order, *starts;
    const u8 *tables;
    ColumnView column;
    u32 slot, at, columns;

    __device__ __forceinline__ u32 waiting(u32 s) const {
        u32 place = s * columns + at;
        return shared.waiting[place >> 1] >> 16 * (place & 1) & 0xffff;
    }

    __device__ __forceinline__ void put(u32 s, u32 flows) const {
        u32 place = s * columns + at;
        atomicAdd(&shared.waiting[place >> 1], flows << 16 * (place & 1));
    }

    __device__ __forceinline__ bool differs(u32 s) const {
        return column.entry(j.kept, s) != column.entry(tables, s);
    }

    // The other nodes on a switch.
    __device__ __forceinline__ u32 senders(u32 s) const { return weight[s] - (s == column.home && weight[s]); }

    // Sends flows up.
    template <bool MOVED> __device__ void go_up(u32 s) const {
        u32 flows = waiting(s) + weight[s];
        if (!flows || s == column.home || (MOVED && differs(s))) {
            return;
        }
        uint2 next = next_hop(j, s, column.entry(tables, s));
        if (next.x != NONE && next.y & 1) {
            put(next.x, flows);
        }
    }

    // Sends flows down. Returns those that are moved at this switch.
    template <bool MOVED> __device__ u32 go_down(u32 s) const {
        u32 flows = waiting(s) + weight[s];
        if (!flows) {
            return 0;
        }
        if (MOVED && differs(s)) {
            // A destination sends nothing to itself.
            return flows - (s == column.home);
        }
        u32 entry = column.entry(tables, s);
        if (s == column.home) {
            // It should deliver. Where it sends on instead, flows are moved later, if at all.
            if (MOVED ? next_hop(j, s, entry).x != NONE : entry != column.port) {
                atomicOr(shared.odd, 1u << at);
            }
            return 0;
        }
        uint2 next = next_hop(j, s, entry);
        if (next.x == NONE) {
            if (!MOVED) {
                atomicOr(waiting(s) ? shared.odd : shared.lost, 1u << at);
            }
            return 0;
        }
        if (next.y & 1) {
            return 0;
        }
        if (next.x != column.home && !(MOVED && differs(next.x))) {
            uint2 further = next_hop(j, next.x, column.entry(tables, next.x));
            if (further.x != NONE && further.y & 1) {
                // These flows do not wait there, because they may have done so before, on their way up.
                atomicOr(shared.odd, 1u << at);
                return 0;
            }
        }
        put(next.x, flows);
        return 0;
    }

    // Notes that no flow of a switch arrives.
    __device__ void lose(u32 lost_slot, u32 s, u32 flows) const {
        u64 *counters = counters_of(j);
        atomicAdd(&counters[UNDELIVERED], (u64)flows);
        u64 place = atomicAdd(&counters[LOST], 1ull);
        if (place < j.lost_limit) {
            j.lost[(u64)state(j.a) * j.lost_limit + place] = make_uint2(lost_slot, s);
        }
    }
};

// Describes the column of a thread, and notes which columns of the block are counted.
__device__ Sweep start_sweep(const JudgeArguments &j, bool only_touched) {
    const JudgedState &judged = judged_of(j);
    SweepView shared = sweep_view();
    uint2 group = j.column_group[blockIdx.x];
    u32 at = threadIdx.x & (j.group_columns - 1), slot = group.y + at;
    if (threadIdx.x < 4) {
        shared.active[threadIdx.x] = 0;
    }
    __syncthreads();
    bool is_counted = slot < j.a.tile_slot[group.x] + j.a.tile_width[group.x] && bit_of(j.pool + judged.counted, slot) &&
                      (!only_touched || bit_of(j.touched + (u64)state(j.a) * j.slot_words, slot));
    if (threadIdx.x < j.group_columns && is_counted) {
        atomicOr(shared.active, 1u << at);
    }
    __syncthreads();
    return {j, shared, j.pool + judged.weight, j.pool + judged.order, j.pool + judged.class_start, tables_of(j),
            column_of(j, is_counted ? slot : group.y), slot, at, j.group_columns};
}

// Adds up all columns of a block. Returns the flows that this thread saw moved.
template <bool MOVED> __device__ u32 add_up(const Sweep &sweep) {
    const JudgedState &judged = judged_of(sweep.j);
    u32 words = sweep.j.a.switches * sweep.columns / 2, moved = 0;
    u32 row = threadIdx.x / sweep.columns, rows = blockDim.x / sweep.columns;
    bool is_active = *sweep.shared.active >> sweep.at & 1;
    for (u32 word = threadIdx.x; word < words; word += blockDim.x) {
        sweep.shared.waiting[word] = 0;
    }
    __syncthreads();
    for (u32 step = 0; step < judged.class_count; step++) {
        for (u32 i = sweep.starts[step] + row; is_active && i < sweep.starts[step + 1]; i += rows) {
            sweep.go_up<MOVED>(sweep.order[i]);
        }
        __syncthreads();
    }
    for (u32 step = judged.class_count; step-- > 0;) {
        for (u32 i = sweep.starts[step] + row; is_active && i < sweep.starts[step + 1]; i += rows) {
            moved += sweep.go_down<MOVED>(sweep.order[i]);
        }
        __syncthreads();
    }
    return moved;
}

// Counts an odd column by following the route of every switch. All threads of the block take part.
__device__ void follow_column(const Sweep &sweep, u32 at, u32 slot) {
    const JudgeArguments &j = sweep.j;
    u32 live = sweep.starts[judged_of(j).class_count];
    Sweep own = {j,           sweep.shared, sweep.weight, sweep.order,  sweep.starts, sweep.tables, column_of(j, slot),
                 slot,        at,      sweep.columns};
    for (u32 s = threadIdx.x; s < j.a.switches; s += blockDim.x) {
        u32 place = s * own.columns + at;
        // The other column of the word belongs to another thread, if to any.
        atomicAdd(&own.shared.waiting[place >> 1], 0u - (own.waiting(s) << 16 * (place & 1)));
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < live; i += blockDim.x) {
        u32 s = own.order[i], flows = own.senders(s);
        if (!flows) {
            continue;
        }
        if (!arrives(j, own.tables, own.column, s)) {
            own.lose(slot, s, flows);
            continue;
        }
        while (s != own.column.home) {
            own.put(s, flows);
            s = next_hop(j, s, own.column.entry(own.tables, s)).x;
        }
    }
    __syncthreads();
}

// Writes the flows of the columns of a block down, and the bundles that do not arrive.
__device__ void write_flows(const Sweep &sweep) {
    const JudgeArguments &j = sweep.j;
    u32 row = threadIdx.x / sweep.columns, rows = blockDim.x / sweep.columns;
    u32 live = sweep.starts[judged_of(j).class_count];
    bool is_odd = *sweep.shared.odd >> sweep.at & 1, has_lost = *sweep.shared.lost >> sweep.at & 1;
    u16 *flows = j.flows + state(j.a) * j.a.table_bytes + sweep.column.start;
    for (u32 i = row; *sweep.shared.active >> sweep.at & 1 && i < live; i += rows) {
        u32 s = sweep.order[i], own = is_odd ? 0 : sweep.weight[s];
        flows[(u64)s * sweep.column.pitch] = sweep.waiting(s) + own;
        // Flows of a switch without a route have no port, and so load nothing.
        if (has_lost && own && s != sweep.column.home &&
            next_hop(j, s, sweep.column.entry(sweep.tables, s)).x == NONE) {
            sweep.lose(sweep.slot, s, own);
        }
    }
}

extern "C" __global__ void __launch_bounds__(512) subtrees(const __grid_constant__ JudgeArguments j) {
    Sweep sweep = start_sweep(j, false);
    if (!*sweep.shared.active) {
        return;
    }
    add_up<false>(sweep);
    u32 odd = *sweep.shared.odd & *sweep.shared.active;
    for (u32 bits = odd; bits; bits &= bits - 1) {
        u32 at = __popc((bits & (0u - bits)) - 1);
        follow_column(sweep, at, sweep.slot - sweep.at + at);
    }
    if (threadIdx.x == 0) {
        *sweep.shared.lost &= ~odd;
    }
    __syncthreads();
    write_flows(sweep);
}

// The flows of a switch that are moved on their way.
__device__ bool is_moved(const Sweep &sweep, u32 s) {
    for (u32 hop = 0; hop <= sweep.j.a.switches && s != NONE; hop++) {
        if (sweep.differs(s)) {
            return true;
        }
        s = next_hop(sweep.j, s, sweep.column.entry(sweep.tables, s)).x;
    }
    return false;
}

extern "C" __global__ void __launch_bounds__(512) moved(const __grid_constant__ JudgeArguments j) {
    Sweep sweep = start_sweep(j, true);
    if (!*sweep.shared.active) {
        return;
    }
    u32 found = add_up<true>(sweep), row = threadIdx.x / sweep.columns, rows = blockDim.x / sweep.columns;
    if (*sweep.shared.odd >> sweep.at & 1) {
        u32 live = sweep.starts[judged_of(j).class_count];
        found = 0;
        for (u32 i = row; i < live; i += rows) {
            u32 s = sweep.order[i], flows = sweep.senders(s);
            found += flows && is_moved(sweep, s) ? flows : 0;
        }
    }
    if (found) {
        atomicAdd(sweep.shared.sum, found);
    }
    __syncthreads();
    if (threadIdx.x == 0 && *sweep.shared.sum) {
        atomicAdd(&counters_of(j)[MOVED_PAIRS], (u64)*sweep.shared.sum);
    }
}

// The loads of one thread, entry after entry. Neighbouring entries are often equal, so they are added up before they are added to
// what the threads share.
struct EntryLoads {
    u32 *loads;
    u32 last, sum;

    __device__ __forceinline__ void add(u32 entry, u32 flows) {
        if (entry != last) {
            flush();
            last = entry;
        }
        sum += flows;
    }

    __device__ __forceinline__ void flush() {
        if (sum) {
            atomicAdd(&loads[last], sum);
        }
        sum = 0;
    }
};

// Adds flows up by port. A block takes a switch, a thread sixteen entries at a time.
extern "C" __global__ void link_loads(const __grid_constant__ JudgeArguments j) {
    const Arguments &a = j.a;
    const JudgedState &judged = judged_of(j);
    u32 s = blockIdx.x;
    u32 *loads = (u32 *)shared_memory;
    for (u32 entry = threadIdx.x; entry < 256; entry += blockDim.x) {
        loads[entry] = 0;
    }
    __syncthreads();
    const u32 *counted = j.pool + judged.counted;
    EntryLoads sums = {loads, NO_ROUTE, 0};
    for (u32 tile = 0; tile < a.tiles && (j.pool + judged.classes)[s] != NONE; tile++) {
        u64 row = state(a) * a.table_bytes + a.tile_offset[tile] + (u64)s * a.tile_pitch[tile];
        for (u32 chunk = threadIdx.x; chunk < a.tile_pitch[tile] / 16; chunk += blockDim.x) {
            u32 slot = a.tile_slot[tile] + chunk * 16, bits = counted[slot >> 5] >> (slot & 31) & 0xffff;
            uint4 entries = *(const uint4 *)(a.tables + row + chunk * 16);
            const uint4 *flows = (const uint4 *)(j.flows + row + chunk * 16);
            uint4 low = flows[0], high = flows[1];
            u32 by_four[4] = {entries.x, entries.y, entries.z, entries.w};
            u32 by_two[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (u32 i = 0; i < 16; i++) {
                if (bits >> i & 1) {
                    sums.add(by_four[i / 4] >> 8 * (i & 3) & 255, by_two[i / 2] >> 16 * (i & 1) & 0xffff);
                }
            }
        }
    }
    sums.flush();
    __syncthreads();
    for (u32 at = a.link_start[s] + threadIdx.x; at < a.link_start[s + 1]; at += blockDim.x) {
        j.link_loads[(u64)state(a) * a.links + at] = loads[a.link_port[at]];
    }
}
