#include "device/sim/settings.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "device/sim/sensor.h"

namespace rubato::device::sim {

Status check_limit(const Profile& profile, Watts limit) {
  if (limit >= profile.limit_min && limit <= profile.limit_max) return {};
  return fail(ErrorCode::invalid_argument,
              cat(profile.board, " takes power limits from ", profile.limit_min, " to ", profile.limit_max,
                  ", not ", limit),
              cat("choose a limit between ", profile.limit_min, " and ", profile.limit_max));
}

Result<std::uint32_t> clock_index(const Profile& profile, const std::vector<Megahertz>& clocks,
                                  Megahertz clock, std::string_view domain) {
  const auto nearest = std::min_element(clocks.begin(), clocks.end(), [&](Megahertz a, Megahertz b) {
    return abs(a - clock) < abs(b - clock);
  });
  // Clocks are whole megahertz at the driver.
  if (abs(*nearest - clock) < Megahertz(0.75)) return static_cast<std::uint32_t>(nearest - clocks.begin());
  return fail(ErrorCode::invalid_argument,
              cat(profile.board, " has no ", domain, " clock of ", clock, "; the nearest is ", *nearest),
              cat("ask for ", *nearest));
}

Result<IndexRange> clock_range(const Profile& profile, const std::vector<Megahertz>& clocks, ClockRange range,
                               std::string_view domain) {
  if (range.min > range.max)
    return fail(ErrorCode::invalid_argument, cat(profile.board, ": the ", domain, " clock range ", range.min,
                                                 " to ", range.max, " is upside down"));
  const Result<std::uint32_t> low = clock_index(profile, clocks, range.min, domain);
  if (!low) return fail(low.error());
  const Result<std::uint32_t> high = clock_index(profile, clocks, range.max, domain);
  if (!high) return fail(high.error());
  return IndexRange{*low, *high};
}

void ask(GpuState& state, const Profile& profile, const ClockRequest& request) {
  state.asked = request;
  state.request_due_ns = state.now_ns + std::llround(profile.clock_latency.value() * 1e9);
  ++state.writes;
}

void reload_driver(GpuState& state, const Profile& profile) {
  state.asked = state.in_force = {};
  state.request_due_ns = 0;
  state.requested_limit_w = profile.limit_default.value();
  state.power_violation_s = 0.0;
  reset_counter(state.sensor);
  ++state.driver_generation;
}

}  // namespace rubato::device::sim
