// Jobs whose costs fit in the head.
#pragma once

#include "lab/job.h"

namespace rubato::lab {

/// Five power limits, 100 to 140 W, found at 140 W: 10 % slower and 10 % cheaper with each step down.
inline Job small_job() {
  Job job;
  job.name = "small";
  job.group = "small";
  job.space.gpu = "V100";
  job.space.axes = {{Knob::power_limit, {100, 110, 120, 130, 140}}};
  job.space.found.power_limit = Watts(140);
  job.space.highest.power_limit = Watts(140);
  for (const double limit : job.space.axes[0].values)
    job.grid.push_back({.power_limit = Watts(limit), .sm_clock = {}, .memory_clock = {}});
  job.found = 4;
  Truth truth;
  truth.time = {1.4, 1.3, 1.2, 1.1, 1.0};
  truth.energy = {0.6, 0.7, 0.8, 0.9, 1.0};
  truth.power = Watts(140);
  truth.iteration = Seconds(1);
  job.programs = {truth};
  return job;
}

}  // namespace rubato::lab
