/* From CUPTI's records to kernel records of include/rubato/kernel_layout.h. */
#ifndef RUBATO_INJECT_DECODE_H
#define RUBATO_INJECT_DECODE_H

#include <stdint.h>

#include "cupti_abi.h"
#include "ring.h"

/* How CUPTI's clock stands to CLOCK_MONOTONIC. */
struct clock_offset {
  int64_t monotonic_minus_cupti_ns;
  int64_t error_ns; /* half width */
};

/* The closest of several readings. False where CUPTI tells no time. */
bool clock_measure(const struct cupti* call, struct clock_offset* out);
/* Over a cycle: the mean of begin and end, and what it leaves open. */
struct clock_offset clock_between(const struct clock_offset* begin, const struct clock_offset* end);

struct decoder {
  const struct cupti* call;
  struct ring* ring;
  uint32_t cycle;
  struct clock_offset clock;
  uint64_t kernels;
  uint64_t unusable; /* still running at the end of the cycle, or without times */
  void (*after_record)(void* user);
  void* user;
};

/* All completed buffers: what was launched where first, since that may stand in a later buffer than the
 * kernel. Then they are free again. */
void decode_completed(struct decoder* decoder);

#endif
