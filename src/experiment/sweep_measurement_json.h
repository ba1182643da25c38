// A measurement of a sweep as one JSON object, for its state file.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "experiment/sweep_measurement.h"

namespace rubato::experiment {

[[nodiscard]] nlohmann::json measurement_json(const SweepMeasurement& measurement);
/// corrupt: a member is missing or of another type.
[[nodiscard]] Result<SweepMeasurement> read_measurement(const nlohmann::json& json);

}  // namespace rubato::experiment
