/* What RUBATO_KERNELS asks for: "2s/60s" records kernels for 2 s of every 60 s; "2s/60s,nodes" records the
 * kernels inside CUDA graphs one by one; "off" nothing. */
#ifndef RUBATO_INJECT_SETTINGS_H
#define RUBATO_INJECT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#define RUBATO_KERNELS_ENV "RUBATO_KERNELS"

struct settings {
  int64_t on_ns;
  int64_t period_ns;
  bool graph_nodes;
};

enum settings_answer { SETTINGS_OFF, SETTINGS_ON, SETTINGS_BAD };

/* `text` may be null: not set, which is off. */
enum settings_answer settings_parse(const char* text, struct settings* out);

#endif
