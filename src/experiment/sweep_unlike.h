// Runs of a sweep that something else has disturbed: a job that waited for a busy machine is no measurement
// of a setting.
#pragma once

#include <span>

#include "experiment/sweep_measurement.h"

namespace rubato::experiment {

/// Gives those that are unlike the others of their setting a reason in `not_used`: of three or more, whose
/// time lies farther from the median than 15 % and six times the scatter of all (median of the deviations, as
/// a standard deviation); and those whose energy is known to a quarter at most. A setting keeps two runs, a
/// stretch one control.
void leave_out_unlike(std::span<SweepMeasurement> measured);

}  // namespace rubato::experiment
