/* What the test programs share: calls that must succeed or fail, and a small fabric. */
#ifndef CHECK_H
#define CHECK_H

#include <dmodc_engine.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition) expect(condition, __FILE__, __LINE__, #condition)
#define OK(call) expect_status(call, DMODC_STATUS_OK, __FILE__, __LINE__, #call)
#define FAILS(status, call) expect_status(call, DMODC_STATUS_##status, __FILE__, __LINE__, #call)

static inline void expect(int is_so, const char *file, int line, const char *what) {
    if (is_so) return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    exit(1);
}

static inline void expect_status(dmodc_status found, dmodc_status wanted, const char *file, int line, const char *what) {
    char why[300] = "";
    if (found != DMODC_STATUS_OK) {
        dmodc_last_error(why, sizeof why);
        expect(why[0] != 0, file, line, "an error has a message");
    }
    if (found == wanted) return;
    fprintf(stderr, "%s:%d: %s\n  found %s, wanted %s: %s\n", file, line, what, dmodc_status_text(found),
            dmodc_status_text(wanted), why);
    exit(1);
}

/* The fabric: every leaf has hosts in the ports from 1 on, then a cable to every spine. */
enum { LEAVES = 4, SPINES = 3, HOSTS = 2 };
#define LEAF(l) ((uint64_t)0x100 + (uint64_t)(l))
#define SPINE(s) ((uint64_t)0x200 + (uint64_t)(s))
#define HOST(l, h) ((uint64_t)0x1000 + (uint64_t)((l) * HOSTS + (h)))

/* Adds the records of the fabric, with this number of leaves. */
static inline void add_records(dmodc_builder builder, int leaves) {
    for (int s = 0; s < SPINES; s++) {
        dmodc_switch spine = {.guid = SPINE(s), .lid = 100 + (uint32_t)s, .ports = 36};
        OK(dmodc_builder_add_switch(builder, &spine, "spine"));
    }
    for (int l = 0; l < leaves; l++) {
        dmodc_switch leaf = {.guid = LEAF(l), .lid = 200 + (uint32_t)l, .ports = 36};
        OK(dmodc_builder_add_switch(builder, &leaf, "leaf \xc3\xa4"));
        for (int h = 0; h < HOSTS; h++) {
            dmodc_adapter adapter = {.guid = HOST(l, h), .kind = DMODC_ADAPTER_KIND_HOST, .ports = 2};
            dmodc_end_port end = {.adapter_guid = HOST(l, h), .guid = HOST(l, h) + 0x8000, .port = 1};
            dmodc_cable cable = {.guid_a = HOST(l, h), .port_a = 1, .guid_b = LEAF(l), .port_b = (uint8_t)(1 + h)};
            end.lid = 1 + (uint32_t)(l * HOSTS + h);
            OK(dmodc_builder_add_adapter(builder, &adapter, "host"));
            OK(dmodc_builder_add_end_port(builder, &end));
            OK(dmodc_builder_add_cable(builder, &cable));
        }
        for (int s = 0; s < SPINES; s++) {
            dmodc_cable cable = {.guid_a = LEAF(l), .port_a = (uint8_t)(1 + HOSTS + s)};
            cable.guid_b = SPINE(s);
            cable.port_b = (uint8_t)(1 + l);
            OK(dmodc_builder_add_cable(builder, &cable));
        }
    }
}

static inline dmodc_fabric small_fabric(int leaves) {
    dmodc_builder builder = 0;
    dmodc_fabric fabric = 0;
    OK(dmodc_builder_new(&builder));
    add_records(builder, leaves);
    OK(dmodc_builder_finish(builder, &fabric));
    OK(dmodc_release(builder));
    return fabric;
}

#endif
