// Whether a setting took: what the driver shows under load against what was asked of it. A call that succeeds
// is no proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/sweep_measurement.h"
#include "predict/curve.h"
#include "record/reader.h"

namespace rubato::experiment {

struct InForce {
  Reached reached;
  std::optional<std::string> objection;  // why what was measured is not at the setting
  std::vector<std::string> notes;
};

/// Slow readings of one GPU between two moments in which it worked. A GPU that tells no utilisation is taken
/// to.
[[nodiscard]] std::vector<SlowReading> loaded_readings(const record::DeviceRecord& device, TimePoint begin,
                                                       TimePoint end);

[[nodiscard]] InForce judge_readings(const std::vector<SlowReading>& loaded, const predict::KnobPoint& at);

/// The whole run: the setting made, kept to the end, and nearly all of the work done at it.
[[nodiscard]] InForce judge_run(const record::RunRecord& run, const record::DeviceRecord& device,
                                const predict::KnobPoint& at);

/// That clocks were locked in one of two control runs, as far as they show it: the lower SM clock is clearly
/// below the other, and no limiter says why. Absent: nothing speaks for it.
[[nodiscard]] std::optional<std::string> found_clock_moved(const Reached& before, const Reached& now);

}  // namespace rubato::experiment
