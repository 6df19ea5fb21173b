/* Calls every function as a fabric manager would, and looks at what comes out. */
#include "check.h"

static dmodc_builder builder;
static dmodc_fabric fabric;
static dmodc_settings settings;
static dmodc_router router;
static size_t count;

static void library(void) {
    char text[8];
    EXPECT(strcmp(dmodc_version(), DMODC_VERSION) == 0);
    EXPECT(strcmp(dmodc_status_text(DMODC_STATUS_OK), "done") == 0);
    EXPECT(strcmp(dmodc_status_text(4711), "an unknown code") == 0);
    FAILS(BAD_HANDLE, dmodc_release(0));
    EXPECT(dmodc_last_error(NULL, 0) > 20);
    EXPECT(dmodc_last_error(NULL, 7) > 20);
    EXPECT(dmodc_last_error(text, sizeof text) > 20 && strlen(text) == 7);
    OK(dmodc_set_threads(2));
    FAILS(BAD_ARGUMENT, dmodc_set_threads(1025));
    EXPECT(dmodc_object_count() == 0);
}

static void records(void) {
    OK(dmodc_builder_new(&builder));
    FAILS(BAD_ARGUMENT, dmodc_builder_new(NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, NULL, "x"));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1, .ports = 36}, "\xff"));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 0, .ports = 36}, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1, .ports = 255}, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1}, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1, .ports = 9, .lid = 1u << 31}, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1, .ports = 9, .reserved = {0, 1}}, NULL));
    FAILS(BAD_HANDLE, dmodc_builder_add_switch(0, &(dmodc_switch){.guid = 1, .ports = 36}, NULL));
    add_records(builder, LEAVES);
    FAILS(BAD_ARGUMENT, dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = LEAF(0), .ports = 36}, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_adapter(builder, NULL, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_adapter(builder, &(dmodc_adapter){.guid = 1, .ports = 1, .kind = 4}, NULL));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_adapter(builder, &(dmodc_adapter){.guid = 1, .ports = 1}, "\xc3"));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_end_port(builder, NULL));
    FAILS(NOT_FOUND, dmodc_builder_add_end_port(builder, &(dmodc_end_port){.adapter_guid = 1, .guid = 1, .port = 1}));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_end_port(builder, &(dmodc_end_port){.adapter_guid = LEAF(0), .guid = 1, .port = 1}));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_end_port(builder, &(dmodc_end_port){.adapter_guid = HOST(0, 0), .guid = 1, .port = 3}));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_end_port(builder, &(dmodc_end_port){.adapter_guid = HOST(0, 0), .guid = 0, .port = 2}));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_end_port(builder, &(dmodc_end_port){.adapter_guid = HOST(0, 0), .guid = 1, .port = 2, .lmc = 8}));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_cable(builder, NULL));
    FAILS(NOT_FOUND, dmodc_builder_add_cable(builder, &(dmodc_cable){.guid_a = 1, .guid_b = LEAF(0), .port_a = 1, .port_b = 1}));
    FAILS(BAD_ARGUMENT, dmodc_builder_add_cable(builder, &(dmodc_cable){.guid_a = LEAF(1), .guid_b = LEAF(0), .port_b = 1}));
    FAILS(BAD_ARGUMENT, dmodc_builder_finish(builder, NULL));
    OK(dmodc_builder_finish(builder, &fabric));
    FAILS(BAD_HANDLE, dmodc_builder_finish(fabric, &fabric));

    /* Two cables in one port, a LID that two ports have, a port without a description. */
    dmodc_fabric none = 7;
    add_records(builder, 2);
    OK(dmodc_builder_add_cable(builder, &(dmodc_cable){.guid_a = LEAF(0), .port_a = 1, .guid_b = LEAF(1), .port_b = 20}));
    FAILS(BAD_FABRIC, dmodc_builder_finish(builder, &none));
    OK(dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1, .ports = 36, .lid = 5}, NULL));
    OK(dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 2, .ports = 36, .lid = 5}, NULL));
    FAILS(BAD_FABRIC, dmodc_builder_finish(builder, &none));
    OK(dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = 1, .ports = 36}, NULL));
    OK(dmodc_builder_add_adapter(builder, &(dmodc_adapter){.guid = 2, .ports = 1}, NULL));
    OK(dmodc_builder_add_cable(builder, &(dmodc_cable){.guid_a = 1, .guid_b = 2, .port_a = 1, .port_b = 1}));
    FAILS(BAD_FABRIC, dmodc_builder_finish(builder, &none));
    EXPECT(none == 7);
    /* Nothing at all is a fabric without switches. */
    OK(dmodc_builder_finish(builder, &none));
    OK(dmodc_router_new(none, 0, &router));
    size_t rows = 1, length = 1;
    OK(dmodc_router_rows(router, NULL, 0, &rows, &length));
    EXPECT(rows == 0 && length == 0);
    OK(dmodc_release(router));
    OK(dmodc_release(none));
    OK(dmodc_release(builder));
    FAILS(BAD_HANDLE, dmodc_release(builder));
    FAILS(BAD_HANDLE, dmodc_builder_add_cable(builder, &(dmodc_cable){.guid_a = 1, .guid_b = 2, .port_a = 1, .port_b = 1}));
}

