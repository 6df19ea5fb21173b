/* Does what the lines on stdin say, and prints what comes out; a test compares it with the Rust library.
 *
 *   S GUID LID PORTS NAME      a switch           A GUID KIND PORTS NAME           an adapter
 *   E ADAPTER PORT GUID LID LMC  an end port      C GUID PORT GUID PORT            a cable
 *   F or M   these records are the fabric, or the reference
 *   R ENGINE LASTING           a router           c GUID PORT WORKS                a change, which "a" makes with all others
 *   a        prints the delta, the plan, the verdict and the digest, and compares the rows before and after
 *   l GUID LID                 alternatives       o                                routes again with the saved orders
 */
#include "check.h"

enum { MOST = 4096 };
static dmodc_builder builder;
static dmodc_fabric fabric, reference;
static dmodc_settings settings;
static dmodc_router router;
static dmodc_change changes[MOST];
static dmodc_entry *entries;
static size_t pending, row_count, row_length, entry_capacity;
static uint8_t *rows;

static uint8_t *read_rows(dmodc_router from) {
    FAILS(TOO_SMALL, dmodc_router_rows(from, NULL, 0, &row_count, &row_length));
    uint8_t *found = malloc(row_count * row_length);
    OK(dmodc_router_rows(from, found, row_count * row_length, &row_count, &row_length));
    return found;
}

static size_t row_of(uint64_t guid) {
    dmodc_fabric all;
    uint32_t index;
    OK(dmodc_router_fabric(router, &all));
    OK(dmodc_fabric_find_switch(all, guid, &index));
    OK(dmodc_release(all));
    return index;
}

/* Writes entries over rows; each must have had its old port. */
static void overwrite(uint8_t *old, uint64_t guid, size_t count) {
    uint8_t *row = old + row_of(guid) * row_length;
    for (size_t i = 0; i < count; i++) {
        EXPECT(row[entries[i].lid] == entries[i].old_port);
        row[entries[i].lid] = entries[i].new_port;
    }
}

static void print_state(void) {
    dmodc_check check;
    char digest[100];
    size_t count;
    OK(dmodc_router_check(router, &check));
    OK(dmodc_router_digest(router, digest, sizeof digest, &count));
    dmodc_verdict v = check.verdict, known;
    OK(dmodc_router_verdict(router, &known));
    EXPECT(memcmp(&v, &known, sizeof v) == 0);
    printf("state %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64 " %d\n", digest, v.pairs,
           v.delivered, v.lost, v.cut_off, v.valid, check.loops, check.up_down_violations, check.deadlock_free);
}

static void grow(size_t wanted) {
    if (wanted <= entry_capacity) return;
    entry_capacity = wanted;
    entries = realloc(entries, wanted * sizeof *entries);
}

static void print_plan(dmodc_delta delta, uint8_t *old) {
    dmodc_plan plan;
    dmodc_write write;
    uint32_t rounds;
    size_t writes, count;
    OK(dmodc_plan_new(router, delta, 0, &plan));
    OK(dmodc_plan_counts(plan, &rounds, &writes));
    for (size_t i = 0; i < writes; i++) {
        if (dmodc_plan_write(plan, i, &write, entries, entry_capacity, &count) == DMODC_STATUS_TOO_SMALL) grow(count);
        OK(dmodc_plan_write(plan, i, &write, entries, entry_capacity, &count));
        printf("write %" PRIu32 " %#" PRIx64 " %" PRIu32, write.round, write.switch_guid, write.block);
        for (size_t j = 0; j < count; j++) printf(" %" PRIu32 ":%d", entries[j].lid, entries[j].new_port);
        puts("");
        overwrite(old, write.switch_guid, count);
    }
    OK(dmodc_release(plan));
}

static void apply(void) {
    dmodc_delta delta;
    size_t switches, count;
    uint64_t changed, guid;
    OK(dmodc_router_apply(router, changes, pending, &delta));
    pending = 0;
    OK(dmodc_delta_counts(delta, &switches, &changed));
    printf("changed %zu %" PRIu64 "\n", switches, changed);
    uint8_t *by_plan = malloc(row_count * row_length);
    memcpy(by_plan, rows, row_count * row_length);
    for (size_t i = 0; i < switches; i++) {
        if (dmodc_delta_entries(delta, i, &guid, entries, entry_capacity, &count) == DMODC_STATUS_TOO_SMALL) grow(count);
        OK(dmodc_delta_entries(delta, i, &guid, entries, entry_capacity, &count));
        for (size_t j = 0; j < count; j++)
            printf("entry %#" PRIx64 " %" PRIu32 " %d %d\n", guid, entries[j].lid, entries[j].old_port, entries[j].new_port);
        overwrite(rows, guid, count);
    }
    uint8_t *now = read_rows(router);
    EXPECT(memcmp(rows, now, row_count * row_length) == 0);
    print_plan(delta, by_plan);
    free(now);
    free(by_plan);
    OK(dmodc_release(delta));
    print_state();
}

