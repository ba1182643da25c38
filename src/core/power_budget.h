// A budget of watts for several GPUs together. What counts is the sum of their requested power limits.
#pragma once

#include "base/units.h"

namespace rubato {

/// Whether a limit of `asked` in the place of `now` keeps to `budget`, with `others` being the sum of all
/// other GPUs that count. Lowering always does.
[[nodiscard]] inline bool keeps_power_budget(Watts budget, Watts asked, Watts now, Watts others) {
  return asked <= now || asked + others <= budget;
}

}  // namespace rubato
