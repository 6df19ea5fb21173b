// The digest of tables, as `Digest` of the engine defines it: each row of each tile is hashed with its place, and the hashes are
// added. Chain c takes word c of every line of 64 bytes; the last line is filled up with zeros, or has zeros alone.
//
//     chain_c = c + 1 at first; each line makes it ((chain_c ^ word c of the line) · ODD), rotated left by 29 bits
//     row     = 0 at first; each of s, first column, width, chain_0, …, chain_7 makes it mixed(row ^ this number)
//     digest  = Σ { row : all rows of all tiles } modulo 2^64
//
// A launch adds the tiles of a window. Departures from the plain loop over rows:
// 1. A row is hashed by eight lanes, one for each chain, so a warp takes four rows of one tile. The chains do not depend on each
//    other, and eight lanes read a line in one access.
// 2. At the end, every lane gets all chains of its row by exchanges, and all eight compute the same hash; one adds it.
// 3. Sums do not depend on the order, so rows are added by atomic additions.
// 4. Rows are padded to 16 bytes. What stands beyond the width is not of the table, so it is cleared in the word that is read.

#define ODD 0x9e3779b97f4a7c15ull

__device__ __forceinline__ u64 mixed(u64 word) {
    word = (word ^ word >> 32) * ODD;
    word = (word ^ word >> 29) * ODD;
    return word ^ word >> 32;
}

// The eight bytes from `at` on, and 0 for those from `width` on.
__device__ __forceinline__ u64 word_of(const u8 *row, u32 at, u32 width) {
    if (at >= width) {
        return 0;
    }
    u64 word = *(const u64 *)(row + at);
    return width - at >= 8 ? word : word & ((1ull << 8 * (width - at)) - 1);
}

extern "C" __global__ void digest(Arguments a) {
    u32 tile = a.first_tile + blockIdx.y, chain = lane() & 7, s = warp_in_grid() * 4 + lane() / 8;
    u32 width = a.tile_width[tile];
    bool is_row = s < a.switches && width > 0;
    u64 hash = chain + 1;
    if (is_row) {
        u64 place = state(a) * a.table_bytes + a.tile_offset[tile] + (u64)s * a.tile_pitch[tile];
        const u8 *row = a.tables + place;
        for (u32 line = 0; line <= width / 64; line++) {
            hash = (hash ^ word_of(row, line * 64 + chain * 8, width)) * ODD;
            hash = hash << 29 | hash >> 35;
        }
    }
    __syncwarp();
    u64 all = mixed(mixed(mixed(s) ^ a.tile_column[tile]) ^ width);
    for (u32 other = 0; other < 8; other++) {
        all = mixed(all ^ __shfl_sync(ALL_LANES, hash, (lane() & 24) + other));
    }
    if (is_row && chain == 0) {
        atomicAdd(&a.digests[state(a)], all);
    }
}
