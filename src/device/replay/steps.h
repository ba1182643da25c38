// The steps in which a GPU's knobs move, found from the clocks a table was measured at.
#pragma once

#include <span>
#include <vector>

#include "base/units.h"

namespace rubato::device::replay {

/// From the lowest to the highest of `measured` (ascending): every 15 MHz, or every 7.5 MHz as the driver
/// writes them (1087 for 1087.5), where all of `measured` lie on that grid; else `measured` itself.
[[nodiscard]] std::vector<Megahertz> clock_steps(std::span<const double> measured);

/// Limits move in whole watts; what was measured can be set as well.
[[nodiscard]] bool is_limit_step(std::span<const double> measured, Watts limit);

}  // namespace rubato::device::replay
