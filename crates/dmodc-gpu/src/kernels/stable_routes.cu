// Rows by the engine `stable`. The file stable.cu has the equations.
//
// A block of eight warps takes a switch and 32 tiles, as in routes.cu. A warp then takes a tile. Departures from the plain loop
// over columns:
// 1. The row of the reference is copied, 16 entries at a time. Nearly all entries are right then.
// 2. A lane takes a group and finds for 64 targets at once whether it is lost, by words. If no group is, the row is done.
//    Otherwise words by group become sets by target, as in sets.cu: D, C and B; and R, unless every group was closer to every
//    target.
// 3. A lane takes a piece, which is a run of columns of one target. It visits lost slots alone: slot p of #R is that of the
//    quotients p − k, p − k + #R, …, and each has Π entries.
// 4. If less than half of C lost nothing, B depends on the stretch. Then pieces are visited once for each stretch that they have
//    lost slots in, and the sets B are found in between. Most often there is one stretch.

// The chunks that a lane loads before it stores the first of them.
#define LOADED 4

// Copies the row of the reference, without nodes that are cut off.
__device__ void copy_reference(const StableArguments &stable, u8 *row, const u16 *dead, u32 s, u32 tile) {
    const Arguments &a = stable.now;
    u32 chunks = a.tile_pitch[tile] / 16;
    const uint4 *from = (const uint4 *)(stable.tables + a.tile_offset[tile]) + (u64)s * chunks;
    for (u32 first = lane(); first < chunks; first += 32 * LOADED) {
        uint4 entries[LOADED];
#pragma unroll
        for (u32 i = 0; i < LOADED; i++) {
            entries[i] = from[min(first + 32 * i, chunks - 1)];
        }
#pragma unroll
        for (u32 i = 0; i < LOADED; i++) {
            u32 chunk = first + 32 * i;
            if (chunk >= chunks) {
                break;
            }
            if (a.has_dead_nodes && dead[chunk]) {
                entries[i] = without_dead(entries[i], dead[chunk]);
            }
            __stcs((uint4 *)row + chunk, entries[i]);
        }
    }
    __syncwarp();
}

// The targets that the i-th groups are closer to, as far as the words of their peers have them.
__device__ u64 through_peers(const StableTile &at, u32 group, const u64 *words) {
    u32 tiles = at.stable.now.tiles;
    u64 closer = at.closer_to(group);
    u64 up = closer & at.shared.up[at.local_tile], down = closer & at.shared.down[at.local_tile];
    if (up) {
        up &= words[(u64)at.shared.peers[group] * tiles + at.tile];
    }
    if (down) {
        down &= words[(u64)at.shared.peers[at.counts.up_groups + group] * tiles + at.tile];
    }
    return up | down;
}

// Stores by target the groups of C whose switches lost nothing. Returns the targets for which these are less than half of C.
__device__ u64 find_unharmed(const StableTile &at) {
    u32 words = at.reference.words, low_size = 0, high_size = 0;
    u32 *sets = at.of_warp(at.reference.spread);
    const u64 *harmed = at.stable.harmed + loss_place(at.stable.now, 0, 0);
    for (u32 word = 0; word < words; word++) {
        u32 group = word * 32 + lane();
        store_sets(sets, words, word, at.closer_to(group) & ~through_peers(at, group, harmed));
        low_size += __popc(sets[lane() * words + word]);
        high_size += __popc(sets[(lane() + 32) * words + word]);
    }
    const u8 *sizes = at.shared.sizes + (threadIdx.x >> 5) * 64;
    u64 few = __ballot_sync(ALL_LANES, 2 * low_size < sizes[lane()]);
    return few | (u64)__ballot_sync(ALL_LANES, 2 * high_size < sizes[lane() + 32]) << 32;
}

// Stores B of a stretch for some targets: the groups of C whose switches kept the slot, or C if there are none.
__device__ void find_kept(const StableTile &at, u32 stretch, u64 targets) {
    u32 words = at.reference.words, is_kept = 0;
    u32 *sets = at.of_warp(at.reference.spread);
    const u64 *kept = at.stable.kept + kept_place(at.stable.now, stretch, 0, 0);
    for (u32 word = 0; word < words; word++) {
        u64 through = through_peers(at, word * 32 + lane(), kept);
        TwoSets found = sets_of(through);
        is_kept |= (found.low ? 1 : 0) | (found.high ? 2 : 0);
        if (targets >> lane() & 1) {
            sets[lane() * words + word] = found.low;
        }
        if (targets >> (lane() + 32) & 1) {
            sets[(lane() + 32) * words + word] = found.high;
        }
    }
    for (u32 half = 0; half < 2; half++) {
        u32 target = half * 32 + lane();
        const u32 *closer = at.shared.sets + ((threadIdx.x >> 5) * 64 + target) * at.shared.words;
        bool is_none = targets >> target & 1 && !(is_kept >> half & 1);
        for (u32 word = 0; is_none && word < at.shared.words; word++) {
            sets[target * words + word] = closer[word];
        }
    }
    __syncwarp();
}

