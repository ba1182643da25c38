/* The layers, ranges or phases a thread is in, told to CUPTI while kernels are recorded, so that each kernel
 * can say what it was launched in. */
#ifndef RUBATO_INJECT_LAYERS_H
#define RUBATO_INJECT_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_abi.h"

/* Of the calling thread. `slot` as of id_slot(); the depth before the push. */
int layers_push(uint32_t slot);
/* The depth after it; -1: there was none. */
int layers_pop(void);

/* Somebody has pushed in this process. */
bool layers_used(void);
void layers_begin_cycle(const struct cupti* call, uint32_t cycle);
/* Async-signal-safe: the child of a fork calls it too. */
void layers_end_cycle(void);
/* The layer's id from what CUPTI gives back; 0 for an id that an earlier cycle left behind. */
uint64_t layers_decode(uint64_t external_id, uint32_t cycle);

#endif
