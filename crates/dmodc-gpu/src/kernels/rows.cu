// Rows, eqs. (3) and (4), for the kernel of routes.cu: from closer sets to the entries of a switch for one tile.
//
//     group = C[(⌊d / Π⌋ + k) mod #C],   port = group[(⌊d / (Π · #C)⌋ + ⌊k / #C⌋) mod #group]
//
// The file routes.cu has the head for all of this, with the numbers of the departures.

// The kinds of records that are not a single port. Bits 8 to 15 say which kind a record is.
#define BY_WALK 256     // ports change within the run
#define BY_ENTRY 512    // the same, and groups have different numbers of ports
#define BY_SLOT 1024    // this switch is the destination switch: each slot has its own port
#define BY_TURN 2048    // ports change with every number, and a list has them; the target is in the lowest bits
#define BY_STEP 4096    // ports change at multiples of a divider that is not small
#define BY_TWO 8192     // ports change once: see below

// The bits of a record of `BY_TWO`. Example: Π = 12, and a run has the 20 numbers from 100 on. Since 108 is a multiple of 12, the
// first 8 entries have one port, say 3, and the other 12 have the next one, say 5. The record is 0x0c052003.
//
//     31 ………………………………… 24   23 …………… 16   15 ………… 8   7 …………… 0
//     12 entries at the end   second port   the kind   first port

// The kinds that `write_rest` computes.
#define BY_OTHERS (BY_WALK | BY_ENTRY | BY_SLOT | BY_STEP)
// The kinds whose ports change where ⌊d / Π⌋ does.
#define BY_QUOTIENT (BY_WALK | BY_TURN | BY_STEP | BY_TWO)
// The smallest divider of `BY_STEP`.
#define LEAST_STEP 4
// The fewest ports of a list of `BY_TURN`: its first word is written before it is read.
#define LEAST_LIST 4
// The target of the empty slots at the end of a row.
#define NO_TARGET 64

// The place of the i-th one among the bits of a word that has more than i, counted from the highest bit.
__device__ u32 place_of(u32 bits, u32 i) {
    u32 place = 0;
#pragma unroll
    for (u32 half = 16; half; half >>= 1) {
        u32 count = __popc(bits << place >> (32 - half));
        if (i >= count) {
            i -= count;
            place += half;
        }
    }
    return place;
}

// A walk through the groups of a closer set, again and again.
struct Walk {
    const u32 *set;
    u32 words, word;
    u32 left;   // the groups of this word that are not passed yet

    // Starts at the i-th group.
    __device__ void start(u32 i) {
        word = 0;
        left = set[0];
        u32 count = __popc(left);
        while (i >= count) {
            i -= count;
            left = set[++word];
            count = __popc(left);
        }
        left &= ~0u >> place_of(left, i);
    }

    __device__ __forceinline__ u32 group() const { return word * 32 + __clz(left); }

    // Goes to the next group. Returns whether it is the first one again.
    __device__ bool next() {
        left &= 0x7fffffffu >> __clz(left);
        bool is_round = false;
        while (!left) {
            if (++word == words) {
                word = 0;
                is_round = true;
            }
            left = set[word];
        }
        return is_round;
    }
};

// Sixteen entries with the same port.
__device__ __forceinline__ uint4 repeated(u32 port) {
    u32 word = port * 0x01010101u;
    return make_uint4(word, word, word, word);
}

// The entries of `first` before a place from 0 to 15, and those of `second` from there on.
__device__ uint4 joined(uint4 first, uint4 second, u32 from) {
    u64 low = from < 8 ? ~0ull << 8 * from : 0, high = from <= 8 ? ~0ull : ~0ull << 8 * (from - 8);
    u32 x = (u32)low, y = (u32)(low >> 32), z = (u32)high, w = (u32)(high >> 32);
    return make_uint4((first.x & ~x) | (second.x & x), (first.y & ~y) | (second.y & y), (first.z & ~z) | (second.z & z),
                      (first.w & ~w) | (second.w & w));
}

// A run whose entries are walked through one after the other.
struct WalkedRun {
    u32 record;
    u32 port;           // of the present entry
    u32 until;          // the entries until the port changes, this one included; NONE if it never does
    // What follows is set for records of `BY_QUOTIENT` alone.
    u32 divider;        // the entries with one quotient
    u32 width, turn;    // the ports of each group, and which of them has its turn
    const u8 *ports;    // those of the direction
    Walk walk;

