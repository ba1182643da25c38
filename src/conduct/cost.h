// What rubato itself costs, as the operating system counts it.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "core/sample.h"
#include "record/types.h"

namespace rubato::conduct {

/// User and system time of all threads of this process since it started; its children are not counted. Always
/// real seconds, whatever clock the run is on.
[[nodiscard]] Seconds own_cpu_time();

[[nodiscard]] record::OwnCost own_cost(const CallCost& driver, std::uint64_t ticks,
                                       std::uint64_t bytes_written);

}  // namespace rubato::conduct
