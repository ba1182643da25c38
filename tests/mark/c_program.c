#include "mark/c_program.h"

#include <rubato/mark.h>

void mark_from_c(void) {
  rubato_training_begin(0);
  rubato_epoch_begin(0, 3);
  for (uint64_t i = 0; i < 3; ++i) {
    rubato_iteration_begin_of(i, 4, 100);
    rubato_phase_begin(RUBATO_PHASE_BACKWARD);
    rubato_phase_end(RUBATO_PHASE_BACKWARD);
    rubato_iteration_end(i);
  }
  rubato_epoch_end(0);
  rubato_training_end(0);
}

void mark_window_from_c(const char* name) {
  rubato_window_begin(name);
  rubato_window_end(name);
}
