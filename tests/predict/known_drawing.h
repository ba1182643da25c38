// A job of which the default run alone is known.
#pragma once

#include "predict/model.h"

namespace rubato::predict {

/// Of 0.1 s, that draws so many watts under the highest limit, 300 W.
inline Known drawing(double watts) {
  return {.gpu = "a board",
          .at_default = {.at = {.power_limit = 300_W},
                         .time = 0.1_s,
                         .energy = Watts(watts) * 0.1_s,
                         .time_error = {},
                         .energy_error = {}},
          .highest = {.power_limit = 300_W},
          .features = {},
          .probes = {}};
}

}  // namespace rubato::predict
