/* Prints the size of every record, which must never change. It is compiled as C and as C++. */
#include <dmodc_engine.h>
#include <stdio.h>

int main(void) {
    printf("%u", (unsigned)sizeof(dmodc_status));
    printf(" %u", (unsigned)sizeof(dmodc_switch));
    printf(" %u", (unsigned)sizeof(dmodc_adapter));
    printf(" %u", (unsigned)sizeof(dmodc_end_port));
    printf(" %u", (unsigned)sizeof(dmodc_cable));
    printf(" %u", (unsigned)sizeof(dmodc_node));
    printf(" %u", (unsigned)sizeof(dmodc_counts));
    printf(" %u", (unsigned)sizeof(dmodc_change));
    printf(" %u", (unsigned)sizeof(dmodc_entry));
    printf(" %u", (unsigned)sizeof(dmodc_write));
    printf(" %u", (unsigned)sizeof(dmodc_verdict));
    printf(" %u\n", (unsigned)sizeof(dmodc_check));
    return dmodc_version()[0] == 0;
}
