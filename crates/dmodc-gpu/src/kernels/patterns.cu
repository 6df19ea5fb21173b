// Series of permutations: the greatest load of each, and a lower bound.
//
//     load(port) = the number of positions i whose route to position to(i) takes the port
//     to(i)      = what is drawn for i, or i + k modulo N in the shift by k
//     max        = max { load(port) }
//     bound      = max { ⌈flows that leave X / cables of X⌉, ⌈flows that enter X / cables of X⌉ : X is a cut with cables }
//
// Only flows that arrive count. A block takes one permutation after the other, a thread one flow after the other.
//
// Layout: two loads in a word, since no load is greater than the number of positions, which is below 2^16; then a word for each
// cut. They are in shared memory if they fit. Departures from the plain loop:
// 1. If all bundles of all-to-all arrive, every flow does, and a route is over where it comes to the destination switch.
//    Otherwise each route is followed twice, first to see whether it arrives.
// 2. Every position sends once and receives once. So the flows that leave or enter a cut are its positions, less those that stay
//    inside and those that are lost. Few flows stay inside a small cut, so that is less to count.

// A switch that is in no cut of a level.
#define NO_CUT 0xffffu

struct FlowCounts {
    const JudgeArguments &j;
    const JudgedState &judged;
    u32 *ports, *cuts;

    // Counts a flow in the cuts of one level that it does not cross: it stays inside, or it is lost. `left` has the sender, `entered`
    // the receiver.
    __device__ __forceinline__ void count_cut(u32 left, u32 entered, bool is_lost) const {
        if (left == entered && left != NO_CUT) {
            atomicAdd(&cuts[left], 0x10001u);
        } else if (is_lost) {
            if (left != NO_CUT) {
                atomicAdd(&cuts[left], 1u);
            }
            if (entered != NO_CUT && left != entered) {
                atomicAdd(&cuts[entered], 0x10000u);
            }
        }
    }

    // Counts a flow in the cuts of all levels, four at a time.
    __device__ void count_cuts(u32 from, u32 to, bool is_lost) const {
        u32 quads = judged.level_pairs / 2;
        const uint2 *of = (const uint2 *)(j.pool + judged.cut_of);
        for (u32 quad = 0; quad < quads; quad++) {
            uint2 left = of[from * quads + quad], entered = of[to * quads + quad];
            count_cut(left.x & 0xffff, entered.x & 0xffff, is_lost);
            count_cut(left.x >> 16, entered.x >> 16, is_lost);
            count_cut(left.y & 0xffff, entered.y & 0xffff, is_lost);
            count_cut(left.y >> 16, entered.y >> 16, is_lost);
        }
    }

    // Counts a flow. Returns whether it is lost.
    __device__ bool count(const u8 *tables, u32 from, ColumnView column, bool all_arrive) const {
        bool is_lost = !all_arrive && !arrives(j, tables, column, from);
        count_cuts(from, column.home, is_lost);
        for (u32 s = from; !is_lost && s != column.home;) {
            uint2 next = next_hop(j, s, column.entry(tables, s));
            u32 link = next.y >> 1;
            atomicAdd(&ports[link >> 1], 1u << 16 * (link & 1));
            s = next.x;
        }
        return is_lost;
    }

    // The greatest load that this thread finds.
    __device__ u32 greatest() const {
        u32 most = 0;
        for (u32 word = threadIdx.x; word < (j.a.links + 1) / 2; word += blockDim.x) {
            most = max(most, max(ports[word] & 0xffff, ports[word] >> 16));
        }
        return most;
    }

    // The greatest bound that this thread finds.
    __device__ u32 bound() const {
        const u32 *of = j.pool + judged.cuts;
        u32 most = 0;
        for (u32 cut = threadIdx.x; cut < judged.cut_count; cut += blockDim.x) {
            u32 nodes = of[2 * cut], cables = of[2 * cut + 1];
            u32 crossing = nodes - min(cuts[cut] & 0xffff, cuts[cut] >> 16);
            most = max(most, cables ? (crossing + cables - 1) / cables : 0);
        }
        return most;
    }
};

// The destinations of the k-th permutation of a state.
struct Destinations {
    const u16 *to;  // null for shifts
    u32 nodes, k;

    __device__ __forceinline__ u32 of(u32 i) const {
        u32 shifted = i + k + 1;
        return to ? to[i] : shifted < nodes ? shifted : shifted - nodes;
    }
};

__device__ Destinations destinations_of(const JudgeArguments &j, u32 nodes, u32 k) {
    if (j.is_shift) {
        return {nullptr, nodes, k};
    }
    const Draw &draw = ((const Draw *)(j.pool + j.draw))[j.pool[j.draw_of + state(j.a)]];
    return {j.draws + (draw.first_low | (u64)draw.first_high << 32) + (u64)k * nodes, nodes, k};
}

extern "C" __global__ void __launch_bounds__(1024) pattern_loads(const __grid_constant__ JudgeArguments j) {
    const JudgedState &judged = judged_of(j);
    u32 nodes = judged.nodes, count = j.is_shift ? max(nodes, 1u) - 1 : j.count;
    u32 *results = (u32 *)shared_memory, port_words = (j.a.links + 1) / 2;
    u64 block = (u64)state(j.a) * gridDim.x + blockIdx.x;
    u32 *ports = j.scratch_words ? j.scratch + block * j.scratch_words : results + 4;
    FlowCounts counts = {j, judged, ports, ports + port_words};
    const uint4 *places = (const uint4 *)(j.pool + judged.places);
    bool all_arrive = counters_of(j)[UNDELIVERED] == 0;
    for (u32 k = blockIdx.x; k < count; k += gridDim.x) {
        for (u32 word = threadIdx.x; word < port_words + judged.cut_count; word += blockDim.x) {
            ports[word] = 0;
        }
        if (threadIdx.x < 4) {
            results[threadIdx.x] = 0;
        }
        __syncthreads();
        Destinations to = destinations_of(j, nodes, k);
        for (u32 i = threadIdx.x; i < nodes; i += blockDim.x) {
            u32 other = to.of(i);
            if (counts.count(tables_of(j), places[i].x, column_at(places[other]), all_arrive) && i != other) {
                atomicAdd(&results[2], 1u);
            }
        }
        __syncthreads();
        u32 most = counts.greatest(), bound = counts.bound();
        __syncwarp();
        most = warp_maximum(most);
        bound = warp_maximum(bound);
        if (lane() == 0) {
            atomicMax(&results[0], most);
            atomicMax(&results[1], bound);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            j.results[(u64)state(j.a) * j.result_count + j.first_result + k] = make_uint2(results[0], results[1]);
            if (results[2]) {
                atomicAdd(&counters_of(j)[PATTERN_LOST + j.pattern], (u64)results[2]);
            }
        }
        __syncthreads();
    }
}
