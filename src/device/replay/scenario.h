// What a replayed GPU takes from a scenario file (docs/formats.md#scenario).
#pragma once

#include <string_view>

#include "base/result.h"
#include "device/replay/world.h"

namespace rubato::device::replay {

/// Rate, rights, outlives_job and the power limit found. not_supported names a field that a table of
/// measurements cannot obey: it has no faults, no heat and no seed.
[[nodiscard]] Result<ReplayOptions> parse_scenario(std::string_view json);
/// The file named by RUBATO_SIM_SCENARIO, or the defaults where it is not set.
[[nodiscard]] Result<ReplayOptions> scenario_from_environment();

}  // namespace rubato::device::replay
