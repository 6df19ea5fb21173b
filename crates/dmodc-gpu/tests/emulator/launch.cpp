// How the stand-in starts kernels. The source of the kernels stands before this file.

// Room for the arguments of any kernel. A kernel takes one structure by value, and one that is larger does not disturb it: only
// its beginning is read.
struct AnyArguments {
    u64 words[96];
};

static AnyArguments launched;
static void (*launched_kernel)(AnyArguments);

static void run_launched() { launched_kernel(launched); }

struct LaunchedSize {
    unsigned blocks[3], threads, shared_bytes;
};

extern "C" void emulator_launch(void (*kernel)(AnyArguments), const LaunchedSize *size, const u64 *words, size_t count) {
    if (count > sizeof(AnyArguments) / 8) {
        fail("there is no room for the arguments");
    }
    memcpy(launched.words, words, count * 8);
    launched_kernel = kernel;
    fibers::body = run_launched;
    const unsigned *blocks = size->blocks;
    blockDim = {size->threads, 1, 1};
    gridDim = {blocks[0], blocks[1], blocks[2]};
    for (unsigned z = 0; z < blocks[2]; z++) {
        for (unsigned y = 0; y < blocks[1]; y++) {
            for (unsigned x = 0; x < blocks[0]; x++) {
                blockIdx = {x, y, z};
                memset(shared_memory, UNTOUCHED, size->shared_bytes + GUARD);
                fibers::run_block(size->threads);
                for (size_t at = 0; at < GUARD; at++) {
                    if (((unsigned char *)shared_memory)[size->shared_bytes + at] != UNTOUCHED) {
                        fail("a kernel wrote outside of its shared memory");
                    }
                }
            }
        }
    }
}

// The bytes that the arrays of a kernel take in shared memory, if the switch has the most groups; 0 for other kernels. The host
// computes the same from the sizes of a fabric, so the two must agree.
static size_t bytes_until(const void *end) { return (const char *)end - (const char *)shared_memory; }

static bool is_same(const char *one, const char *other) { return strcmp(one, other) == 0; }

// For the kernel `routes`: there may be room for the lists of switches with some number of groups.
static size_t route_bytes(Arguments a) {
    size_t without_lists = bytes_until(block_view(a, a.most_groups).lists);
    u32 asked = a.route_bytes;
    a.route_bytes = NONE;
    for (u32 groups = 0; groups <= a.most_groups; groups++) {
        BlockView view = block_view(a, groups);
        if (bytes_until(view.lists + WARPS * 32 * view.list_words) == asked) {
            return asked < without_lists ? without_lists : asked;
        }
    }
    return without_lists;
}

extern "C" size_t emulator_shared_bytes(const char *kernel, const u64 *words) {
    const Arguments &a = *(const Arguments *)words;
    if (is_same(kernel, "routes")) {
        return route_bytes(a);
    }
    BlockView view = block_view(a, a.most_groups);
    if (is_same(kernel, "reference_closer") || is_same(kernel, "losses") || is_same(kernel, "stable_routes")) {
        return bytes_until(reference_switch(*(const StableArguments *)words, view, 0, {0, 0, 0, 0}, 0).ports + 256);
    }
    const JudgeArguments &j = *(const JudgeArguments *)words;
    if (is_same(kernel, "update")) {
        return bytes_until(update_view(j, view).blocks[3] + j.block_words);
    }
    if (is_same(kernel, "subtrees") || is_same(kernel, "moved")) {
        return bytes_until(sweep_view().waiting + a.switches * j.group_columns / 2);
    }
    return 0;
}
