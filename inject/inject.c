/* librubato-inject.so: CUDA loads it into the user's program where CUDA_INJECTION64_PATH names it, and so
 * does NVTX. Nothing here may fail the program: whatever goes wrong is said in a mark, and recording stops.
 */
#include <pthread.h>
#include <rubato/mark_layout.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "ids.h"
#include "layers.h"
#include "settings.h"
#include "tracer.h"

#define EXPORTED __attribute__((visibility("default")))

/* A forked child has the mapped rings of its parent, but not the thread that writes them. */
static void in_child(void) {
  layers_end_cycle();
}

/* CUDA calls it while it initialises, before any kernel; 1 is success, and anything else would be an error of
 * CUDA's. CUPTI is not called from here: the program's start is not the time. */
EXPORTED int InitializeInjection(void) {
  static atomic_flag called = ATOMIC_FLAG_INIT;
  static struct settings settings;
  if (atomic_flag_test_and_set(&called)) return 1;
  const char* folder = getenv(RUBATO_MARKS_ENV);
  const char* wanted = getenv(RUBATO_KERNELS_ENV);
  const enum settings_answer answer = settings_parse(wanted, &settings);
  if (folder == NULL || *folder == '\0' || answer == SETTINGS_OFF) return 1;
  pthread_atfork(NULL, NULL, in_child);
  tracer_start(folder, &settings, answer == SETTINGS_BAD ? wanted : NULL);
  return 1;
}

/* For hooks in the program's own language: the calling thread enters the layer with this id, whose name the
 * caller writes as a mark. Costs a few nanoseconds while nothing is recorded. */
EXPORTED void rubato_inject_push(uint64_t layer) {
  bool is_new;
  layers_push(id_slot(layer, &is_new));
}

EXPORTED void rubato_inject_pop(void) {
  layers_pop();
}
