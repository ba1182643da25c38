// Stretches of a job that takes 0.1 s and 200 W at the found setting.
#pragma once

#include <cmath>

#include "govern/rubato/stretch_meter.h"

namespace rubato::govern {

inline StretchMean stretch(double from_s, double to_s, double time = 1, double power = 1, double work = 50) {
  return {.work = work,
          .begin = TimePoint{} + Seconds(from_s),
          .end = TimePoint{} + Seconds(to_s),
          .log_time = std::log(0.1 * time),
          .log_power = std::log(200 * power),
          .time_scatter = 1e-4,  // 1 % from one unit to the next
          .power_scatter = 1e-4};
}

}  // namespace rubato::govern
