// A sweep of power limits on a simulated board, by its data sheet.
#pragma once

#include <string>

#include "core/sweep_table.h"

namespace rubato::limits {

/// Every simulated workload under every limit from the lowest to the default, in virtual time, warmed up.
[[nodiscard]] SweepTable modelled(const std::string& profile, Watts step);

}  // namespace rubato::limits
