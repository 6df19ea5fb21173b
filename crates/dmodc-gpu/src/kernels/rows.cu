// Rows, eqs. (3) and (4), for the kernel of routes.cu: from closer sets to the entries of a switch for one tile.
//
//     group = C[(⌊d / Π⌋ + k) mod #C],   port = group[(⌊d / (Π · #C)⌋ + ⌊k / #C⌋) mod #group]
//
// The file routes.cu has the head for all of this, with the numbers of the departures.

// What a record says if it is no port.
#define BY_WALK 256     // ports change within the run
#define BY_ENTRY 512    // the same, and groups have different numbers of ports
#define BY_SLOT 1024    // this switch is the destination switch: each slot has its own port
#define BY_TURN 2048    // ports change with every number, and each group has one; the target is in the lowest bits
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

    // Goes to the next group. Lanes that begin another word do so without a branch, as long as no word of the set is empty.
    template <bool ONE_WORD> __device__ __forceinline__ void step() {
        left &= 0x7fffffffu >> __clz(left);
        if (ONE_WORD) {
            left = left ? left : *set;
            return;
        }
        if (!left) {
            word = word + 1 == words ? 0 : word + 1;
            left = set[word];
        }
        while (!left) {
            word = word + 1 == words ? 0 : word + 1;
            left = set[word];
        }
    }
};

// One row of a tile.
struct Row {
    const Arguments &a;
    BlockView v;
    const u32 *sets;
    const u8 *sizes;
    u16 *records;
    const uint2 *runs;  // those of the tile
    u32 i, is_uniform;

    __device__ Walk walk_of(u32 target) const {
        return {sets + target * v.words, v.words, 0, 0};
    }

    __device__ const Side &side_of(u32 target) const { return v.sides[!(v.up[i] >> target & 1)]; }

    // The i-th group of the closer set of a target.
    __device__ u32 group_at(u32 target, u32 i) const {
        Walk walk = walk_of(target);
        walk.start(i);
        return walk.group();
    }

    // The port for number d of a target that is reached, computed by itself. q is d, divided.
    __device__ u32 port_for(const Side &side, u32 target, u32 d, u32 q, u32 k) const {
        u32 size = sizes[target];
        u32 round = quotient(q, size, a.inverse[size]), at = q - round * size + k;
        at = at < size ? at : at % size;
        u32 group = size == side.groups ? at : group_at(target, at), first = v.firsts[side.first_group + group];
        u32 end = group + 1 < side.groups ? v.firsts[side.first_group + group + 1] : side.ports_end;
        if (end - first == 1) {
            return v.ports[first];
        }
        u32 port = side.port_divider ? quotient(d, side.port_divider, side.port_inverse) : round;
        return v.ports[first + (port + k / size) % (end - first)];
    }

