// How the stand-in starts kernels. The source of the kernels stands before this file.

static Arguments launched;
static void (*launched_kernel)(Arguments);

static void run_launched() { launched_kernel(launched); }

extern "C" void emulator_launch(void (*kernel)(Arguments), const unsigned *blocks, unsigned threads, const Arguments *arguments) {
    launched = *arguments;
    launched_kernel = kernel;
    fibers::body = run_launched;
    blockDim = {threads, 1, 1};
    gridDim = {blocks[0], blocks[1], blocks[2]};
    for (unsigned z = 0; z < blocks[2]; z++) {
        for (unsigned y = 0; y < blocks[1]; y++) {
            for (unsigned x = 0; x < blocks[0]; x++) {
                blockIdx = {x, y, z};
                memset(shared_memory, 0xa5, 112 << 10);
                fibers::run_block(threads);
            }
        }
    }
}
