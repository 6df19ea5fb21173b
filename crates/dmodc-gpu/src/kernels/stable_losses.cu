// Losses: what every switch lost on the way to each target. Switches that choose look ahead to it.
//
//     harmed(s)  = { t : some group of R(s, t) is not in C(s, t), or has other ports now }
//     kept_i (s) = { t : R(s, t) is empty, or R(s, t)[(⌊f / Π⌋ + i) mod #R(s, t)] is in C(s, t) }    for the stretches i = 0 … 3
//
// No route passes through a leaf, so nothing is lost there by definition, and a switch that the reference does not know has
// nothing to lose. The host has written that once, and no launch writes it again.
//
// Layout: as planes, by stretch, switch and tile, 64 targets in a word.
//
// A block takes a switch and 32 tiles, as in routes.cu. A warp takes a tile. Departures from the plain loop over targets:
// 1. A lane takes a group and compares it for 64 targets at once, by "and" and "not" of words. What is harmed is the union over
//    lanes.
// 2. Slots are looked up for targets that lost a group alone. A lane takes a target then. Where every group was closer to every
//    target, the slot is a remainder; elsewhere words by group become sets by target first, as in sets.cu.

__device__ __forceinline__ u64 loss_place(const Arguments &a, u32 s, u32 tile) {
    return ((u64)state(a) * a.switches + s) * a.tiles + tile;
}

__device__ __forceinline__ u64 kept_place(const Arguments &a, u32 stretch, u32 s, u32 tile) {
    return (((u64)state(a) * STRETCHES + stretch) * a.switches + s) * a.tiles + tile;
}

// Whether the slot of each stretch is lost for a target: a bit for each stretch.
__device__ u32 lost_slots(const StableTile &at, u32 target) {
    const u32 *members = at.of_target(at.reference.members, target), *lost = at.of_target(at.reference.lost, target);
    const Side &side = at.reference_side(target);
    u32 words = at.reference.words, size = at.was_uniform() ? side.groups : size_of(members, words);
    u32 q = quotient(at.stable.first_number[at.tile * 64 + target], side.divider, side.inverse);
    u32 place = q - quotient(q, size, at.stable.now.inverse[size]) * size, bits = 0;
    for (u32 stretch = 0; stretch < STRETCHES; stretch++) {
        u32 group = place;
        if (!at.was_uniform()) {
            Walk walk = {members, words, 0, 0};
            walk.start(place);
            group = walk.group();
        }
        bits |= (lost[group / 32] << (group & 31) >> 31) << stretch;
        place = place + 1 == size ? 0 : place + 1;
    }
    return bits;
}

// Writes what a switch lost on the way to the targets of a tile.
__device__ void note_losses(const StableTile &at) {
    const Arguments &a = at.stable.now;
    u32 words = at.reference.words, groups = max(at.reference.counts.up_groups, at.reference.counts.down_groups);
    u64 displaced = 0, thinned = 0;
    for (u32 group = lane(); group < groups; group += 32) {
        LostTargets targets = at.lost_targets(group);
        displaced |= targets.lost;
        thinned |= targets.thinned;
    }
    __syncwarp();
    displaced = warp_union(displaced);
    thinned = warp_union(thinned);
    if (lane() == 0) {
        at.stable.harmed[loss_place(a, at.s, at.tile)] = displaced | thinned;
    }
    u32 low = 0, high = 0;
    if (displaced) {
        for (u32 word = 0; word < words; word++) {
            u32 group = word * 32 + lane();
            store_sets(at.of_warp(at.reference.lost), words, word, at.lost_targets(group).lost);
            if (!at.was_uniform()) {
                store_sets(at.of_warp(at.reference.members), words, word, at.reference_closer_to(group));
            }
        }
        __syncwarp();
        low = displaced >> lane() & 1 ? lost_slots(at, lane()) : 0;
        high = displaced >> (lane() + 32) & 1 ? lost_slots(at, lane() + 32) : 0;
        __syncwarp();
    }
    for (u32 stretch = 0; stretch < STRETCHES; stretch++) {
        u64 lost = __ballot_sync(ALL_LANES, low >> stretch & 1);
        lost |= (u64)__ballot_sync(ALL_LANES, high >> stretch & 1) << 32;
        if (lane() == 0) {
            at.stable.kept[kept_place(a, stretch, at.s, at.tile)] = ~lost;
        }
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 3) losses(StableArguments stable) {
    const Arguments &a = stable.now;
    u32 s = blockIdx.x, first_tile = first_tile_of_block(a), warp = threadIdx.x >> 5;
    if (a.flags[state(a)] || switch_is_dead(a, s) || stable.is_known[s] != WAS_ALIVE) {
        return;
    }
    Counts counts = counts_of(a, s);
    BlockView shared = block_view(a, max(counts.up_groups, counts.down_groups));
    ReferenceSwitch reference = load_both(stable, shared, s, counts, first_tile);
    u32 end = min(first_tile + TILES, a.end_tile);
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        note_losses({stable, shared, reference, counts, s, tile, tile - first_tile});
    }
}
