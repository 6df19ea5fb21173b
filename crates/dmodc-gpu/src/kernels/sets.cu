// Closer sets by target, for the kernel of routes.cu: from a word for each group, with a bit for each target, to a word for each
// target, with a bit for each group.
//
// Example: a switch has four groups up, all of them closer to target 5, and groups 0 and 3 to target 7. The words by group are
// 0xa0, 0x20, 0x20 and 0xa0. The set of target 5 is 0xf0000000, that of target 7 is 0x90000000, and the others are 0.
//
// The file routes.cu has the head for all of this, with the numbers of the departures.

// Bit t of lane g becomes bit g of lane t. In each step, a lane keeps half of its bits, and takes the others from the lane whose
// number differs in one bit: the lower half of a word goes up, or the upper half down. The first two steps are about whole bytes.
//
// Example with 4 lanes, which take the steps 2 and 1. A letter is a lane at the start, a number a bit; bit 0 is on the left.
//
//              start          step 2         step 1
//     lane 0   a0 a1 a2 a3    a0 a1 c0 c1    a0 b0 c0 d0
//     lane 1   b0 b1 b2 b3    b0 b1 d0 d1    a1 b1 c1 d1
//     lane 2   c0 c1 c2 c3    a2 a3 c2 c3    a2 b2 c2 d2
//     lane 3   d0 d1 d2 d3    b2 b3 d2 d3    a3 b3 c3 d3
__device__ u32 transposed(u32 bits) {
    bits = __byte_perm(bits, __shfl_xor_sync(ALL_LANES, bits, 16), lane() & 16 ? 0x3276 : 0x5410);
    bits = __byte_perm(bits, __shfl_xor_sync(ALL_LANES, bits, 8), lane() & 8 ? 0x3715 : 0x6240);
    u32 low = 0x0f0f0f0f;
#pragma unroll
    for (u32 step = 4; step; step >>= 1, low ^= low << step) {
        u32 other = __shfl_xor_sync(ALL_LANES, bits, step), own_step = lane() & step;
        // Shifts and rotations by numbers of the lane take fewer instructions than choices between two words.
        u32 kept = low << own_step, turned = __funnelshift_r(other, other, 2 * own_step - step);
        bits = (bits & kept) | (turned & ~kept);
    }
    return bits;
}

// One word of the closer sets of two targets for each lane: bits for 32 groups, the first one in the highest bit.
struct TwoSets {
    u32 low, high;  // of target number `lane()`, and of the one 32 further on
};

// The most groups of a word that are taken one by one; transposing takes longer from there on.
#define FEW_GROUPS 6

// From words by group, one in each lane, to sets by target: departure 2.
__device__ TwoSets sets_of(u64 targets) {
    u32 groups = __ballot_sync(ALL_LANES, targets != 0);
    TwoSets sets = {0, 0};
    if (__popc(groups) > FEW_GROUPS) {
        sets.low = __brev(transposed((u32)targets));
        sets.high = __brev(transposed((u32)(targets >> 32)));
        return sets;
    }
    for (; groups; groups &= groups - 1) {
        u32 group = 31 - __clz(groups & -groups);
        u32 low = __shfl_sync(ALL_LANES, (u32)targets, group), high = __shfl_sync(ALL_LANES, (u32)(targets >> 32), group);
        sets.low |= (low >> lane() & 1) << (31 - group);
        sets.high |= (high >> lane() & 1) << (31 - group);
    }
    return sets;
}

// Writes the closer sets of a tile, by target, and their sizes: departures 2 and 3.
__device__ void find_sets(BlockView shared, u32 local_tile, u32 groups, bool is_uniform) {
    u32 warp = threadIdx.x >> 5;
    u32 *sets = shared.sets + warp * 64 * shared.words;
    u32 low_size = 0, high_size = 0;
    for (u32 word = 0; word * 32 < groups; word++) {
        u32 group = word * 32 + lane();
        TwoSets found;
        if (is_uniform) {
            u32 all = groups - word * 32 < 32 ? ~(~0u >> (groups - word * 32)) : ~0u;
            found.low = shared.up[local_tile] >> lane() & 1 ? all : 0;
            found.high = shared.up[local_tile] >> (lane() + 32) & 1 ? all : 0;
        } else {
            found = sets_of(group < groups ? shared.masks[group * MASK_PITCH + local_tile] : 0);
        }
        sets[lane() * shared.words + word] = found.low;
        sets[(lane() + 32) * shared.words + word] = found.high;
        low_size += __popc(found.low);
        high_size += __popc(found.high);
    }
    shared.sizes[warp * 64 + lane()] = low_size;
    shared.sizes[warp * 64 + 32 + lane()] = high_size;
    __syncwarp();
}

// Writes the sizes of the closer sets of a tile where they have all groups or none.
__device__ void find_uniform_sizes(BlockView shared, u32 local_tile, u32 groups) {
    u8 *sizes = shared.sizes + (threadIdx.x >> 5) * 64 + lane();
    sizes[0] = shared.up[local_tile] >> lane() & 1 ? groups : 0;
    sizes[32] = shared.up[local_tile] >> (lane() + 32) & 1 ? groups : 0;
    __syncwarp();
}
