// What a job loses beside the setting that a strategy chooses: it is charged to the same budget of seconds.
#pragma once

#include "base/units.h"

namespace rubato::govern {

struct Beside {
  Seconds lost;       // since the run began; in the tally they are outside of what settings are judged by
  Seconds reserved;   // about to be lost, as soon as the budget has them
  double growth = 0;  // of an iteration, lasting: by so much it is longer than at the setting alone
};

/// Of a budget of seconds.
struct Left {
  Seconds time;      // that may be lost besides, now; what is reserved for that counts
  double bound = 0;  // of the budget: fraction of the time at the found setting
};

}  // namespace rubato::govern
