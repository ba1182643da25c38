#include "device/sim/settings.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"
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

Error lacks(const Profile& profile, std::string_view what) {
  return {ErrorCode::not_supported, cat(profile.board, " cannot set ", what), {}};
}

Status request_sm_lock(ClockRequest& request, const Profile& profile, ClockRange range) {
  if (!profile.has_sm_lock) return fail(lacks(profile, "a lock of its SM clock"));
  const Result<IndexRange> found = clock_range(profile, profile.sm_clocks, range, "SM");
  if (!found) return fail(found.error());
  request.has_sm_lock = 1;
  request.sm_low = found->low;
  request.sm_high = found->high;
  return {};
}

Status request_memory_lock(ClockRequest& request, const Profile& profile, ClockRange range) {
  if (!profile.has_memory_lock) return fail(lacks(profile, "its memory clock"));
  const Result<IndexRange> found = clock_range(profile, profile.memory_clocks, range, "memory");
  if (!found) return fail(found.error());
  request.has_memory_lock = 1;
  request.memory_low = found->low;
  request.memory_high = found->high;
  return {};
}

Status request_application_clocks(ClockRequest& request, const Profile& profile, ApplicationClocks clocks) {
  if (!profile.has_application_clocks) return fail(lacks(profile, "application clocks"));
  const Result<std::uint32_t> memory = clock_index(profile, profile.memory_clocks, clocks.memory, "memory");
  if (!memory) return fail(memory.error());
  const Result<std::uint32_t> sm = clock_index(profile, profile.sm_clocks, clocks.sm, "SM");
  if (!sm) return fail(sm.error());
  const Megahertz highest = profile.sm_clocks[profile.sm_top_at[*memory]];
  if (*sm > profile.sm_top_at[*memory])
    return fail(ErrorCode::invalid_argument,
                cat(profile.board, " has SM clocks up to ", highest, " at a memory clock of ", clocks.memory,
                    ", not ", clocks.sm));
  request.has_application = 1;
  request.application_sm = *sm;
  request.application_memory = *memory;
  return {};
}

void ask(GpuState& state, const Profile& profile, const ClockRequest& request) {
  const ClockLatency& latency = profile.clock_latency;
  // One stream for what belongs to the target clock, another for what happens once.
  const std::uint32_t target = request.has_sm_lock != 0 ? request.sm_high : profile.sm_top_at.back();
  const double of_target = Random(state.seed).fork(target).uniform(-1.0, 1.0);
  Random once = Random(state.seed ^ 0x5bd1e995U).fork(++state.requests);
  const Seconds takes = once.uniform() < latency.outlier_share
                            ? latency.outlier
                            : latency.typical * (1.0 + latency.spread * of_target);
  state.asked = request;
  state.request_due_ns = state.now_ns + std::llround(takes.value() * 1e9);
  ++state.writes;
}

void reload_driver(GpuState& state, const Profile& profile) {
  state.asked = state.in_force = {};
  state.request_due_ns = 0;
  state.requested_limit_w = profile.limit_default.value();
  state.power_violation_s = state.thermal_violation_s = 0.0;
  state.hw_thermal_violation_s = state.power_brake_violation_s = 0.0;
  reset_counter(state.sensor, state.now_ns);
  ++state.driver_generation;
}

void reset_gpu(GpuState& state, const Profile& profile) {
  reload_driver(state, profile);
  for (ContextState& context : state.contexts) context = {};
}

void lose_gpu(GpuState& state) {
  state.lost = 1;
  for (ContextState& context : state.contexts) context = {};
}

}  // namespace rubato::device::sim
