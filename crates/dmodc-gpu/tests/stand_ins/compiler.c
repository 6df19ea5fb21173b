// A stand-in for NVRTC. STATUS is what it returns when it compiles: 0 if it accepts the program.
#include <stddef.h>
#include <string.h>

int nvrtcCreateProgram(void **program, const char *source, const char *name, int headers) { *program = (void *)8; return 0; }
int nvrtcCompileProgram(void *program, int options, const char *const *option) { return STATUS; }
int nvrtcDestroyProgram(void **program) { return 0; }
int nvrtcGetProgramLogSize(void *program, size_t *bytes) { *bytes = 6; return 0; }
int nvrtcGetProgramLog(void *program, char *log) { memcpy(log, "a log", 6); return 0; }
int nvrtcGetCUBINSize(void *program, size_t *bytes) { *bytes = 4; return 0; }
int nvrtcGetCUBIN(void *program, char *code) { memcpy(code, "code", 4); return 0; }
const char *nvrtcGetErrorString(int status) { return "NVRTC_ERROR_OF_THE_STAND_IN"; }
