// What a sweep inside one run has measured: the stretches that govern's SweepStrategy held, in the order of
// its steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "experiment/sweep_measurement.h"
#include "predict/curve.h"
#include "record/reader.h"

namespace rubato::experiment {

/// Of the first steps, as far as the run came: one measurement each, per iteration. A stretch with fewer than
/// `iterations` was broken off and is passed over. `repeat` and `session` are left to the caller.
[[nodiscard]] std::vector<SweepMeasurement> measurements_within(const record::RunRecord& run,
                                                                std::span<const predict::KnobPoint> steps,
                                                                std::int64_t iterations);

}  // namespace rubato::experiment
