// A stand-in for a GPU: it runs the kernels of this crate on the CPU, one thread at a time, so that they are tested without a
// device.
//
// Every thread of a block is a fiber with a stack of its own. A fiber runs until it waits for others, at __syncthreads or in an
// exchange between the lanes of a warp. The stand-in is stricter than a device: if a lane of a warp is missing in an exchange, if
// fibers wait for ever, or if memory next to an allocation is written, the test fails.
//
// The source of the kernels follows after this file.

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__

struct Dimensions {
    unsigned x, y, z;
};
struct uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
static uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

static Dimensions threadIdx, blockIdx, blockDim, gridDim;
// Memory between bytes that nobody may write.
constexpr size_t GUARD = 256;
constexpr unsigned char UNTOUCHED = 0xa5;

// As many bytes as the threads of a block may share, and a guard after them.
uint4 shared_memory[((227 << 10) + GUARD) / 16];

[[noreturn]] static void fail(const char *why) {
    fprintf(stderr, "emulator: %s (block %u %u %u, thread %u)\n", why, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x);
    abort();
}

namespace fibers {
constexpr unsigned MOST = 1024, STACK = 64 << 10;

struct Fiber {
    ucontext_t start;
    jmp_buf place;
    bool is_started, is_done;
};
struct Barrier {
    unsigned members, arrived, round;
};

static Fiber all[MOST];
static char *stacks;
static jmp_buf scheduler;
static Barrier block, warps[MOST / 32];
static unsigned long long slots[MOST];
static unsigned long long progress;
static void (*body)();

static void yield() {
    if (!_setjmp(all[threadIdx.x].place)) {
        _longjmp(scheduler, 1);
    }
}

static void release(Barrier &barrier) {
    barrier.arrived = 0;
    barrier.round++;
    progress++;
}

static void wait(Barrier &barrier) {
    unsigned round = barrier.round;
    if (++barrier.arrived == barrier.members) {
        release(barrier);
    }
    while (barrier.round == round) {
        yield();
    }
}

static void leave(Barrier &barrier) {
    barrier.members--;
    if (barrier.members && barrier.arrived == barrier.members) {
        release(barrier);
    }
}

static void run_body() {
    body();
    all[threadIdx.x].is_done = true;
    progress++;
    leave(block);
    leave(warps[threadIdx.x / 32]);
    _longjmp(scheduler, 1);
}

// Every lane of the warp gives a value, and gets those of all.
static unsigned long long *exchange(unsigned long long value) {
    Barrier &warp = warps[threadIdx.x / 32];
    if (warp.members != 32) {
        fail("a lane is missing in an exchange");
    }
    slots[threadIdx.x] = value;
    wait(warp);
    return slots + threadIdx.x / 32 * 32;
}

static void run_block(unsigned threads) {
    if (!stacks) {
        stacks = (char *)malloc((size_t)MOST * STACK);
    }
    block = {threads, 0, 0};
    for (unsigned at = 0; at < threads; at++) {
        Fiber &fiber = all[at];
        fiber.is_started = fiber.is_done = false;
        getcontext(&fiber.start);
        fiber.start.uc_stack.ss_sp = stacks + (size_t)at * STACK;
        fiber.start.uc_stack.ss_size = STACK;
        makecontext(&fiber.start, run_body, 0);
        warps[at / 32] = {32, 0, 0};
    }
    static volatile unsigned next, left;
    static unsigned long long before;
    do {
        before = progress;
        left = 0;
        for (next = 0; next < threads; next = next + 1) {
            Fiber &fiber = all[next];
            if (fiber.is_done) {
                continue;
            }
            left = left + 1;
            threadIdx = {next, 0, 0};
            if (!_setjmp(scheduler)) {
                if (fiber.is_started) {
                    _longjmp(fiber.place, 1);
                }
                fiber.is_started = true;
                setcontext(&fiber.start);
            }
        }
        if (left && progress == before) {
            fail("threads wait for ever");
        }
    } while (left);
}
} // namespace fibers

static void __syncthreads() { fibers::wait(fibers::block); }
static void __syncwarp() { fibers::wait(fibers::warps[threadIdx.x / 32]); }
static unsigned __ballot_sync(unsigned, bool bit) {
    unsigned long long *all = fibers::exchange(bit);
    unsigned ballot = 0;
    for (unsigned at = 0; at < 32; at++) {
        ballot |= (unsigned)all[at] << at;
    }
    __syncwarp();
    return ballot;
}
static bool __any_sync(unsigned mask, bool bit) { return __ballot_sync(mask, bit) != 0; }
template <class T> static T __shfl_sync(unsigned, T value, unsigned from) {
    T given = (T)fibers::exchange(value)[from & 31];
    __syncwarp();
    return given;
}
template <class T> static T __shfl_xor_sync(unsigned mask, T value, unsigned bits) {
    return __shfl_sync(mask, value, (threadIdx.x & 31) ^ bits);
}
static int __popc(unsigned word) { return __builtin_popcount(word); }
static int __popcll(unsigned long long word) { return __builtin_popcountll(word); }
static int __clz(unsigned word) { return word ? __builtin_clz(word) : 32; }
static unsigned __brev(unsigned word) {
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        reversed |= (word >> bit & 1) << (31 - bit);
    }
    return reversed;
}
static unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned __int128)a * b >> 64;
}
static unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
// Four bytes of eight, each chosen by four bits.
static unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    unsigned long long both = (unsigned long long)high << 32 | low;
    unsigned chosen = 0;
    for (unsigned byte = 0; byte < 4; byte++) {
        chosen |= (unsigned)(both >> 8 * (selector >> 4 * byte & 7) & 255) << 8 * byte;
    }
    return chosen;
}
template <class T> static T atomicAdd(T *to, T value) {
    T before = *to;
    *to += value;
    return before;
}
template <class T> static void atomicOr(T *to, T value) { *to |= value; }
template <class T> static void atomicAnd(T *to, T value) { *to &= value; }
template <class T> static void atomicMax(T *to, T value) { *to = *to < value ? value : *to; }
template <class T> static void __stcs(T *to, T value) { *to = value; }
template <class T> static T min(T a, T b) { return a < b ? a : b; }
template <class T> static T max(T a, T b) { return a < b ? b : a; }

extern "C" void *emulator_allocate(size_t bytes) {
    size_t all = (bytes + 255) / 256 * 256 + 2 * GUARD;
    unsigned char *memory = (unsigned char *)aligned_alloc(256, all);
    memset(memory, UNTOUCHED, all);
    *(size_t *)memory = bytes;
    return memory + GUARD;
}

extern "C" void emulator_release(void *address) {
    unsigned char *start = (unsigned char *)address - GUARD;
    size_t bytes = *(size_t *)start;
    for (size_t at = 0; at < GUARD; at++) {
        bool is_before = at < sizeof(size_t) || start[at] == UNTOUCHED;
        if (!is_before || start[GUARD + bytes + at] != UNTOUCHED) {
            fail("a kernel wrote outside of its memory");
        }
    }
    free(start);
}
