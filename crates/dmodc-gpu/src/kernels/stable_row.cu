// The lost entries of a row, which has those of the reference already: stable.cu has the equations, and stable_routes.cu the
// numbers of the departures.

// The targets of a row by what is to be done with them.
struct RowTargets {
    u64 unreached;  // they have no route any more
    u64 unknown;    // the reference has no route to them, or this switch is new and one of them
    u64 displaced;  // a group is lost, and they are still reached
    u64 thinned;    // perhaps a group has other ports
    u64 divided;    // B differs from stretch to stretch
};

// The entries of a piece that have one quotient.
struct SlotEntries {
    u32 first, count;   // the first one is counted from the first entry of the piece
};

struct StableRow : StableTile {
    Row plain;          // by `dmodc`
    RowTargets targets;
    u8 *row;
    const u16 *dead;
    u32 sigma;

    // Writes one port, except where nodes are cut off. Four entries are written at once where they stand in one word.
    __device__ void fill(u32 first, u32 count, u32 port) const {
        u32 at = first, end = first + count;
        while (at < end) {
            if (!stable.now.has_dead_nodes && !(at & 3) && at + 4 <= end) {
                *(u32 *)(row + at) = port * 0x01010101u;
                at += 4;
                continue;
            }
            if (!stable.now.has_dead_nodes || !(dead[at / 16] >> (at & 15) & 1)) {
                row[at] = port;
            }
            at++;
        }
    }

    // A port of a present group.
    __device__ u32 port_of(const Side &side, u32 group, u32 turn) const {
        return shared.ports[shared.firsts[side.first_group + group] + turn];
    }

    __device__ u32 width_of(const Side &side, u32 group) const {
        u32 at = side.first_group + group;
        u32 end = group + 1 < side.groups ? shared.firsts[at + 1] : side.ports_end;
        return end - shared.firsts[at];
    }

    // Place x of the ports of B in turns.
    __device__ u32 port_in_turn(u32 target, u64 x) const {
        const Side &side = shared.sides[!(shared.up[local_tile] >> target & 1)];
        const u32 *set = of_target(reference.spread, target);
        u32 size = size_of(set, reference.words);
        if (!side.width) {
            return port_in_any_turn(side, set, x);
        }
        u64 turn = x >> 32 ? x / size : quotient((u32)x, size, stable.now.inverse[size]);
        Walk walk = {set, reference.words, 0, 0};
        walk.start((u32)(x - turn * size));
        if (side.width == 1) {
            return port_of(side, walk.group(), 0);
        }
        return port_of(side, walk.group(), turn >> 32 ? (u32)(turn % side.width) : (u32)turn % side.width);
    }

    // The same where groups have different numbers of ports.
    __device__ u32 port_in_any_turn(const Side &side, const u32 *set, u64 x) const {
        u32 ports = 0;
        for (u32 word = 0; word < reference.words; word++) {
            for (u32 left = set[word]; left; left &= 0x7fffffffu >> __clz(left)) {
                ports += width_of(side, word * 32 + __clz(left));
            }
        }
        u32 place = (u32)(x % ports);
        for (u32 turn = 0;; turn++) {
            for (u32 word = 0; word < reference.words; word++) {
                for (u32 left = set[word]; left; left &= 0x7fffffffu >> __clz(left)) {
                    u32 group = word * 32 + __clz(left);
                    if (width_of(side, group) > turn && place-- == 0) {
                        return port_of(side, group, turn);
                    }
                }
            }
        }
    }

    // The port of a group that is there with other ports: that of the reference, or the one that stands in.
    __device__ u32 stand_in(u32 group, u32 at) const {
        u32 first = reference.firsts[group], count = ports_end(reference.firsts, reference.counts, group) - first;
        u32 code = reference.now[group], found = (code & 255) + (code & NOW_DOWN ? shared.sides[1].first_group : 0);
        const Side &side = shared.sides[!!(code & NOW_DOWN)];
        u32 now_first = shared.firsts[found], now_count = width_of(side, code & 255);
        u32 port = reference.ports[first + at % count];
        for (u32 i = 0; i < now_count; i++) {
            if (shared.ports[now_first + i] == port) {
                return port;
            }
        }
        return shared.ports[now_first + at % now_count];
    }

    // The entries of a piece with quotient q, of which there is at least one.
    __device__ SlotEntries entries_of(const Side &side, uint4 piece, u32 q) const {
        u32 start = q * side.divider, first = start > piece.x ? start - piece.x : 0;
        u32 left = side.divider - (piece.x + first - start);
        return {first, min(left, piece.w - first)};
    }

