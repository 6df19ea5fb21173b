/* Calls functions in random order with random arguments: numbers of objects of any kind, released ones and invented ones, null
 * pointers, small buffers, huge counts without an array, kinds that are none, texts that are not UTF-8. Every call must return a
 * code, and every error a message. Arguments: a seed, and the number of calls. */
#include "check.h"

enum { BYTES = 4096, SLOTS = 12, FUNCTIONS = 47 };
enum { BUILDER, FABRIC, SETTINGS, ROUTER, DELTA, PLAN, KINDS };
static uint64_t state;
/* Objects by kind, some of them released. */
static uint64_t known[KINDS][SLOTS];
static int new_kind;
static uint8_t bytes[BYTES];
static uint64_t words[BYTES / 8];
static char text[64];
static size_t count, second;
static uint64_t wide, other;
static uint32_t narrow;

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t limit) { return draw() % limit; }

static uint64_t object(int kind) {
    switch (below(16)) {
        case 0: return 0;
        case 1: return draw();
        case 2: return known[kind][below(SLOTS)] + below(3);
        case 3: return known[below(KINDS)][below(SLOTS)];
        default: return known[kind][below(SLOTS)];
    }
}

static uint64_t guid(void) {
    switch (below(8)) {
        case 0: return below(4);
        case 1: return draw();
        case 2: return SPINE(below(SPINES));
        case 3: return HOST(below(LEAVES), below(HOSTS));
        default: return LEAF(below(LEAVES));
    }
}

static int is_null(void) { return below(6) == 0; }
static size_t *size(void) { return is_null() ? NULL : &count; }
static size_t *other_size(void) { return is_null() ? NULL : &second; }
static uint64_t *number(void) { return is_null() ? NULL : &other; }

/* Returns where a function writes the number of a new object of this kind. */
static uint64_t *place(int kind) {
    if (is_null()) return NULL;
    new_kind = kind;
    return &wide;
}

static uint32_t kind(void) { return below(5) == 0 ? (uint32_t)draw() : (uint32_t)below(5); }

/* Returns a buffer and its capacity. Without a buffer the capacity may be anything. */
static void *buffer(size_t element, size_t *capacity) {
    if (is_null()) {
        *capacity = below(2) ? 0 : (size_t)draw();
        return NULL;
    }
    *capacity = below(3) == 0 ? below(BYTES / element) : BYTES / element;
    return words;
}

static const char *name(void) {
    if (is_null()) return NULL;
    for (size_t i = 0; i < sizeof text - 1; i++) text[i] = (char)(below(8) == 0 ? draw() : 'a' + below(26));
    text[below(sizeof text)] = 0;
    text[sizeof text - 1] = 0;
    return text;
}

static dmodc_status builders(uint64_t which) {
    dmodc_switch s = {.guid = guid(), .lid = (uint32_t)(below(9) ? below(90) : draw()), .ports = (uint8_t)(below(9) ? 36 : draw())};
    dmodc_adapter a = {.guid = guid(), .kind = kind(), .ports = (uint8_t)(below(9) ? 2 : draw())};
    dmodc_end_port e = {.adapter_guid = guid(), .guid = guid(), .lid = s.lid, .lmc = (uint8_t)below(9), .port = (uint8_t)below(4)};
    dmodc_cable c = {.guid_a = guid(), .guid_b = guid(), .port_a = (uint8_t)below(38), .port_b = (uint8_t)below(38)};
    if (below(20) == 0) s.reserved[2] = a.reserved[0] = e.reserved[1] = c.reserved[5] = 1;
    switch (which) {
        case 0: return dmodc_builder_new(place(BUILDER));
        case 1: return dmodc_builder_add_switch(object(BUILDER), is_null() ? NULL : &s, name());
        case 2: return dmodc_builder_add_adapter(object(BUILDER), is_null() ? NULL : &a, name());
        case 3: return dmodc_builder_add_end_port(object(BUILDER), is_null() ? NULL : &e);
        case 4: return dmodc_builder_add_cable(object(BUILDER), is_null() ? NULL : &c);
        default: return dmodc_builder_finish(object(BUILDER), place(FABRIC));
    }
}