// Stores D and R by target. Returns the targets that are reached and lost a group.
__device__ u64 find_lost(const StableTile &at) {
    u32 words = at.reference.words, low = 0, high = 0;
    u32 *lost = at.of_warp(at.reference.lost);
    u64 reached = at.shared.up[at.local_tile] | at.shared.down[at.local_tile];
    for (u32 word = 0; word < words; word++) {
        u32 group = word * 32 + lane();
        store_sets(lost, words, word, at.lost_targets(group).lost & reached);
        if (!at.was_uniform()) {
            store_sets(at.of_warp(at.reference.members), words, word, at.reference_closer_to(group));
        }
        low |= lost[lane() * words + word];
        high |= lost[(lane() + 32) * words + word];
    }
    u64 displaced = __ballot_sync(ALL_LANES, low);
    return displaced | (u64)__ballot_sync(ALL_LANES, high) << 32;
}

// Finds the targets of a row whose entries are not those of the reference, and stores their sets. Returns whether there are any.
__device__ bool find_targets(const StableTile &at, RowTargets &targets) {
    const BlockView &shared = at.shared;
    u64 reached = shared.up[at.local_tile] | shared.down[at.local_tile];
    u64 known = at.reference.up[at.local_tile] | at.reference.down[at.local_tile], lost = 0, thinned = 0;
    u64 is_new = at.stable.is_known[at.s] & WAS_ALIVE ? 0 : shared.own[at.local_tile];
    targets = {known & ~reached, (reached & ~known) | is_new, 0, 0, 0};
    for (u32 group = lane(); group < max(at.reference.counts.up_groups, at.reference.counts.down_groups); group += 32) {
        LostTargets found = at.lost_targets(group);
        lost |= found.lost & reached;
        thinned |= found.thinned;
    }
    __syncwarp();
    bool has_lost = __any_sync(ALL_LANES, lost != 0), has_thinned = __any_sync(ALL_LANES, thinned != 0);
    targets.thinned = has_thinned ? reached & known : 0;
    if (has_lost || has_thinned) {
        targets.displaced = find_lost(at);
    }
    if (has_lost || targets.unknown) {
        u32 groups = max(at.counts.up_groups, at.counts.down_groups);
        find_sets(shared, at.local_tile, groups, *shared.uniform >> at.local_tile & 1);
    }
    if (has_lost) {
        targets.divided = find_unharmed(at) & targets.displaced;
    }
    if (targets.divided) {
        find_kept(at, 0, targets.divided);
    }
    __syncwarp();
    return has_lost || has_thinned || targets.unreached || targets.unknown;
}

// Writes the row of a tile.
__device__ void write_stable_row(const StableTile &at) {
    const StableArguments &stable = at.stable;
    const Arguments &a = stable.now;
    u32 warp = threadIdx.x >> 5, tile = at.tile;
    u8 *row = a.tables + state(a) * a.table_bytes + a.tile_offset[tile] + (u64)at.s * a.tile_pitch[tile];
    const u16 *dead = a.dead_slots + (u64)state(a) * (a.slots / 16) + a.tile_slot[tile] / 16;
    copy_reference(stable, row, dead, at.s, tile);
    RowTargets targets;
    if (!find_targets(at, targets)) {
        return;
    }
    const u32 *sets = at.shared.sets + warp * 64 * at.shared.words;
    const u8 *sizes = at.shared.sizes + warp * 64;
    Row plain = {a, at.shared, sets, sizes, nullptr, nullptr, at.local_tile, false, 0};
    StableRow maker = {at, plain, targets, row, dead, stable.sigma[at.s]};
    bool has_more = true;
    for (u32 stretch = 0; has_more; stretch++) {
        if (stretch) {
            find_kept(at, stretch, targets.divided);
        }
        bool has_later = false;
        for (u32 piece = stable.tile_piece[tile] + lane(); piece < stable.tile_piece[tile + 1]; piece += 32) {
            has_later |= maker.write(stable.piece[piece], stretch);
        }
        __syncwarp();
        has_more = __any_sync(ALL_LANES, has_later);
    }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, 3) stable_routes(StableArguments stable) {
    const Arguments &a = stable.now;
    if (a.flags[state(a)]) {
        return;
    }
    u32 s = blockIdx.x, first_tile = first_tile_of_block(a), warp = threadIdx.x >> 5;
    u32 end = min(first_tile + TILES, a.end_tile);
    if (write_if_dead(a, s, first_tile, end, warp)) {
        return;
    }
    Counts counts = counts_of(a, s);
    BlockView shared = block_view(a, max(counts.up_groups, counts.down_groups));
    ReferenceSwitch reference = load_both(stable, shared, s, counts, first_tile);
    for (u32 tile = first_tile + warp; tile < end; tile += WARPS) {
        write_stable_row({stable, shared, reference, counts, s, tile, tile - first_tile});
    }
}