    // Writes the entries of one slot whose group is there with other ports.
    __device__ void write_stand_ins(const Side &side, uint4 piece, u32 group, u32 q, u32 size) const {
        u32 k = piece.z >> 8, round = quotient(q, size, stable.now.inverse[size]);
        SlotEntries entries = entries_of(side, piece, q);
        if (!side.port_divider) {
            fill(piece.y + entries.first, entries.count, stand_in(side.first_group + group, round + k / size));
            return;
        }
        for (u32 at = entries.first; at < entries.first + entries.count; at++) {
            u32 turn = quotient(piece.x + at, side.port_divider, side.port_inverse);
            fill(piece.y + at, 1, stand_in(side.first_group + group, turn + k / size));
        }
    }

    // Writes the entries of a piece whose slots are lost or thinned: departure 3. Returns whether some belong to later stretches.
    __device__ bool write_slots(uint4 piece, u32 stretch) const {
        u32 target = piece.z & 255, k = piece.z >> 8;
        bool up = reference.up[local_tile] >> target & 1, is_uniform = was_uniform(), is_divided = targets.divided >> target & 1;
        const Side &side = reference_side(target);
        const u32 *members = of_target(reference.members, target), *lost = of_target(reference.lost, target);
        const u32 *thinned = reference.thinned + (up ? 0 : 8);
        u32 size = is_uniform ? side.groups : size_of(members, reference.words);
        u64 inverse = stable.now.inverse[size];
        u32 q0 = quotient(piece.x, side.divider, side.inverse);
        u32 q1 = quotient(piece.x + piece.w - 1, side.divider, side.inverse);
        u32 first = is_divided ? first_round(side, target, size) : 0, all_lost = size_of(lost, reference.words);
        // Slot number (p + k) mod #R is that of quotients p mod #R.
        u32 shift = q0 - quotient(q0, size, inverse) * size + (k < size ? k : k % size);
        shift -= shift < size ? 0 : size;
        u32 slot_before = 0, j = 0;
        bool has_later = false;
        for (u32 word = 0; word < reference.words; word++) {
            u32 own = is_uniform ? NONE : members[word];
            u32 wanted = lost[word] | (stretch == 0 && targets.thinned >> target & 1 ? thinned[word] & own : 0);
            for (; wanted; wanted &= 0x7fffffffu >> __clz(wanted)) {
                u32 at = __clz(wanted), slot = slot_before + (is_uniform ? at : __popc(own & ~(~0u >> at)));
                bool is_lost = lost[word] << at >> 31;
                u32 later = slot >= shift ? slot - shift : slot + size - shift;
                for (u32 q = q0; later <= q1 - q; later = size) {
                    q += later;
                    if (is_lost) {
                        has_later |= write_lost(side, piece, {q, quotient(q, size, inverse), j, all_lost, first, stretch});
                    } else {
                        write_stand_ins(side, piece, word * 32 + at, q, size);
                    }
                }
                j += is_lost;
            }
            slot_before += is_uniform ? 32 : __popc(own);
        }
        return has_later;
    }

    // ⌊⌊f / Π⌋ / #R⌋.
    __device__ u32 first_round(const Side &side, u32 target, u32 size) const {
        u32 q = quotient(stable.first_number[tile * 64 + target], side.divider, side.inverse);
        return quotient(q, size, stable.now.inverse[size]);
    }

    // A lost slot: its quotient and round, its place j in D, #D, the round of f, and the stretch that is written now.
    struct LostSlot {
        u32 q, round, j, all_lost, first_round, stretch;
    };

    // Writes the entries of a lost slot if they belong to this stretch. Returns whether they belong to a later one.
    __device__ bool write_lost(const Side &side, uint4 piece, LostSlot slot) const {
        u32 target = piece.z & 255, k = piece.z >> 8;
        if (targets.divided >> target & 1) {
            u32 stretch = slot.round > slot.first_round ? slot.round - slot.first_round : 0;
            stretch = min(stretch, (u32)STRETCHES - 1);
            if (stretch != slot.stretch) {
                return stretch > slot.stretch;
            }
        }
        u64 x = (u64)slot.round * slot.all_lost + slot.j + sigma + k;
        SlotEntries entries = entries_of(side, piece, slot.q);
        fill(piece.y + entries.first, entries.count, port_in_turn(target, x));
        return false;
    }

    // Writes the lost entries of a piece that belong to a stretch. Returns whether some belong to later stretches.
    __device__ bool write(uint4 piece, u32 stretch) const {
        u32 target = piece.z & 255;
        if (stretch == 0 && targets.unreached >> target & 1) {
            fill(piece.y, piece.w, NO_ROUTE);
        } else if (stretch == 0 && targets.unknown >> target & 1) {
            for (u32 at = piece.y; at < piece.y + piece.w; at++) {
                fill(at, 1, plain.entry(stable.now.tile_slot[tile] + at));
            }
        } else if ((stretch == 0 ? targets.displaced | targets.thinned : targets.divided) >> target & 1) {
            return write_slots(piece, stretch);
        }
        return false;
    }
};
