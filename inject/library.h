/* Finds the CUPTI that belongs to the program's CUDA, opens it, and accepts only versions whose records are
 * known. */
#ifndef RUBATO_INJECT_LIBRARY_H
#define RUBATO_INJECT_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti_abi.h"

struct library {
  struct cupti call;
  uint32_t version; /* as cuptiGetVersion gives it */
  char path[4096];
};

/* False with a sentence in `why`. The library is never closed: CUPTI does not bear it. */
bool library_open(struct library* library, char* why, size_t why_size);
bool library_knows_version(uint32_t version);

#endif
