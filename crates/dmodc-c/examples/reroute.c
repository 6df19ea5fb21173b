/* Routes a small fabric, lets a cable fail, and prints what changes:
 * cc -std=c99 reroute.c $(pkg-config --cflags --libs dmodc-engine) -o reroute && ./reroute */
#include <dmodc_engine.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAVES = 3, SPINES = 2, LEAF = 0x100, SPINE = 0x200, HOST = 0x1000 };

static void must(dmodc_status status) {
    char why[200];
    if (status == DMODC_STATUS_OK) return;
    dmodc_last_error(why, sizeof why);
    fprintf(stderr, "%s: %s\n", dmodc_status_text(status), why);
    exit(1);
}

/* Leaf l has a host in port 1, and cables from the ports after it to port l + 1 of every spine. */
static dmodc_fabric make_fabric(void) {
    dmodc_builder b;
    dmodc_fabric fabric;
    must(dmodc_builder_new(&b));
    for (int s = 0; s < SPINES; s++)
        must(dmodc_builder_add_switch(b, &(dmodc_switch){.guid = SPINE + s, .ports = LEAVES}, "spine"));
    for (int l = 0; l < LEAVES; l++) {
        uint64_t leaf = LEAF + l, host = HOST + l;
        must(dmodc_builder_add_switch(b, &(dmodc_switch){.guid = leaf, .ports = 1 + SPINES}, "leaf"));
        must(dmodc_builder_add_adapter(b, &(dmodc_adapter){.guid = host, .ports = 1}, "host"));
        must(dmodc_builder_add_end_port(b, &(dmodc_end_port){.adapter_guid = host, .guid = host, .lid = l + 1, .port = 1}));
        must(dmodc_builder_add_cable(b, &(dmodc_cable){.guid_a = host, .port_a = 1, .guid_b = leaf, .port_b = 1}));
        for (int s = 0; s < SPINES; s++)
            must(dmodc_builder_add_cable(b, &(dmodc_cable){.guid_a = leaf, .port_a = 2 + s, .guid_b = SPINE + s, .port_b = l + 1}));
    }
    must(dmodc_builder_finish(b, &fabric));
    must(dmodc_release(b));
    return fabric;
}

int main(void) {
    dmodc_fabric fabric = make_fabric();
    dmodc_router router;
    dmodc_delta delta;
    dmodc_verdict verdict;
    dmodc_entry entries[16];
    uint8_t ports[16];
    size_t switches, count;
    uint64_t changed, guid;
    must(dmodc_router_new(fabric, 0, &router));
    dmodc_change change = {.guid = LEAF, .port = 2, .works = 0};
    must(dmodc_router_apply(router, &change, 1, &delta));
    must(dmodc_delta_counts(delta, &switches, &changed));
    printf("%" PRIu64 " entries changed\n", changed);
    for (size_t i = 0; i < switches; i++) {
        must(dmodc_delta_entries(delta, i, &guid, entries, 16, &count));
        for (dmodc_entry *e = entries; e < entries + count; e++)
            printf("switch %#" PRIx64 ": LID %" PRIu32 " from port %d to %d\n", guid, e->lid, e->old_port, e->new_port);
    }
    must(dmodc_router_row(router, LEAF, ports, sizeof ports, &count));
    for (size_t lid = 1; lid < count; lid++) printf("%s%d", lid == 1 ? "the table of switch 0x100: " : " ", ports[lid]);
    must(dmodc_router_alternatives(router, LEAF + 1, 3, ports, sizeof ports, &count));
    printf("\nswitch 0x101 may send to LID 3 by %zu ports\n", count);
    must(dmodc_router_verdict(router, &verdict));
    printf("%" PRIu64 " of %" PRIu64 " pairs are delivered\n", verdict.delivered, verdict.pairs);
    must(dmodc_release(delta));
    must(dmodc_release(router));
    must(dmodc_release(fabric));
    return 0;
}
