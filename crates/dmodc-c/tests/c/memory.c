/* Tables that do not fit into memory are an error, and later calls work. */
#define _DEFAULT_SOURCE
#include "check.h"
#include <sys/resource.h>
#include <unistd.h>

/* Returns the address space that the process has, in bytes. */
static rlim_t used(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

int main(void) {
    enum { MANY_LEAVES = 192, MANY_HOSTS = 36, ABOVE = 18 };
    dmodc_builder builder;
    dmodc_fabric fabric, small = small_fabric(LEAVES);
    dmodc_router router;
    /* With one thread, the process has no more stacks and arenas later than now. */
    OK(dmodc_set_threads(1));
    OK(dmodc_builder_new(&builder));
    for (int s = 0; s < ABOVE; s++) OK(dmodc_builder_add_switch(builder, &(dmodc_switch){.guid = SPINE(s) + 0x10000, .ports = MANY_LEAVES}, NULL));
    for (int l = 0; l < MANY_LEAVES; l++) {
        dmodc_switch leaf = {.guid = LEAF(l) + 0x20000, .ports = MANY_HOSTS + ABOVE};
        OK(dmodc_builder_add_switch(builder, &leaf, NULL));
        for (int h = 0; h < MANY_HOSTS; h++) {
            uint64_t guid = 0x100000 + (uint64_t)(l * MANY_HOSTS + h);
            /* Each node has 128 LIDs, so there are many columns. */
            dmodc_end_port end = {.adapter_guid = guid, .guid = guid, .port = 1, .lmc = 7};
            dmodc_cable cable = {.guid_a = guid, .port_a = 1, .guid_b = leaf.guid, .port_b = (uint8_t)(1 + h)};
            OK(dmodc_builder_add_adapter(builder, &(dmodc_adapter){.guid = guid, .ports = 1}, NULL));
            OK(dmodc_builder_add_end_port(builder, &end));
            OK(dmodc_builder_add_cable(builder, &cable));
        }
        for (int s = 0; s < ABOVE; s++) {
            dmodc_cable cable = {.guid_a = leaf.guid, .port_a = (uint8_t)(1 + MANY_HOSTS + s), .port_b = (uint8_t)(1 + l)};
            cable.guid_b = SPINE(s) + 0x10000;
            OK(dmodc_builder_add_cable(builder, &cable));
        }
    }
    OK(dmodc_builder_finish(builder, &fabric));
    OK(dmodc_release(builder));
    struct rlimit limit;
    EXPECT(getrlimit(RLIMIT_AS, &limit) == 0);
    rlim_t before = limit.rlim_cur;
    /* The tables have 186 MB and there are two of them; everything else about this fabric has less than 100 MB. */
    limit.rlim_cur = used() + (150u << 20);
    EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
    for (int i = 0; i < 3; i++) FAILS(NO_MEMORY, dmodc_router_new(fabric, 0, &router));
    OK(dmodc_router_new(small, 0, &router));
    OK(dmodc_release(router));
    limit.rlim_cur = before;
    EXPECT(setrlimit(RLIMIT_AS, &limit) == 0);
    OK(dmodc_router_new(fabric, 0, &router));
    OK(dmodc_release(router));
    OK(dmodc_release(fabric));
    OK(dmodc_release(small));
    puts("a lack of memory is an error");
    return 0;
}
