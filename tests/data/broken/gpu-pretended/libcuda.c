/* As much of NVIDIA's driver as is asked for before TensorFlow uses a GPU: two GPUs of compute
 * capability 3.0, and a driver of the time of CUDA 10.1. */

int cuInit(unsigned flags) { return 0; }

int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 10010;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 3 : 0; /* the major version; 76 is the minor one */
  return 0;
}
