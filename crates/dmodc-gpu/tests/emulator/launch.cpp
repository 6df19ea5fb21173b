// How the stand-in starts kernels. The source of the kernels stands before this file.

// A kernel with its arguments, which are one structure.
template <class A> struct Launched {
    static inline A arguments;
    static inline void (*kernel)(A);

    static void run() { kernel(arguments); }

    static void set(const void *its_kernel, const void *its_arguments) {
        memcpy((void *)&arguments, its_arguments, sizeof(A));
        kernel = (void (*)(A))its_kernel;
        fibers::body = run;
    }
};

extern "C" void emulator_launch(const void *kernel, const unsigned *blocks, unsigned threads, const void *arguments, size_t words) {
    switch (words * 8) {
    case sizeof(Arguments): Launched<Arguments>::set(kernel, arguments); break;
    case sizeof(JudgeArguments): Launched<JudgeArguments>::set(kernel, arguments); break;
    default: fail("no kernel has arguments of this size");
    }
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
