/* A stand-in for NVIDIA's libcuda and NVML: answers come from the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

/* cuda.h */
int cuInit(unsigned flags) { (void)flags; return number("STUB_CUINIT", 0); }
int cuDeviceGetCount(int *count) { *count = number("STUB_GPUS", 0); return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, size, "Stub GPU %d", device);
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 75 ? number("STUB_MAJOR", 8) : number("STUB_MINOR", 6);
  return 0;
}

/* nvml.h */
typedef struct { unsigned long long total, free, used; } memory_t;
int nvmlInit_v2(void) { return number("STUB_NVML", 0); }
int nvmlSystemGetDriverVersion(char *text, unsigned size) {
  const char *version = getenv("STUB_DRIVER");
  snprintf(text, size, "%s", version ? version : "535.129.03");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned *count) { *count = number("STUB_GPUS", 0); return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
  *handle = (void *)(size_t)(index + 1);
  return 0;
}
int nvmlDeviceGetName(void *handle, char *name, unsigned size) {
  snprintf(name, size, "Stub GPU %d", (int)(size_t)handle - 1);
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) {
  (void)handle;
  *major = number("STUB_MAJOR", 8);
  *minor = number("STUB_MINOR", 6);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void *handle, memory_t *memory) {
  (void)handle;
  memory->total = 24ULL << 30;
  memory->free = memory->total;
  memory->used = 0;
  return 0;
}
int nvmlDeviceGetMigMode(void *handle, unsigned *now, unsigned *next) {
  (void)handle;
  *now = *next = (unsigned)number("STUB_MIG", 0);
  return getenv("STUB_MIG") ? 0 : 3; /* NVML_ERROR_NOT_SUPPORTED */
}
