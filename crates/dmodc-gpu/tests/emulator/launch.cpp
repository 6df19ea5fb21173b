// How the stand-in starts kernels. The source of the kernels stands before this file.

// Room for the arguments of any kernel. A kernel takes one structure by value, and one that is larger does not disturb it: only its
// beginning is read.
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