    // One entry, computed by itself.
    __device__ u32 entry(u32 slot) const {
        u32 target = a.slot_target[slot];
        if (v.own[i] >> target & 1) {
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
        if (target == NO_TARGET || !sizes[target]) {
            return target != NO_TARGET && v.own[i] >> target & 1 ? BY_SLOT : NO_ROUTE;
        }
        const Side &side = side_of(target);
        bool is_even = side.width == 1 || (side.width && !side.port_divider && !k);
        u32 q = quotient(d, side.divider, side.inverse);
        bool is_one = d - q * side.divider + length <= side.divider;
        if (side.width == 1) {
            // A closer set with one port has no other.
            is_one |= sizes[target] == 1;
        } else if (is_one && side.port_divider) {
            is_one = d % side.port_divider + length <= side.port_divider;
        }
        if (!is_one && side.width == 1 && side.divider == 1 && !a.has_several_lids) {
            return BY_TURN | target;
        }
        return is_one ? port_for(side, target, d, q, k) : is_even ? BY_WALK : BY_ENTRY;
    }

    // Sixteen entries in turn, from number d on, for a target that all groups up are closer to: departure 5.
    __device__ uint4 window(u32 d) const {
        u32 size = v.sides[0].groups;
        u32 at = d - quotient(d, size, a.inverse[size]) * size;
        const u32 *words = (const u32 *)v.cycle + at / 4;
        u32 shift = 8 * (at & 3), w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3];
        return make_uint4(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift),
                          __funnelshift_r(w2, w3, shift), __funnelshift_r(w3, words[4], shift));
    }

    // Starts a walk at number d of a target whose ports change with every number.
    __device__ Walk walk_from(u32 target, u32 d) const {
        u32 size = sizes[target];
        Walk walk = walk_of(target);
        walk.start(d - quotient(d, size, a.inverse[size]) * size);
        return walk;
    }

    // Sixteen entries, a port for each number, from number d of a run on. After `left` of them the next run begins: departure 5.
    template <bool ONE_WORD, bool TWO_RUNS> __device__ uint4 in_turn(u32 run, u32 d, u32 left) const {
        u32 target = records[run] & 63;
        Walk walk = walk_from(target, d), later = walk;
        const u8 *ports = v.ports + side_of(target).first_port, *later_ports = ports;
        if (TWO_RUNS) {
            target = records[run + 1] & 63;
            later = walk_from(target, runs[run + 1].x);
            later_ports = v.ports + side_of(target).first_port;
        }
        u32 words[4];
#pragma unroll
        for (u32 byte = 0; byte < 16; byte++) {
            if (byte) {
                walk.template step<ONE_WORD>();
            }
            if (byte && TWO_RUNS) {
                bool is_later = byte == left;
                walk.set = is_later ? later.set : walk.set;
                walk.word = is_later ? later.word : walk.word;
                walk.left = is_later ? later.left : walk.left;
                ports = is_later ? later_ports : ports;
            }
            u32 port = ports[ONE_WORD ? __clz(walk.left) : walk.group()];
            words[byte / 4] = byte & 3 ? words[byte / 4] | port << 8 * (byte & 3) : port;
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }

    // Sixteen entries of one run with at most two ports, because Π is at least 16.
    __device__ uint4 two_ports(uint2 run, u32 d) const {
        u32 target = run.y & 255, k = run.y >> 8 & 255;
        const Side &side = side_of(target);
        u32 q = quotient(d, side.divider, side.inverse), until = side.divider - (d - q * side.divider);
        u64 first = port_for(side, target, d, q, k) * 0x0101010101010101ull, second = first;
        if (until < 16) {
            second = port_for(side, target, d + until, q + 1, k) * 0x0101010101010101ull;
        }
        u64 low_part = until < 8 ? ~0ull << 8 * until : 0;
        u64 high_part = until <= 8 ? ~0ull : until < 16 ? ~0ull << 8 * (until - 8) : 0;
        u64 low = (first & ~low_part) | (second & low_part), high = (first & ~high_part) | (second & high_part);
        return make_uint4((u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32));
    }

    // Sixteen entries of runs that have one port each, from the last `left` entries of a run on. Returns whether all have.
    __device__ bool pieces(u32 run, u32 left, uint4 &entries) const {
        u64 low = 0, high = 0;
        for (u32 from = 0;;) {
            u64 record = records[run];
            if (record > NO_ROUTE) {
                return false;
            }
            // All entries from here on; those of later runs are overwritten.
            u64 repeated = record * 0x0101010101010101ull;
            u64 low_part = from < 8 ? ~0ull << 8 * from : 0;
            u64 high_part = from <= 8 ? ~0ull : ~0ull << 8 * (from - 8);
            low = (low & ~low_part) | (repeated & low_part);
            high = (high & ~high_part) | (repeated & high_part);
            from += left;
            if (from >= 16) {
                entries = make_uint4((u32)low, (u32)(low >> 32), (u32)high, (u32)(high >> 32));
                return true;
            }
            run++;
            left = runs[run].y >> 16;
        }
    }

    // Sixteen entries of any runs, from this piece of a run on: departure 5.
    __device__ uint4 walked(u32 slot, u32 run, u32 d, u32 left) const {
        uint4 words = {0, 0, 0, 0};
        u32 port, until, turn, width, divider, record;
        const u8 *ports;
        Walk walk;
        bool begins = true;
#pragma unroll 4
        for (u32 byte = 0; byte < 16; byte++) {
            if (begins) {
                record = records[run];
                until = NONE;
                port = record;
                if (record & (BY_ENTRY | BY_SLOT)) {
                    until = 1;
                    port = entry(slot + byte);
                } else if (record & (BY_WALK | BY_TURN)) {
                    u32 target = runs[run].y & 255, k = runs[run].y >> 8 & 255, size = sizes[target];
                    const Side &side = side_of(target);
                    u32 q = quotient(d, side.divider, side.inverse);
                    u32 round = quotient(q, size, a.inverse[size]), at = q - round * size + k;
                    divider = side.divider;
                    width = side.width;
                    ports = v.ports + side.first_port;
                    until = divider - (d - q * divider);
                    walk = walk_of(target);
                    walk.start(at < size ? at : at % size);
                    turn = width == 1 ? 0 : round % width;
                    port = ports[walk.group() * width + turn];
                }
            } else if (until == 0) {
                if (record & (BY_WALK | BY_TURN)) {
                    until = divider;
                    turn += walk.next();
                    turn = turn == width ? 0 : turn;
                    port = ports[walk.group() * width + turn];
                } else {
                    until = 1;
                    port = entry(slot + byte);
                }
            }
            // The four words move on once in four entries, so that no word is chosen by a number.
            if ((byte & 3) == 0) {
                words = make_uint4(words.y, words.z, words.w, 0);
            }
            words.w |= port << 8 * (byte & 3);
            until--;
            begins = --left == 0 && byte < 15;
            if (begins) {
                run++;
                d = runs[run].x;
                left = runs[run].y >> 16;
            }
        }
        return words;
    }

    // The entries of a chunk, which is described as in `Arguments`.
    __device__ uint4 chunk(u32 slot, uint2 about) const {
        u32 run = about.y & 0xffff, left = about.y >> 16;
        if (about.y == NONE) {
            return each_entry(slot);
        }
        u32 record = records[run];
        if (left >= 16 && record <= NO_ROUTE) {
            u32 word = record * 0x01010101u;
            return make_uint4(word, word, word, word);
        }
        if (left >= 16 && record & BY_TURN) {
            return is_uniform ? window(about.x) : in_turn_of<false>(run, about.x, 16);
        }
        uint4 entries;
        if (record <= NO_ROUTE) {
            return pieces(run, left, entries) ? entries : walked(slot, run, about.x, left);
        }
        if (left >= 16 && record == BY_WALK && side_of(runs[run].y & 255).divider >= 16) {
            return two_ports(runs[run], about.x);
        }
        // The next run may continue this one.
        if (record & BY_TURN && records[run + 1] & BY_TURN && left + (runs[run + 1].y >> 16) >= 16) {
            bool goes_on = is_uniform && runs[run + 1].x == about.x + left;
            return goes_on ? window(about.x) : in_turn_of<true>(run, about.x, left);
        }
        return walked(slot, run, about.x, left);
    }

    template <bool TWO_RUNS> __device__ uint4 in_turn_of(u32 run, u32 d, u32 left) const {
        return v.words == 1 ? in_turn<true, TWO_RUNS>(run, d, left) : in_turn<false, TWO_RUNS>(run, d, left);
    }
};