    __device__ __forceinline__ u32 walked_port() const { return ports[walk.group() * width + turn]; }

    // Goes to the next group; where the first one comes again, its next port has its turn.
    __device__ __forceinline__ void next_quotient() {
        until = divider;
        turn += walk.next();
        turn = turn == width ? 0 : turn;
        port = walked_port();
    }
};

// One row of a tile.
struct Row {
    const Arguments &a;
    BlockView shared;
    const u32 *sets;
    const u8 *sizes;
    u32 *records;
    const uint2 *runs;  // those of the tile
    u32 local_tile;     // the tile, counted from the first of the block
    u32 is_uniform;
    u32 half;           // lists are those of the targets from 32 · half on

    __device__ Walk walk_of(u32 target) const {
        return {sets + target * shared.words, shared.words, 0, 0};
    }

    __device__ const Side &side_of(u32 target) const { return shared.sides[!(shared.up[local_tile] >> target & 1)]; }

    // The i-th group of the closer set of a target. The sets must have been found; in a uniform row they may be missing.
    __device__ u32 group_at(u32 target, u32 i) const {
        Walk walk = walk_of(target);
        walk.start(i);
        return walk.group();
    }

    // The port for quotient q of a target that is reached, if each group of its direction has one port.
    __device__ u32 single_port_for(const Side &side, u32 target, u32 q, u32 k) const {
        u32 size = sizes[target], at = q - quotient(q, size, a.inverse[size]) * size + k;
        at = at < size ? at : at % size;
        return shared.ports[side.first_port + (size == side.groups ? at : group_at(target, at))];
    }

    // The port for number d of a target that is reached, computed by itself. q is d, divided.
    __device__ u32 port_for(const Side &side, u32 target, u32 d, u32 q, u32 k) const {
        if (side.width == 1) {
            return single_port_for(side, target, q, k);
        }
        u32 size = sizes[target];
        u32 round = quotient(q, size, a.inverse[size]), at = q - round * size + k;
        at = at < size ? at : at % size;
        u32 group = size == side.groups ? at : group_at(target, at), first = shared.firsts[side.first_group + group];
        u32 end = group + 1 < side.groups ? shared.firsts[side.first_group + group + 1] : side.ports_end;
        u32 port = side.port_divider ? quotient(d, side.port_divider, side.port_inverse) : round;
        return shared.ports[first + (port + k / size) % (end - first)];
    }

    // One entry, computed by itself.
    __device__ u32 entry(u32 slot) const {
        u32 target = a.slot_target[slot];
        if (shared.own[local_tile] >> target & 1) {
            return a.slot_port[slot];
        }
        if (!sizes[target]) {
            return NO_ROUTE;
        }
        const Side &side = side_of(target);
        u32 d = a.slot_number[slot], q = quotient(d, side.divider, side.inverse);
        return port_for(side, target, d, q, a.slot_k[slot]);
    }