/* A router with the saved orders and the same faults has the same tables. */
static void route_again(void) {
    size_t count;
    uint8_t *text;
    dmodc_router again;
    dmodc_delta delta;
    uint64_t changed;
    FAILS(TOO_SMALL, dmodc_router_save_orders(router, NULL, 0, &count));
    text = malloc(count);
    OK(dmodc_router_save_orders(router, text, count, &count));
    OK(dmodc_settings_set_orders(settings, text, count));
    OK(dmodc_router_new(fabric, settings, &again));
    OK(dmodc_router_failed(router, changes, MOST, &count));
    OK(dmodc_router_apply(again, changes, count, NULL));
    OK(dmodc_router_compare(router, again, &delta));
    OK(dmodc_delta_counts(delta, &count, &changed));
    printf("again %" PRIu64 "\n", changed);
    OK(dmodc_settings_set_orders(settings, NULL, 0));
    OK(dmodc_release(delta));
    OK(dmodc_release(again));
    free(text);
}

static void alternatives(uint64_t guid, uint32_t lid) {
    uint8_t ports[256];
    size_t count;
    OK(dmodc_router_alternatives(router, guid, lid, ports, sizeof ports, &count));
    printf("alternatives");
    for (size_t i = 0; i < count; i++) printf(" %d", ports[i]);
    puts("");
}

static void build(char kind, const uint64_t *n, const char *name) {
    dmodc_switch s = {.guid = n[0], .lid = (uint32_t)n[1], .ports = (uint8_t)n[2]};
    dmodc_adapter a = {.guid = n[0], .kind = (uint32_t)n[1], .ports = (uint8_t)n[2]};
    dmodc_end_port e = {.adapter_guid = n[0], .port = (uint8_t)n[1], .guid = n[2], .lid = (uint32_t)n[3], .lmc = (uint8_t)n[4]};
    dmodc_cable c = {.guid_a = n[0], .port_a = (uint8_t)n[1], .guid_b = n[2], .port_b = (uint8_t)n[3]};
    switch (kind) {
        case 'S': OK(dmodc_builder_add_switch(builder, &s, name)); break;
        case 'A': OK(dmodc_builder_add_adapter(builder, &a, name)); break;
        case 'E': OK(dmodc_builder_add_end_port(builder, &e)); break;
        default: OK(dmodc_builder_add_cable(builder, &c)); break;
    }
}

int main(void) {
    char line[200], kind;
    OK(dmodc_builder_new(&builder));
    OK(dmodc_settings_new(&settings));
    grow(64);
    while (fgets(line, sizeof line, stdin)) {
        uint64_t n[5] = {0};
        char name[100] = "";
        kind = line[0];
        sscanf(line + 1, "%" SCNi64 "%" SCNi64 "%" SCNi64 "%" SCNi64 "%" SCNi64, (int64_t *)&n[0], (int64_t *)&n[1],
               (int64_t *)&n[2], (int64_t *)&n[3], (int64_t *)&n[4]);
        sscanf(line + 1, "%*s %*s %*s %99s", name);
        switch (kind) {
            case 'S': case 'A': case 'E': case 'C': build(kind, n, name); break;
            case 'F': OK(dmodc_builder_finish(builder, &fabric)); break;
            case 'M':
                OK(dmodc_builder_finish(builder, &reference));
                OK(dmodc_settings_set_reference(settings, reference));
                break;
            case 'R':
                OK(dmodc_settings_set_engine(settings, (uint32_t)n[0]));
                OK(dmodc_settings_set_lasting(settings, (uint32_t)n[1]));
                OK(dmodc_router_new(fabric, settings, &router));
                rows = read_rows(router);
                print_state();
                break;
            case 'c':
                EXPECT(pending < MOST);
                changes[pending++] = (dmodc_change){.guid = n[0], .port = (uint8_t)n[1], .works = (uint8_t)n[2]};
                break;
            case 'a': apply(); break;
            case 'l': alternatives(n[0], (uint32_t)n[1]); break;
            case 'o': route_again(); break;
            default: EXPECT(!"a line that is understood");
        }
    }
    OK(dmodc_release(router));
    OK(dmodc_release(fabric));
    if (reference != 0) OK(dmodc_release(reference));
    OK(dmodc_release(settings));
    OK(dmodc_release(builder));
    EXPECT(dmodc_object_count() == 0);
    free(entries);
    free(rows);
    return 0;
}
