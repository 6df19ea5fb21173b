/* 64 threads with little stack use one router together, and each a router of its own. Then a child of the process does, unless there is a
 * second argument: what belongs to threads that a child does not have is lost, and valgrind would say so. The first argument is a
 * number of rounds. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64 };
static int rounds = 20;
static dmodc_fabric fabric;
static dmodc_router shared;
static char healthy[100];

static void *work(void *argument) {
    int number = *(int *)argument;
    dmodc_router own;
    dmodc_delta delta;
    dmodc_verdict verdict;
    dmodc_check check;
    uint8_t row[300];
    char digest[100];
    size_t count, switches;
    uint64_t changed;
    OK(dmodc_router_new(fabric, 0, &own));
    for (int i = 0; i < rounds; i++) {
        dmodc_change change = {.guid = LEAF(number % LEAVES), .port = (uint8_t)(1 + HOSTS + i % SPINES)};
        dmodc_router which = i % 2 ? own : shared;
        OK(dmodc_router_apply(which, &change, 1, &delta));
        OK(dmodc_delta_counts(delta, &switches, &changed));
        OK(dmodc_release(delta));
        OK(dmodc_router_row(shared, SPINE(i % SPINES), row, sizeof row, &count));
        OK(dmodc_router_verdict(shared, &verdict));
        EXPECT(verdict.pairs == LEAVES * HOSTS * (LEAVES * HOSTS - 1));
        OK(dmodc_router_check(own, &check));
        EXPECT(check.deadlock_free == 1 && check.loops == 0);
        FAILS(NOT_FOUND, dmodc_router_row(own, (uint64_t)number + 1, row, sizeof row, &count));
        dmodc_last_error(digest, sizeof digest);
        /* The message is that of this thread. */
        char wanted[40];
        snprintf(wanted, sizeof wanted, "0x%016x", (unsigned)number + 1);
        EXPECT(strstr(digest, wanted) != NULL);
        change.works = 1;
        OK(dmodc_router_apply(which, &change, 1, NULL));
    }
    OK(dmodc_router_digest(own, digest, sizeof digest, &count));
    EXPECT(strcmp(digest, healthy) == 0);
    OK(dmodc_release(own));
    return NULL;
}

static void run(size_t stack) {
    /* Some processors need more than the least that is asked for here. */
    if (stack < (size_t)PTHREAD_STACK_MIN) stack = (size_t)PTHREAD_STACK_MIN;
    pthread_t threads[THREADS];
    int numbers[THREADS];
    char digest[100];
    size_t count;
    pthread_attr_t attributes;
    EXPECT(pthread_attr_init(&attributes) == 0);
    EXPECT(pthread_attr_setstacksize(&attributes, stack) == 0);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        EXPECT(pthread_create(&threads[i], &attributes, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    pthread_attr_destroy(&attributes);
    /* Two threads may have let the same cable fail, and one has repaired it before the other; now nothing is broken. */
    for (int l = 0; l < LEAVES; l++)
        for (int s = 0; s < SPINES; s++)
            OK(dmodc_router_apply(shared, &(dmodc_change){.guid = LEAF(l), .port = (uint8_t)(1 + HOSTS + s), .works = 1}, 1, NULL));
    OK(dmodc_router_digest(shared, digest, sizeof digest, &count));
    EXPECT(strcmp(digest, healthy) == 0);
}

int main(int argc, char **argv) {
    size_t count;
    if (argc > 1) rounds = atoi(argv[1]);
    fabric = small_fabric(LEAVES);
    OK(dmodc_router_new(fabric, 0, &shared));
    OK(dmodc_router_digest(shared, healthy, sizeof healthy, &count));
    run(256 * 1024);
    run(64 * 1024);
    if (argc <= 2) {
        pid_t child = fork();
        EXPECT(child >= 0);
        if (child == 0) {
            run(256 * 1024);
            OK(dmodc_release(shared));
            OK(dmodc_release(fabric));
            EXPECT(dmodc_object_count() == 0);
            _exit(0);
        }
        int status = -1;
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    run(256 * 1024);
    OK(dmodc_release(shared));
    OK(dmodc_release(fabric));
    EXPECT(dmodc_object_count() == 0);
    puts("all threads agree");
    return 0;
}