    // Sixteen entries, each computed by itself.
    __device__ uint4 each_entry(u32 slot) const {
        u32 words[4];
        for (u32 word = 0; word < 4; word++) {
            words[word] = 0;
            for (u32 byte = 0; byte < 4; byte++) {
                words[word] |= entry(slot + word * 4 + byte) << 8 * byte;
            }
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    // The port of a run, or how to find it: departure 4.
    __device__ u32 record_of(uint2 run) const {
        u32 target = run.y & 255, d = run.x, k = run.y >> 8 & 255, length = run.y >> 16;
        u32 size = target == NO_TARGET ? 0 : sizes[target];
        if (!size) {
            return target != NO_TARGET && shared.own[local_tile] >> target & 1 ? BY_SLOT : NO_ROUTE;
        }
        const Side &side = side_of(target);
        if (side.width == 1 && size == 1) {
            // A closer set with one port has no other.
            return shared.ports[side.first_port + (side.groups == 1 ? 0 : group_at(target, 0))];
        }
        if (side.width == 1 && side.divider == 1 && length > 1 && has_list(size)) {
            return BY_TURN | target;
        }
        u32 q = quotient(d, side.divider, side.inverse);
        bool is_one = d - q * side.divider + length <= side.divider;
        if (is_one && side.width != 1 && side.port_divider) {
            is_one = d % side.port_divider + length <= side.port_divider;
        }
        if (is_one) {
            return port_for(side, target, d, q, k);
        }
        u32 after = d + length - (q + 1) * side.divider;
        if (side.width == 1 && after <= min(side.divider, 255u)) {
            u32 first = single_port_for(side, target, q, k), second = single_port_for(side, target, q + 1, k);
            return first | BY_TWO | second << 16 | after << 24;
        }
        bool is_even = side.width == 1 || (side.width && !side.port_divider && !k);
        return !is_even ? BY_ENTRY : side.divider >= LEAST_STEP ? BY_STEP : BY_WALK;
    }

    // Whether a run has one port or two.
    __device__ __forceinline__ bool is_simple(u32 record) const { return record <= NO_ROUTE || record & BY_TWO; }

    // Sixteen entries of such a run, of which `left` are left at place `from`. What stands before that place means nothing.
    __device__ uint4 simple(u32 record, u32 left, u32 from) const {
        uint4 first = repeated(record & 255), second = repeated(record >> 16 & 255);
        // There are as many entries with the first port as stand before those with the second one.
        u32 second_entries = record >> 24, change = left > second_entries ? from + left - second_entries : 0;
        return record <= NO_ROUTE || change > 15 ? first : joined(first, second, change);
    }

    // Whether there is a list for a closer set of this size, if each group has one port and Π is 1.
    __device__ __forceinline__ bool has_list(u32 size) const {
        return !a.has_several_lids && (is_uniform || (shared.list_words && size >= LEAST_LIST));
    }

    // Whether the ports of a run are in a list that is written. `UNIFORM` says that the row is.
    template <bool UNIFORM> __device__ __forceinline__ bool is_listed(u32 record) const {
        return record & BY_TURN && (UNIFORM || (record >> 5 & 1) == half);
    }

    __device__ __forceinline__ bool is_listed(u32 record) const {
        return is_uniform ? is_listed<true>(record) : is_listed<false>(record);
    }

    // The list of a target: that of all ports up, or its own. There are lists for half of the targets at a time.
    __device__ __forceinline__ u32 *list_of(u32 target) const {
        return shared.lists + ((threadIdx.x >> 5) * 32 + (target & 31)) * shared.list_words;
    }

    // Writes the list of a target: departure 5. Four groups are picked from at a time, and bytes are collected until a word is
    // full. At the end, the first WRAPPED bytes of the list are appended to it.
    //
    // Example: eight groups have the ports 11 … 18, and the set of the target is {0, 2, 3, 5}, or 0b10110100 … in its highest
    // bits. The first four bits, 1011, pick 11, 13 and 14. The next four, 0100, pick 16, which fills a word.
    //
    //     list   11 13 14 16 | 11 13 14 16 | 11 13 14 16 | … 24 bytes in all
    __device__ void write_list(u32 target) const {
        const u32 *set = sets + target * shared.words, *from = (const u32 *)shared.packed + (side_of(target).first_port + 3) / 4;
        u32 *list = list_of(target), *to = list;
        u32 held = 0, bits = 0;
        for (u32 word = 0; word < shared.words; word++) {
            u32 left = set[word];
#pragma unroll
            for (u32 part = 0; part < 8; part++) {
                u32 pick = shared.picks[left << 4 * part >> 28], picked = __byte_perm(*from++, 0, pick);
                u32 over = __funnelshift_l(picked, 0, bits);
                held |= picked << bits;
                bits += pick >> 16;
                if (bits >= 32) {
                    *to++ = held;
                    held = over;
                    bits -= 32;
                }
            }
        }
#pragma unroll
        for (u32 word = 0; word < WRAPPED / 4; word++) {
            u32 again = list[word];
            *to++ = held | again << bits;
            held = __funnelshift_l(again, 0, bits);
        }
    }

    // Sixteen entries of a list, so that the entry at place `from` is that of number d.
    //
    // Example: in the list above, number d = 6 has the byte at 6 mod 4 = 2. With `from` = 0, the entries are the 16 bytes from
    // there on: 14 16 11 13 14 … With `from` = 3, three entries stand before it, so the bytes from 6 − 3 = 3 on
    // are taken: 16 11 13 14 …
    template <bool UNIFORM> __device__ uint4 turns(u32 target, u32 d, u32 from) const {
        u32 size = UNIFORM ? shared.sides[0].groups : sizes[target];
        u64 inverse = a.inverse[size];
        u32 at = d - quotient(d, size, inverse) * size;
        if (from) {
            u32 before = at + 16 * size - from;
            at = before - quotient(before, size, inverse) * size;
        }
        const u32 *words = (UNIFORM ? (const u32 *)shared.cycle : list_of(target)) + at / 4;
        u32 shift = 8 * (at & 3), w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3];
        return make_uint4(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift),
                          __funnelshift_r(w2, w3, shift), __funnelshift_r(w3, words[4], shift));
    }

