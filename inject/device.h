/* Which GPU a CUDA ordinal is. */
#ifndef RUBATO_INJECT_DEVICE_H
#define RUBATO_INJECT_DEVICE_H

#include <stdint.h>

/* All zero where the driver does not tell. Asks the driver once per ordinal; call it only when kernels have
 * run, since the driver is up then. Of one thread. */
void device_uuid(uint32_t ordinal, uint8_t uuid[16]);

#endif
