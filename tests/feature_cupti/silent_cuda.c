/* A libcuda without a GPU, for a CUPTI that does not even list its chips where there is no driver. It knows
 * no device, and refuses what CUPTI asks of the driver's inside. */
#include <stddef.h>

enum { kEntries = 512 };

static int refuse(void) {
  return 1; /* CUDA_ERROR_INVALID_VALUE */
}

__attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 13050;
  return 0;
}
__attribute__((visibility("default"))) int cuDeviceGetCount(int* count) {
  *count = 0;
  return 0;
}
__attribute__((visibility("default"))) int cuDeviceGet(int* device, int index) {
  (void)device;
  (void)index;
  return 101; /* CUDA_ERROR_INVALID_DEVICE */
}
__attribute__((visibility("default"))) int cuDeviceGetPCIBusId(char* text, int size, int device) {
  (void)text;
  (void)size;
  (void)device;
  return 101;
}
__attribute__((visibility("default"))) int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)attribute;
  (void)device;
  *value = 0;
  return 0;
}
/* A table of the driver's own functions, its size first. */
__attribute__((visibility("default"))) int cuGetExportTable(const void** table, const void* id) {
  static size_t entries[kEntries];
  (void)id;
  entries[0] = sizeof entries;
  for (size_t i = 1; i < kEntries; ++i) entries[i] = (size_t)&refuse;
  *table = entries;
  return 0;
}