static void parts(void) {
    dmodc_counts counts;
    dmodc_switch found;
    dmodc_node node;
    dmodc_cable cable;
    char name[32];
    uint32_t index = 99;
    OK(dmodc_fabric_counts(fabric, &counts));
    EXPECT(counts.switches == LEAVES + SPINES && counts.nodes == LEAVES * HOSTS);
    EXPECT(counts.cables == LEAVES * SPINES && counts.row_length == 200 + LEAVES);
    FAILS(BAD_ARGUMENT, dmodc_fabric_counts(fabric, NULL));
    OK(dmodc_fabric_find_switch(fabric, LEAF(1), &index));
    FAILS(NOT_FOUND, dmodc_fabric_find_switch(fabric, 4711, &index));
    OK(dmodc_fabric_switch(fabric, index, &found));
    EXPECT(found.guid == LEAF(1) && found.lid == 201 && found.ports == 36);
    FAILS(NOT_FOUND, dmodc_fabric_switch(fabric, counts.switches, &found));
    FAILS(TOO_SMALL, dmodc_fabric_switch_name(fabric, index, NULL, 0, &count));
    EXPECT(count == sizeof "leaf \xc3\xa4");
    OK(dmodc_fabric_switch_name(fabric, index, name, sizeof name, &count));
    EXPECT(strcmp(name, "leaf \xc3\xa4") == 0);
    OK(dmodc_fabric_node(fabric, 3, &node));
    EXPECT(node.guid == HOST(1, 1) + 0x8000 && node.adapter_guid == HOST(1, 1) && node.switch_guid == LEAF(1));
    EXPECT(node.lid == 4 && node.lmc == 0 && node.port == 1 && node.switch_port == 2);
    FAILS(NOT_FOUND, dmodc_fabric_node(fabric, UINT32_MAX, &node));
    OK(dmodc_fabric_node_name(fabric, 3, name, sizeof name, &count));
    EXPECT(strcmp(name, "host") == 0 && count == 5);
    OK(dmodc_fabric_cable(fabric, 0, &cable));
    EXPECT(cable.guid_a != 0 && cable.guid_b != 0 && cable.port_a != 0 && cable.port_b != 0);
    FAILS(NOT_FOUND, dmodc_fabric_cable(fabric, counts.cables, &cable));

    /* Written and read again, it is the same fabric. */
    FAILS(TOO_SMALL, dmodc_fabric_write(fabric, NULL, 0, &count));
    uint8_t *text = malloc(count);
    OK(dmodc_fabric_write(fabric, text, count, &count));
    dmodc_fabric again;
    dmodc_counts same;
    OK(dmodc_fabric_read(text, count, &again));
    OK(dmodc_fabric_counts(again, &same));
    EXPECT(memcmp(&counts, &same, sizeof same) == 0);
    FAILS(BAD_FABRIC, dmodc_fabric_read((const uint8_t *)"nonsense", 8, &again));
    FAILS(BAD_ARGUMENT, dmodc_fabric_read(NULL, 8, &again));
    FAILS(BAD_ARGUMENT, dmodc_fabric_read(text, SIZE_MAX, &again));
    OK(dmodc_release(again));
    free(text);
}

