/* The thread that switches recording on and off and writes what was recorded. One per process. */
#ifndef RUBATO_INJECT_TRACER_H
#define RUBATO_INJECT_TRACER_H

#include "settings.h"

/* Once; `folder` stays valid. A bad value of RUBATO_KERNELS is said in a mark and records nothing. When the
 * program exits the running cycle is ended and written, within a second. */
void tracer_start(const char* folder, const struct settings* settings, const char* bad_value);
#endif
