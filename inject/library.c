#define _GNU_SOURCE
#include "library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NEIGHBOURS = 8 };

/* What is loaded already. Only gathered in the walk: no library may be opened inside it. */
struct loaded {
  char cupti[PATH_MAX];
  char neighbours[MOST_NEIGHBOURS][PATH_MAX]; /* folders of CUDA libraries, links resolved */
  unsigned neighbour_count;
  char runtime_major[8]; /* of libcudart: "12" */
};

static bool starts_with(const char* text, const char* beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void add_neighbour(struct loaded* found, const char* path) {
  char real[PATH_MAX];
  if (found->neighbour_count == MOST_NEIGHBOURS || realpath(path, real) == NULL) return;
  *strrchr(real, '/') = '\0';
  for (unsigned i = 0; i < found->neighbour_count; ++i)
    if (strcmp(found->neighbours[i], real) == 0) return;
  strcpy(found->neighbours[found->neighbour_count++], real);
}

static int look_at(struct dl_phdr_info* info, size_t size, void* user) {
  (void)size;
  struct loaded* found = user;
  const char* path = info->dlpi_name;
  const char* slash = path != NULL ? strrchr(path, '/') : NULL;
  if (slash == NULL || strlen(path) >= PATH_MAX) return 0;
  const char* name = slash + 1;
  if (starts_with(name, "libcupti") && found->cupti[0] == '\0') strcpy(found->cupti, path);
  /* PyTorch's own wheels rename theirs: libcudart-d0da41ae.so.11.0 */
  const bool runtime = starts_with(name, "libcudart");
  if (runtime || starts_with(name, "libcublas") || starts_with(name, "libnvrtc") ||
      starts_with(name, "libtorch_cuda"))
    add_neighbour(found, path);
  const char* version = runtime ? strstr(name, ".so.") : NULL;
  if (version != NULL && found->runtime_major[0] == '\0') {
    const size_t digits = strspn(version + 4, "0123456789");
    if (digits > 0 && digits < sizeof found->runtime_major) memcpy(found->runtime_major, version + 4, digits);
  }
  return 0;
}

static void* open_in(const char* folder, const char* below, char* path, size_t path_size) {
  char whole[PATH_MAX];
  const int length = snprintf(whole, sizeof whole, "%s/%s", folder, below);
  DIR* dir = length > 0 && length < (int)sizeof whole ? opendir(whole) : NULL;
  if (dir == NULL) return NULL;
  void* handle = NULL;
  const struct dirent* entry;
  while (handle == NULL && (entry = readdir(dir)) != NULL) {
    /* libcupti.so.12, libcupti-a1b2c3d4.so.11.7; not libcupti_static.a */
    if (!starts_with(entry->d_name, "libcupti.so") &&
        !(starts_with(entry->d_name, "libcupti-") && strstr(entry->d_name, ".so") != NULL))
      continue;
    const int n = snprintf(path, path_size, "%s/%s", whole, entry->d_name);
    if (n > 0 && (size_t)n < path_size) handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  closedir(dir);
  return handle;
}

static void* open_beside(const struct loaded* found, char* path, size_t path_size) {
  /* A toolkit keeps it in extras/, wheels of CUDA 11 and 12 in a folder of its own, wheels of 13 with the
   * rest. */
  static const char* const kBelow[] = {
      "../extras/CUPTI/lib64",
      "../../../extras/CUPTI/lib64",
      "../../cuda_cupti/lib",
      "../../nvidia/cuda_cupti/lib",
      ".",
  };
  for (unsigned i = 0; i < found->neighbour_count; ++i) {
    for (unsigned k = 0; k < sizeof kBelow / sizeof kBelow[0]; ++k) {
      void* handle = open_in(found->neighbours[i], kBelow[k], path, path_size);
      if (handle != NULL) return handle;
    }
  }
  return NULL;
}

/* Another generation than the program's runtime is never tried. */
static void* open_by_name(const struct loaded* found, char* path, size_t path_size) {
  static const char* const kVersions[] = {"13", "12", "11.8", "11.7"};
  for (unsigned i = 0; i < sizeof kVersions / sizeof kVersions[0]; ++i) {
    if (found->runtime_major[0] != '\0' && !starts_with(kVersions[i], found->runtime_major)) continue;
    snprintf(path, path_size, "libcupti.so.%s", kVersions[i]);
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL) return handle;
  }
  return NULL;
}

static void* open_first(const struct loaded* found, char* path, size_t path_size) {
  if (found->cupti[0] != '\0') {
    snprintf(path, path_size, "%s", found->cupti);
    return dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  }
  void* handle = open_beside(found, path, path_size);
  return handle != NULL ? handle : open_by_name(found, path, path_size);
}

bool library_knows_version(uint32_t version) {
  return (version >= RUBATO_CUPTI_OLDEST && version <= RUBATO_CUPTI_LAST_OF_12) ||
         (version >= RUBATO_CUPTI_FIRST_OF_13 && version < RUBATO_CUPTI_AFTER_NEWEST);
}

bool library_open(struct library* library, char* why, size_t why_size) {
  static struct loaded found; /* too large for a small stack; there is one caller */
  memset(&found, 0, sizeof found);
  dl_iterate_phdr(look_at, &found);
  void* handle = open_first(&found, library->path, sizeof library->path);
  if (handle == NULL) {
    snprintf(why, why_size,
             "no libcupti was found: neither loaded, nor beside CUDA's libraries, nor on the loader's path");
    return false;
  }
  const char* missing = NULL;
#define RUBATO_RESOLVE(name, symbol, parameters)        \
  *(void**)&library->call.name = dlsym(handle, symbol); \
  if (library->call.name == NULL) missing = symbol;
  RUBATO_CUPTI_FUNCTIONS(RUBATO_RESOLVE)
#undef RUBATO_RESOLVE
  if (missing != NULL) {
    snprintf(why, why_size, "%s lacks the function %s", library->path, missing);
    return false;
  }
  const int status = library->call.get_version(&library->version);
  if (status != CUPTI_OK) {
    snprintf(why, why_size, "%s does not tell its version: error %d", library->path, status);
    return false;
  }
  if (!library_knows_version(library->version)) {
    snprintf(why, why_size,
             "%s has API version %u, whose records are not known; known are %u to %u and %u to %u",
             library->path, library->version, RUBATO_CUPTI_OLDEST, RUBATO_CUPTI_LAST_OF_12,
             RUBATO_CUPTI_FIRST_OF_13, RUBATO_CUPTI_AFTER_NEWEST - 1);
    return false;
  }
  return true;
}