static void routers(void) {
    dmodc_verdict verdict;
    dmodc_check check;
    uint8_t ports[1000], all[4000];
    uint64_t leaves[LEAVES];
    char digest[100], second[100];
    size_t rows, length;
    dmodc_router by_paper;
    OK(dmodc_router_new(fabric, 0, &router));
    FAILS(BAD_HANDLE, dmodc_router_new(router, 0, &by_paper));
    FAILS(BAD_HANDLE, dmodc_router_new(fabric, fabric, &by_paper));
    OK(dmodc_router_leaves(router, leaves, LEAVES, &count));
    EXPECT(count == LEAVES && leaves[0] == LEAF(0));
    FAILS(TOO_SMALL, dmodc_router_leaves(router, leaves, LEAVES - 1, &count));
    OK(dmodc_router_row(router, LEAF(0), ports, sizeof ports, &count));
    EXPECT(count == 200 + LEAVES && ports[1] == 1 && ports[2] == 2 && ports[200] == 0);
    EXPECT(ports[3] > HOSTS && ports[3] <= HOSTS + SPINES && ports[0] == DMODC_NO_ROUTE);
    FAILS(NOT_FOUND, dmodc_router_row(router, HOST(0, 0), ports, sizeof ports, &count));
    FAILS(TOO_SMALL, dmodc_router_row(router, LEAF(0), NULL, 0, &count));
    EXPECT(count == 200 + LEAVES);
    FAILS(TOO_SMALL, dmodc_router_rows(router, NULL, 0, &rows, &length));
    OK(dmodc_router_rows(router, all, sizeof all, &rows, &length));
    EXPECT(rows == LEAVES + SPINES && length == 200 + LEAVES);
    EXPECT(memcmp(all + SPINES * length, ports, length) == 0);
    OK(dmodc_router_alternatives(router, LEAF(0), 3, ports, sizeof ports, &count));
    EXPECT(count == SPINES);
    OK(dmodc_router_alternatives(router, LEAF(0), 1, ports, sizeof ports, &count));
    EXPECT(count == 1 && ports[0] == 1);
    FAILS(NOT_FOUND, dmodc_router_alternatives(router, LEAF(0), 4711, ports, sizeof ports, &count));
    OK(dmodc_router_verdict(router, &verdict));
    EXPECT(verdict.valid == 1 && verdict.pairs == 56 && verdict.delivered == 56);
    OK(dmodc_router_check(router, &check));
    EXPECT(check.deadlock_free == 1 && check.loops == 0 && check.up_down_violations == 0);
    EXPECT(memcmp(&check.verdict, &verdict, sizeof verdict) == 0);
    OK(dmodc_router_digest(router, digest, sizeof digest, &count));
    EXPECT(count == strlen(digest) + 1);

    OK(dmodc_settings_new(&settings));
    OK(dmodc_settings_set_engine(settings, DMODC_ENGINE_PAPER));
    FAILS(BAD_ARGUMENT, dmodc_settings_set_engine(settings, 3));
    OK(dmodc_router_new(fabric, settings, &by_paper));
    OK(dmodc_router_digest(by_paper, second, sizeof second, &count));
    EXPECT(strcmp(digest, second) == 0); /* The fabric is regular. */
    OK(dmodc_release(by_paper));
}

