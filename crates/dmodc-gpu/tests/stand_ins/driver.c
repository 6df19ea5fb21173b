// A stand-in for the driver of NVIDIA. It has the functions that are called and no others; a call of another one would end the test.
// Memory of the device is that of the process, and kernels do nothing. Each function has a line, so that tests can leave it out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long u64;

int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int error, const char **name) { *name = "CUDA_ERROR_OF_THE_STAND_IN"; return 0; }
int cuGetErrorString(int error, const char **text) { *text = "an error"; return 0; }
int cuInit(unsigned flags) { return 0; }
int cuDeviceGet(int *device, int at) { *device = 0; return 0; }
int cuDeviceGetAttribute(int *value, int at, int device) { *value = at == 75 ? MAJOR : at == 97 ? 227 << 10 : 0; return 0; }
int cuDeviceGetName(char *name, int bytes, int device) { snprintf(name, bytes, "a stand-in"); return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = (void *)8; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxGetCurrent(void **context) { *context = 0; return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSynchronize(void) { return 0; }
int cuStreamCreate(void **stream, unsigned flags) { *stream = (void *)16; return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuModuleLoadData(void **module, const void *image) { *module = (void *)24; return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { *function = (void *)32; return 0; }
int cuModuleUnload(void *module) { return 0; }
int cuFuncSetAttribute(void *function, int attribute, int value) { return 0; }
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads) { return 0; }
int cuMemAlloc_v2(u64 *address, size_t bytes) { *address = (u64)malloc(bytes); return 0; }
int cuMemFree_v2(u64 address) { free((void *)address); return 0; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) { *memory = malloc(bytes); return 0; }
int cuMemFreeHost(void *memory) { free(memory); return 0; }
int cuMemGetInfo_v2(size_t *available, size_t *all) { *available = *all = 1 << 30; return 0; }
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t bytes, void *stream) { memcpy((void *)to, from, bytes); return 0; }
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t bytes, void *stream) { memcpy(to, (void *)from, bytes); return 0; }
int cuMemsetD8Async(u64 at, unsigned char value, size_t bytes, void *stream) { memset((void *)at, value, bytes); return 0; }
