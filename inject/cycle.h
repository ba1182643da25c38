/* One stretch of recording: subscribe, enable, wait, disable, fetch, write, unsubscribe. Between cycles CUPTI
 * is free for whoever else wants it. */
#ifndef RUBATO_INJECT_CYCLE_H
#define RUBATO_INJECT_CYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "library.h"
#include "ring.h"
#include "settings.h"

struct cycle {
  const struct library* library;
  struct ring* ring;
  const struct settings* settings;
  uint32_t number; /* from 1 */
  /* Waits so long at most; true: the program ends, be quick. */
  bool (*wait)(int64_t ns);
  uint64_t kernels; /* out: written */
};

/* False with a sentence in `why` where CUPTI refuses: then nothing of ours is left in it, and nothing was
 * recorded. */
bool cycle_run(struct cycle* cycle, char* why, size_t why_size);

#endif