static void changes(void) {
    dmodc_change cable = {.guid = LEAF(0), .port = HOSTS + 1, .works = 0}, unknown = {.guid = 4711};
    dmodc_change both[2] = {cable, {.guid = SPINE(1), .works = 0}}, failed[4];
    dmodc_delta delta, later;
    dmodc_plan plan;
    dmodc_entry entries[1000];
    dmodc_write write;
    size_t switches, writes, planned = 0;
    uint64_t changed, sum = 0, guid;
    uint32_t rounds, last = 1;
    FAILS(NOT_FOUND, dmodc_router_apply(router, &unknown, 1, &delta));
    FAILS(BAD_ARGUMENT, dmodc_router_apply(router, NULL, 1, &delta));
    FAILS(BAD_ARGUMENT, dmodc_router_apply(router, both, SIZE_MAX / 8, &delta));
    FAILS(BAD_ARGUMENT, dmodc_router_apply(router, &(dmodc_change){.guid = LEAF(0), .works = 2}, 1, &delta));
    FAILS(NOT_FOUND, dmodc_router_apply(router, &(dmodc_change){.guid = LEAF(0), .port = 30}, 1, NULL));
    OK(dmodc_router_failed(router, NULL, 0, &count));
    EXPECT(count == 0);
    OK(dmodc_router_apply(router, both, 2, &delta));
    OK(dmodc_router_failed(router, failed, 4, &count));
    EXPECT(count == 2 && failed[0].guid == SPINE(1) && failed[0].port == 0 && failed[0].works == 0);
    OK(dmodc_delta_counts(delta, &switches, &changed));
    EXPECT(switches > 1 && changed > switches);
    for (size_t i = 0; i < switches; i++) {
        OK(dmodc_delta_entries(delta, i, &guid, entries, 1000, &count));
        sum += count;
        for (size_t j = 0; j < count; j++) EXPECT(entries[j].old_port != entries[j].new_port);
    }
    EXPECT(sum == changed);
    FAILS(NOT_FOUND, dmodc_delta_entries(delta, switches, &guid, entries, 1000, &count));
    FAILS(TOO_SMALL, dmodc_delta_entries(delta, 0, &guid, entries, 0, &count));
    OK(dmodc_plan_new(router, delta, 0, &plan));
    OK(dmodc_plan_counts(plan, &rounds, &writes));
    for (size_t i = 0; i < writes; i++) {
        OK(dmodc_plan_write(plan, i, &write, entries, 1000, &count));
        EXPECT(write.round >= last && write.round <= rounds);
        last = write.round;
        planned += count;
        for (size_t j = 0; j < count; j++) EXPECT(entries[j].lid / 64 == write.block);
    }
    EXPECT(planned <= changed && planned > 0);
    FAILS(NOT_FOUND, dmodc_plan_write(plan, writes, &write, entries, 1000, &count));
    /* The same again changes nothing, and the first delta is then not the last one. */
    OK(dmodc_router_apply(router, both, 2, &later));
    OK(dmodc_delta_counts(later, &switches, &changed));
    EXPECT(switches == 0 && changed == 0);
    FAILS(BAD_ARGUMENT, dmodc_plan_new(router, delta, 0, &plan));
    both[0].works = both[1].works = 1;
    OK(dmodc_router_apply(router, both, 2, NULL));
    OK(dmodc_release(later));
    OK(dmodc_release(plan));
    OK(dmodc_release(delta));
}

