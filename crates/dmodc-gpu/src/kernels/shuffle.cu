// Random permutations and bisections: the same numbers as `Random` of the engine draws.
//
//     block(c)  = ChaCha8 of key, counter c and nonce: 16 words
//     number(n) = the words 2n mod 16 and 2n mod 16 + 1 of block ⌊n / 8⌋, the lower one first
//     below(b)  = the higher half of number · b, unless the lower half is less than 2^64 mod b; then the next number is taken
//     shuffle   = for place N − 1, …, 1: swap it with place below(place + 1)      (Fisher and Yates)
//     bisection = the i-th of the first half of a shuffled list and the i-th of the second half are partners
//
// A block takes a permutation. Departures from the plain loop:
// 1. Numbers do not depend on each other, so all are drawn at once. A number is refused once in more than 2^48 draws; then, or if
//    there are few positions, one thread draws them in turn.
// 2. Swaps do depend on each other: one thread carries them out, in shared memory. Many blocks do so at once.

// A permutation of fewer positions is drawn by one thread.
#define FEW_POSITIONS 64

// What is drawn. `Draw` of judge/draws.rs writes the same layout.
struct Draw {
    u32 key[8];
    u32 stream_low, stream_high;    // of the first permutation; the next ones follow
    u32 nodes;
    u32 is_bisection;
    u32 first_low, first_high;      // where the first destination is stored
    u32 spare[2];
};

__device__ __forceinline__ void quarter_round(u32 &a, u32 &b, u32 &c, u32 &d) {
    a += b;
    d = __funnelshift_l(d ^ a, d ^ a, 16);
    c += d;
    b = __funnelshift_l(b ^ c, b ^ c, 12);
    a += b;
    d = __funnelshift_l(d ^ a, d ^ a, 8);
    c += d;
    b = __funnelshift_l(b ^ c, b ^ c, 7);
}

__device__ void chacha8(const u32 *key, u32 counter, u64 stream, u64 *numbers) {
    u32 start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0], key[1],  key[2],      key[3],
                     key[4],     key[5],     key[6],     key[7],     counter, 0,      (u32)stream, (u32)(stream >> 32)};
    u32 x[16];
#pragma unroll
    for (u32 i = 0; i < 16; i++) {
        x[i] = start[i];
    }
#pragma unroll
    for (u32 round = 0; round < 4; round++) {
        quarter_round(x[0], x[4], x[8], x[12]);
        quarter_round(x[1], x[5], x[9], x[13]);
        quarter_round(x[2], x[6], x[10], x[14]);
        quarter_round(x[3], x[7], x[11], x[15]);
        quarter_round(x[0], x[5], x[10], x[15]);
        quarter_round(x[1], x[6], x[11], x[12]);
        quarter_round(x[2], x[7], x[8], x[13]);
        quarter_round(x[3], x[4], x[9], x[14]);
    }
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        numbers[i] = x[2 * i] + start[2 * i] | (u64)(x[2 * i + 1] + start[2 * i + 1]) << 32;
    }
}

// Draws from a number. Returns whether it is taken.
__device__ __forceinline__ bool below(u64 number, u32 bound, u32 &drawn) {
    u64 low = number * bound;
    drawn = (u32)__umul64hi(number, bound);
    return low >= bound || low >= (0 - (u64)bound) % bound;
}

// Draws all places at once: departure 1. Returns whether this thread saw a number that is not taken.
__device__ bool draw_all(const Draw &draw, u64 stream, u16 *places) {
    bool is_refused = false;
    for (u32 block = threadIdx.x; block * 8 + 1 < draw.nodes; block += blockDim.x) {
        u64 numbers[8];
        chacha8(draw.key, block, stream, numbers);
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            u32 n = block * 8 + i, place;
            if (n + 1 < draw.nodes) {
                is_refused |= !below(numbers[i], draw.nodes - n, place);
                places[draw.nodes - 1 - n] = place;
            }
        }
    }
    return is_refused;
}

// Draws the places one after the other.
__device__ void draw_in_turn(const Draw &draw, u64 stream, u16 *places) {
    u64 numbers[8];
    u32 n = 0;
    for (u32 at = draw.nodes - 1; at > 0; at--) {
        u32 place;
        bool is_taken;
        do {
            if (n % 8 == 0) {
                chacha8(draw.key, n / 8, stream, numbers);
            }
            is_taken = below(numbers[n % 8], at + 1, place);
            n++;
        } while (!is_taken);
        places[at] = place;
    }
}

__device__ void write_bisection(const u16 *items, u32 nodes, u16 *to) {
    u32 half = nodes / 2;
    for (u32 i = threadIdx.x; i < half; i += blockDim.x) {
        to[items[i]] = items[half + i];
        to[items[half + i]] = items[i];
    }
    if (threadIdx.x == 0 && nodes % 2) {
        to[items[nodes - 1]] = items[nodes - 1];
    }
}

extern "C" __global__ void shuffle(const __grid_constant__ JudgeArguments j) {
    const Draw &draw = ((const Draw *)(j.pool + j.draw))[blockIdx.y];
    u32 nodes = draw.nodes;
    u64 stream = (draw.stream_low | (u64)draw.stream_high << 32) + blockIdx.x;
    u32 *is_refused = (u32 *)shared_memory;
    u16 *items = (u16 *)(is_refused + 1), *places = items + nodes;
    if (threadIdx.x == 0) {
        *is_refused = nodes < FEW_POSITIONS;
    }
    for (u32 i = threadIdx.x; i < nodes; i += blockDim.x) {
        items[i] = i;
    }
    __syncthreads();
    if (nodes >= FEW_POSITIONS && draw_all(draw, stream, places)) {
        atomicOr(is_refused, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0 && nodes > 0) {
        if (*is_refused) {
            draw_in_turn(draw, stream, places);
        }
        for (u32 at = nodes - 1; at > 0; at--) {
            u32 place = places[at];
            u16 other = items[place];
            items[place] = items[at];
            items[at] = other;
        }
    }
    __syncthreads();
    u16 *to = j.draws + (draw.first_low | (u64)draw.first_high << 32) + (u64)blockIdx.x * nodes;
    if (draw.is_bisection) {
        write_bisection(items, nodes, to);
        return;
    }
    for (u32 i = threadIdx.x; i < nodes; i += blockDim.x) {
        to[i] = items[i];
    }
}