static dmodc_status fabrics(uint64_t which) {
    static union { dmodc_counts counts; dmodc_switch s; dmodc_node n; dmodc_cable c; } any;
    size_t capacity;
    uint32_t index = (uint32_t)(below(5) ? below(10) : draw());
    for (size_t i = 0; i < 64; i++) bytes[i] = (uint8_t)draw();
    void *room = buffer(1, &capacity);
    switch (which) {
        case 0: return dmodc_fabric_read(room ? bytes : NULL, capacity, place(FABRIC));
        case 1: return dmodc_fabric_write(object(FABRIC), room, capacity, size());
        case 2: return dmodc_fabric_counts(object(FABRIC), is_null() ? NULL : &any.counts);
        case 3: return dmodc_fabric_switch(object(FABRIC), index, is_null() ? NULL : &any.s);
        case 4: return dmodc_fabric_switch_name(object(FABRIC), index, room, capacity, size());
        case 5: return dmodc_fabric_find_switch(object(FABRIC), guid(), is_null() ? NULL : &narrow);
        case 6: return dmodc_fabric_node(object(FABRIC), index, is_null() ? NULL : &any.n);
        case 7: return dmodc_fabric_node_name(object(FABRIC), index, room, capacity, size());
        default: return dmodc_fabric_cable(object(FABRIC), index, is_null() ? NULL : &any.c);
    }
}

static dmodc_status choices(uint64_t which) {
    uint64_t guids[3] = {guid(), guid(), guid()};
    int null = is_null();
    size_t length = null ? (size_t)draw() : below(4);
    switch (which) {
        case 0: return dmodc_settings_new(place(SETTINGS));
        case 1: return dmodc_settings_set_engine(object(SETTINGS), kind());
        case 2: return dmodc_settings_set_reference(object(SETTINGS), object(FABRIC));
        case 3: return dmodc_settings_set_orders(object(SETTINGS), null ? NULL : bytes, null ? length : below(64));
        case 4: return dmodc_settings_set_lasting(object(SETTINGS), kind());
        case 5: return dmodc_settings_set_leaves(object(SETTINGS), null ? NULL : guids, length);
        case 6: return dmodc_settings_set_roots(object(SETTINGS), null ? NULL : guids, length);
        default: return dmodc_settings_set_least_nodes(object(SETTINGS), kind());
    }
}

static dmodc_status routers(uint64_t which) {
    static union { dmodc_verdict verdict; dmodc_check check; } any;
    dmodc_change changes[3];
    size_t capacity, number = below(4);
    memset(changes, 0, sizeof changes);
    for (int i = 0; i < 3; i++) {
        changes[i].guid = below(9) ? LEAF(below(LEAVES)) : guid();
        changes[i].port = (uint8_t)(below(9) ? below(6) : draw());
        changes[i].works = (uint8_t)(below(20) ? below(2) : draw());
        changes[i].reserved[3] = below(30) == 0;
    }
    void *room = buffer(which == 3 ? sizeof(dmodc_change) : which == 5 ? 8 : 1, &capacity);
    switch (which) {
        case 0: return dmodc_router_new(object(FABRIC), below(2) ? 0 : object(SETTINGS), place(ROUTER));
        case 1: return dmodc_router_apply(object(ROUTER), room ? changes : NULL, room ? number : (size_t)draw(), place(DELTA));
        case 2: return dmodc_router_compare(object(ROUTER), object(ROUTER), place(DELTA));
        case 3: return dmodc_router_failed(object(ROUTER), room, capacity, size());
        case 4: return dmodc_router_fabric(object(ROUTER), place(FABRIC));
        case 5: return dmodc_router_leaves(object(ROUTER), room, capacity, size());
        case 6: return dmodc_router_save_orders(object(ROUTER), room, capacity, size());
        case 7: return dmodc_router_row(object(ROUTER), guid(), room, capacity, size());
        case 8: return dmodc_router_rows(object(ROUTER), room, capacity, size(), other_size());
        case 9: return dmodc_router_alternatives(object(ROUTER), guid(), (uint32_t)below(300), room, capacity, size());
        case 10: return dmodc_router_verdict(object(ROUTER), is_null() ? NULL : &any.verdict);
        case 11: return dmodc_router_check(object(ROUTER), is_null() ? NULL : &any.check);
        default: return dmodc_router_digest(object(ROUTER), room, capacity, size());
    }
}