    // Begins with a piece of a run, whose first entry is that of `slot` and has number d.
    __device__ __forceinline__ void begin(WalkedRun &at, u32 slot, u32 run, u32 d) const {
        u32 record = records[run];
        at.record = record;
        at.until = NONE;
        at.port = record;
        if (record & (BY_ENTRY | BY_SLOT)) {
            at.until = 1;
            at.port = entry(slot);
        } else if (record & BY_QUOTIENT) {
            u32 target = runs[run].y & 255, k = runs[run].y >> 8 & 255, size = sizes[target];
            const Side &side = side_of(target);
            u32 q = quotient(d, side.divider, side.inverse);
            u32 round = quotient(q, size, a.inverse[size]), place = q - round * size + k;
            at.divider = side.divider;
            at.width = side.width;
            at.ports = shared.ports + side.first_port;
            at.until = at.divider - (d - q * at.divider);
            at.walk = walk_of(target);
            at.walk.start(place < size ? place : place % size);
            at.turn = at.width == 1 ? 0 : round % at.width;
            at.port = at.walked_port();
        }
    }

    // Sixteen entries of any runs, from this piece of a run on: departure 6.
    __device__ uint4 walked(u32 slot, u32 run, u32 d, u32 left) const {
        uint4 words = {0, 0, 0, 0};
        WalkedRun at;   // `begin` sets what it needs
        bool begins = true;
#pragma unroll 4
        for (u32 byte = 0; byte < 16; byte++) {
            if (begins) {
                begin(at, slot + byte, run, d);
            } else if (at.until == 0) {
                if (at.record & BY_QUOTIENT) {
                    at.next_quotient();
                } else {
                    at.until = 1;
                    at.port = entry(slot + byte);
                }
            }
            // The four words move on once in four entries, so that no word is chosen by a number.
            if ((byte & 3) == 0) {
                words = make_uint4(words.y, words.z, words.w, 0);
            }
            words.w |= at.port << 8 * (byte & 3);
            at.until--;
            begins = --left == 0 && byte < 15;
            if (begins) {
                run++;
                d = runs[run].x;
                left = runs[run].y >> 16;
            }
        }
        return words;
    }

    // The entries of any chunk, which is described as in `Arguments`. A part of it follows from one port or from one list.
    __device__ uint4 chunk(u32 slot, uint2 chunk_words) const {
        u32 run = chunk_words.y & 0xffff, left = chunk_words.y >> 16, d = chunk_words.x;
        if (!left) {
            return each_entry(slot);
        }
        uint4 entries;
        for (u32 from = 0;;) {
            u32 record = records[run], length = left;
            uint4 part;
            if (is_simple(record)) {
                part = simple(record, left, from);
            } else if (is_listed(record)) {
                part = is_uniform ? turns<true>(record & 63, d, from) : turns<false>(record & 63, d, from);
            } else if (record & BY_STEP) {
                u32 target = runs[run].y & 255, k = runs[run].y >> 8 & 255;
                const Side &side = side_of(target);
                u32 q = quotient(d, side.divider, side.inverse);
                part = repeated(port_for(side, target, d, q, k));
                length = min(left, side.divider - (d - q * side.divider));
            } else {
                return walked(slot, chunk_words.y & 0xffff, chunk_words.x, chunk_words.y >> 16);
            }
            entries = from ? joined(entries, part, from) : part;
            from += length;
            if (from >= 16) {
                return entries;
            }
            d += length;
            left -= length;
            if (!left) {
                run++;
                d = runs[run].x;
                left = runs[run].y >> 16;
            }
        }
    }
};