/* A leaf is added: the new router keeps the numbers, and the difference has the new rows. */
static void growth(void) {
    dmodc_fabric larger = small_fabric(LEAVES + 1), reference, whole;
    dmodc_router grown;
    dmodc_delta delta;
    dmodc_counts counts;
    dmodc_entry entries[1000];
    uint64_t guid, changed, leaves[] = {LEAF(0), LEAF(1), LEAF(2), LEAF(3), LEAF(4)}, roots[] = {SPINE(0), SPINE(1), SPINE(2)};
    size_t switches;
    OK(dmodc_settings_set_lasting(settings, 1));
    FAILS(BAD_ARGUMENT, dmodc_settings_set_lasting(settings, 2));
    FAILS(TOO_SMALL, dmodc_router_save_orders(router, NULL, 0, &count));
    uint8_t *orders = malloc(count);
    OK(dmodc_router_save_orders(router, orders, count, &count));
    OK(dmodc_settings_set_orders(settings, orders, count));
    FAILS(BAD_ARGUMENT, dmodc_settings_set_orders(settings, (const uint8_t *)"0x", 2));
    free(orders);
    OK(dmodc_router_fabric(router, &reference));
    OK(dmodc_settings_set_engine(settings, DMODC_ENGINE_STABLE));
    OK(dmodc_settings_set_reference(settings, reference));
    FAILS(BAD_HANDLE, dmodc_settings_set_reference(settings, router));
    OK(dmodc_release(reference));
    OK(dmodc_router_new(larger, settings, &grown));
    OK(dmodc_router_compare(router, grown, &delta));
    OK(dmodc_delta_counts(delta, &switches, &changed));
    /* Every switch gets entries for the new leaf and its hosts, and nothing else moves. */
    EXPECT(switches == LEAVES + 1 + SPINES);
    for (size_t i = 0; i < switches; i++) {
        OK(dmodc_delta_entries(delta, i, &guid, entries, 1000, &count));
        for (size_t j = 0; guid != LEAF(LEAVES) && j < count; j++) EXPECT(entries[j].old_port == DMODC_NO_ROUTE);
    }
    FAILS(BAD_ARGUMENT, dmodc_plan_new(grown, delta, 0, &reference));
    OK(dmodc_release(delta));
    OK(dmodc_router_compare(grown, grown, &delta));
    OK(dmodc_delta_counts(delta, &switches, &changed));
    EXPECT(changed == 0);
    OK(dmodc_release(delta));
    OK(dmodc_release(grown));

    /* A part that only the reference has has failed, and can work again. */
    OK(dmodc_settings_set_reference(settings, larger));
    OK(dmodc_settings_set_orders(settings, NULL, 0));
    OK(dmodc_router_new(fabric, settings, &grown));
    FAILS(TOO_SMALL, dmodc_router_failed(grown, NULL, 0, &count));
    EXPECT(count > 0);
    OK(dmodc_router_fabric(grown, &whole));
    OK(dmodc_fabric_counts(whole, &counts));
    EXPECT(counts.switches == LEAVES + 1 + SPINES);
    OK(dmodc_release(whole));
    OK(dmodc_release(grown));

    /* Leaves and roots by hand. */
    OK(dmodc_settings_set_reference(settings, 0));
    OK(dmodc_router_new(fabric, settings, &grown));
    OK(dmodc_release(grown));
    OK(dmodc_settings_set_engine(settings, DMODC_ENGINE_DMODC));
    OK(dmodc_settings_set_leaves(settings, leaves, 5));
    OK(dmodc_settings_set_roots(settings, roots, 3));
    OK(dmodc_router_new(fabric, settings, &grown));
    OK(dmodc_release(grown));
    OK(dmodc_settings_set_leaves(settings, NULL, 0));
    OK(dmodc_settings_set_roots(settings, leaves + 4, 1));
    FAILS(NOT_FOUND, dmodc_router_new(fabric, settings, &grown));
    OK(dmodc_settings_set_roots(settings, NULL, 0));
    OK(dmodc_settings_set_least_nodes(settings, HOSTS + 1));
    FAILS(NOT_FOUND, dmodc_router_new(fabric, settings, &grown));
    OK(dmodc_settings_set_least_nodes(settings, HOSTS));
    OK(dmodc_settings_set_reference(settings, larger));
    FAILS(BAD_ARGUMENT, dmodc_router_new(fabric, settings, &grown));
    OK(dmodc_release(larger));
}

int main(void) {
    library();
    records();
    parts();
    routers();
    changes();
    growth();
    OK(dmodc_release(settings));
    OK(dmodc_release(router));
    OK(dmodc_release(fabric));
    EXPECT(dmodc_object_count() == 0);
    puts("every function works");
    return 0;
}