static dmodc_status deltas(uint64_t which) {
    static dmodc_write write;
    size_t capacity, index = below(4) ? below(8) : (size_t)draw();
    void *room = buffer(sizeof(dmodc_entry), &capacity);
    switch (which) {
        case 0: return dmodc_delta_counts(object(DELTA), size(), number());
        case 1: return dmodc_delta_entries(object(DELTA), index, number(), room, capacity, size());
        case 2: return dmodc_plan_new(object(ROUTER), object(DELTA), (uint32_t)(below(4) ? below(9) : draw()), place(PLAN));
        case 3: return dmodc_plan_counts(object(PLAN), is_null() ? NULL : &narrow, size());
        default: return dmodc_plan_write(object(PLAN), index, is_null() ? NULL : &write, room, capacity, size());
    }
}

static dmodc_status library(uint64_t which) {
    size_t capacity;
    void *room = buffer(1, &capacity);
    switch (which) {
        case 0: dmodc_last_error(room, room ? capacity : 0); return DMODC_STATUS_OK;
        case 1: return dmodc_set_threads((uint32_t)(below(4) ? 1 + below(4) : 1025 + below(1000)));
        case 2: return dmodc_release(below(4) ? draw() : object((int)below(KINDS)));
        case 3: EXPECT(dmodc_status_text((uint32_t)draw())[0] != 0); return DMODC_STATUS_OK;
        case 4: EXPECT(dmodc_version()[0] != 0); return DMODC_STATUS_OK;
        default: EXPECT(dmodc_object_count() <= KINDS * SLOTS + 1); return DMODC_STATUS_OK;
    }
}

int main(int argc, char **argv) {
    unsigned long calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000, by_status[9] = {0};
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    for (unsigned long i = 0; i < calls; i++) {
        /* New objects take the places of old ones, which are released first. A whole fabric comes now and then. */
        if (wide != 0) {
            uint64_t *old = &known[new_kind][below(SLOTS)];
            if (*old != 0) dmodc_release(*old);
            *old = wide;
            wide = 0;
        }
        if (i % 64 == 0) {
            uint64_t *old = &known[FABRIC][below(SLOTS)];
            if (*old != 0) dmodc_release(*old);
            *old = small_fabric(LEAVES);
        }
        uint64_t which = below(FUNCTIONS);
        dmodc_status status = which < 6    ? builders(which)
                              : which < 15 ? fabrics(which - 6)
                              : which < 23 ? choices(which - 15)
                              : which < 36 ? routers(which - 23)
                              : which < 41 ? deltas(which - 36)
                                           : library(which - 41);
        EXPECT(status < DMODC_STATUS_INTERNAL);
        if (status != DMODC_STATUS_OK) {
            char why[8] = "";
            EXPECT(dmodc_last_error(why, sizeof why) > 0 && why[0] != 0);
        }
        by_status[status]++;
    }
    if (wide != 0) dmodc_release(wide);
    for (int i = 0; i < KINDS * SLOTS; i++) dmodc_release(known[i / SLOTS][i % SLOTS]);
    EXPECT(dmodc_object_count() == 0);
    for (int i = 0; i < 8; i++) printf("%lu %s\n", by_status[i], dmodc_status_text((uint32_t)i));
    return 0;
}
