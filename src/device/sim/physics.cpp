#include "device/sim/physics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "device/sim/progress.h"
#include "device/sim/sensor.h"

namespace rubato::device::sim {
namespace {

constexpr double kTickSeconds = static_cast<double>(kTickNs) * 1e-9;
// Sensors and limiter are stepped finely at least this long before anybody looks: longer than any of their
// windows.
constexpr std::int64_t kFineNs = 3'000'000'000;

std::uint32_t top(const std::vector<Megahertz>& clocks) {
  return static_cast<std::uint32_t>(clocks.size() - 1);
}

std::uint32_t index_of(const std::vector<Megahertz>& clocks, Megahertz clock) {
  const auto at = std::lower_bound(clocks.begin(), clocks.end(), clock);
  return at == clocks.end() ? top(clocks) : static_cast<std::uint32_t>(at - clocks.begin());
}

std::uint32_t lowest_reached(const Profile& profile) {
  return index_of(profile.sm_clocks, profile.sm_lowest_reached);
}

bool has_work(const GpuState& state) {
  return std::any_of(std::begin(state.contexts), std::end(state.contexts),
                     [](const ContextState& c) { return c.runnable(); });
}

bool wants_clocks(const GpuState& state, const Profile& profile) {
  return has_work(state) ||
         static_cast<double>(state.now_ns - state.last_busy_ns) * 1e-9 < profile.idle_delay.value();
}

bool halved(const GpuState& state) {
  return state.hw_hot != 0 || slowed_by_brake(state);
}

std::uint32_t wanted_memory(const GpuState& state, const Profile& profile) {
  const ClockRequest& r = state.in_force;
  if (!wants_clocks(state, profile))
    return std::max(index_of(profile.memory_clocks, profile.memory_idle),
                    r.has_memory_lock != 0 ? r.memory_low : 0);
  if (r.has_memory_lock != 0) return r.memory_high;
  if (r.has_application != 0) return r.application_memory;
  return index_of(profile.memory_clocks, profile.memory_compute);
}

std::uint32_t wanted_sm(const GpuState& state, const Profile& profile) {
  const std::uint32_t low = state.in_force.has_sm_lock != 0 ? state.in_force.sm_low : 0;
  const std::uint32_t legal = profile.sm_top_at[state.memory_index];
  if (!wants_clocks(state, profile))
    return std::min(std::max(index_of(profile.sm_clocks, profile.sm_idle), low), legal);
  std::uint32_t wanted = std::min({highest_allowed(state, profile), state.ceiling, state.thermal_ceiling});
  if (halved(state)) wanted = std::min(wanted, index_of(profile.sm_clocks, profile.sm_clocks.back() * 0.5));
  return std::min(std::max(wanted, lowest_reached(profile)), legal);
}

// Heat takes the clock down a step a decision and gives it back below the threshold; the board itself halves
// it where that did not help.
void decide_on_heat(GpuState& state, const Profile& profile) {
  constexpr double kSoftBack = 2.0;
  constexpr double kHardBack = 5.0;
  const double t = state.temperature_c;
  if (t > profile.slowdown.value()) {
    const std::uint32_t from = std::min(state.thermal_ceiling, state.sm_index);
    state.thermal_ceiling = std::max(from, lowest_reached(profile) + 1) - 1;
  } else if (t < profile.slowdown.value() - kSoftBack) {
    state.thermal_ceiling = std::min(state.thermal_ceiling + 1, top(profile.sm_clocks));
  }
  if (t >= profile.hw_slowdown.value())
    state.hw_hot = 1;
  else if (t < profile.hw_slowdown.value() - kHardBack)
    state.hw_hot = 0;
}

void decide(GpuState& state, const Profile& profile) {
  const double limit = state.requested_limit_w;
  const std::uint32_t floor = lowest_reached(profile);
  if (state.limiter_average_w > limit) {
    // One step for every 5 % over it, so that small excess is not answered by a plunge.
    const double excess = (state.limiter_average_w - limit) / limit;
    const auto steps = static_cast<std::uint32_t>(
        std::clamp(std::ceil(excess * 20.0), 1.0, static_cast<double>(profile.limiter_steps)));
    const std::uint32_t from = std::max(std::min(state.ceiling, state.sm_index), floor);
    state.ceiling = from > floor + steps ? from - steps : floor;
  } else if (state.limiter_average_w < limit * (1.0 - profile.limiter_dead_band)) {
    state.ceiling = std::min(state.ceiling + 1, top(profile.sm_clocks));
  }
}

void take_clocks(GpuState& state, const Profile& profile) {
  state.memory_index = wanted_memory(state, profile);
  state.sm_index = wanted_sm(state, profile);
}

// End of a tick: heat, limiter and clocks move.
void end_tick(GpuState& state, const Profile& profile) {
  const double power = state.tick_j / kTickSeconds;
  const double steady = state.ambient_c + profile.thermal_c_per_w * power;
  state.temperature_c +=
      (steady - state.temperature_c) * -std::expm1(-kTickSeconds / profile.thermal_time.value());
  // The limiter sees the board through its own sensor: what it holds is the reading, not the truth.
  const double seen = state.sensor.gain * power + state.sensor.offset_w;
  state.limiter_average_w +=
      (seen - state.limiter_average_w) * -std::expm1(-kTickSeconds / profile.limiter_lag.value());
  if (state.ticks_to_decision > 1) {
    --state.ticks_to_decision;
  } else {
    state.ticks_to_decision =
        static_cast<std::uint32_t>(std::max(1L, std::lround(profile.limiter_period.value() / kTickSeconds)));
    decide(state, profile);
    decide_on_heat(state, profile);
  }
  if (has_work(state)) state.last_busy_ns = state.now_ns;
  take_clocks(state, profile);
  state.tick_j = 0.0;
  state.tick_end_ns += kTickNs;
}

// Power per degree at the present clocks; the rest does not depend on temperature.
double leakage_slope(const GpuState& state, const Profile& profile) {
  return profile.leakage_w_per_c * profile.leak_factor[state.sm_index];
}

// Neither giving clocks back nor taking more away for heat.
bool heat_is_settled(const GpuState& state, const Profile& profile) {
  if (state.temperature_c < profile.slowdown.value())
    return state.thermal_ceiling == top(profile.sm_clocks) && state.hw_hot == 0;
  return state.thermal_ceiling == lowest_reached(profile) &&
         (state.hw_hot != 0) == (state.temperature_c >= profile.hw_slowdown.value());
}

bool at_rest(const GpuState& state, const Profile& profile) {
  return !has_work(state) && state.request_due_ns == 0 && !wants_clocks(state, profile) &&
         state.ceiling == top(profile.sm_clocks) && heat_is_settled(state, profile) &&
         state.limiter_average_w < state.requested_limit_w && state.sm_index == wanted_sm(state, profile) &&
         state.memory_index == wanted_memory(state, profile);
}

// At rest each tick maps the temperature by the same straight line, so n ticks have a closed form.
void jump(GpuState& state, const Profile& profile, std::int64_t ticks) {
  const double slope = leakage_slope(state, profile);
  const double base = activity(state, profile).power.value() - slope * state.temperature_c;  // at 0 C
  const double approach = -std::expm1(-kTickSeconds / profile.thermal_time.value());
  const double factor = 1.0 - approach * (1.0 - profile.thermal_c_per_w * slope);
  const double fixed_point =
      (state.ambient_c + profile.thermal_c_per_w * base) / (1.0 - profile.thermal_c_per_w * slope);
  const auto n = static_cast<double>(ticks);
  const double decayed = std::pow(factor, n);
  const double away = state.temperature_c - fixed_point;
  const double temperatures = n * fixed_point + away * (1.0 - decayed) / (1.0 - factor);  // their sum
  const Joules energy((n * base + slope * temperatures) * kTickSeconds);
  const std::int64_t from = state.now_ns;
  state.temperature_c = fixed_point + away * decayed;
  state.energy_j += energy.value();
  state.now_ns += ticks * kTickNs;
  state.tick_end_ns = state.now_ns + kTickNs;
  state.limiter_average_w =
      state.sensor.gain * activity(state, profile).power.value() + state.sensor.offset_w;
  sense_skipped(state.sensor, profile, from, state.now_ns, energy);
}

std::int64_t next_segment_end(const GpuState& state, const Profile& profile, unsigned sharers) {
  double least = std::numeric_limits<double>::infinity();
  for (const ContextState& context : state.contexts)
    if (context.runnable()) least = std::min(least, segment_left(context, state, profile) * sharers);
  if (least > 1.0) return std::numeric_limits<std::int64_t>::max();  // beyond the tick in any case
  return state.now_ns + std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(least * 1e9 - 0.5)));
}

void count_violations(GpuState& state, const Profile& profile, double seconds) {
  if (state.ceiling < highest_allowed(state, profile)) state.power_violation_s += seconds;
  if (slowed_by_heat(state, profile)) state.thermal_violation_s += seconds;
  if (state.hw_hot != 0) state.hw_thermal_violation_s += seconds;
  if (slowed_by_brake(state)) state.power_brake_violation_s += seconds;
}

void step(GpuState& state, const Profile& profile, std::int64_t until_ns) {
  const Activity now = activity(state, profile);
  std::int64_t next =
      std::min({until_ns, state.tick_end_ns, next_sensor_edge(state.sensor, profile, state.now_ns)});
  if (state.request_due_ns != 0) next = std::min(next, std::max(state.request_due_ns, state.now_ns));
  if (now.sharers > 0) next = std::min(next, next_segment_end(state, profile, now.sharers));
  const double seconds = static_cast<double>(next - state.now_ns) * 1e-9;
  const double energy = now.power.value() * seconds;
  sense(state.sensor, profile, state.now_ns, next, now);
  state.energy_j += energy;
  state.tick_j += energy;
  state.sm_active_s += now.sm_busy * seconds;
  state.dram_active_s += now.memory_busy * seconds;
  if (now.sharers > 0) count_violations(state, profile, seconds);
  for (ContextState& context : state.contexts)
    if (context.runnable()) execute(context, state, profile, seconds / now.sharers, next);
  state.now_ns = next;
  if (state.request_due_ns != 0 && state.now_ns >= state.request_due_ns) {
    state.in_force = state.asked;
    state.request_due_ns = 0;
    take_clocks(state, profile);
  }
  if (state.now_ns >= state.tick_end_ns) end_tick(state, profile);
}

}  // namespace

std::uint32_t highest_allowed(const GpuState& state, const Profile& profile) {
  const ClockRequest& r = state.in_force;
  std::uint32_t highest = top(profile.sm_clocks);
  if (r.has_application == 0 && r.has_sm_lock == 0) {
    highest = index_of(profile.sm_clocks, profile.boost.highest);
    const double hot = state.temperature_c - profile.boost.from.value();
    if (profile.boost.c_per_step > 0.0 && hot > 0.0)
      highest -= std::min(highest, static_cast<std::uint32_t>(hot / profile.boost.c_per_step));
  }
  if (r.has_application != 0) highest = r.application_sm;
  if (r.has_sm_lock != 0) highest = r.has_application != 0 ? std::min(highest, r.sm_high) : r.sm_high;
  return std::min(std::max(highest, lowest_reached(profile)), profile.sm_top_at[state.memory_index]);
}

bool slowed_by_heat(const GpuState& state, const Profile& profile) {
  return state.thermal_ceiling < highest_allowed(state, profile);
}

bool slowed_by_brake(const GpuState& state) {
  return state.now_ns < state.brake_until_ns;
}

bool clocks_idle(const GpuState& state, const Profile& profile) {
  return !wants_clocks(state, profile) && profile.sm_clocks[state.sm_index] <= profile.sm_idle;
}

Activity activity(const GpuState& state, const Profile& profile) {
  const Megahertz sm = profile.sm_clocks[state.sm_index];
  const double memory = profile.memory_clocks[state.memory_index] / profile.memory_reference;
  const double core = profile.core_factor[state.sm_index];
  Activity out;
  double compute = 0.0;
  double traffic = 0.0;
  for (const ContextState& context : state.contexts) {
    if (!context.runnable()) continue;
    ++out.sharers;
    const Segment& segment = context.segments[context.segment];
    const SegmentRun run =
        run_of(segment, profile, sm.value(), profile.memory_clocks[state.memory_index].value());
    compute += run.compute_busy * segment.compute_activity;
    traffic += run.memory_busy * segment.memory_activity;
    out.sm_busy += run.kernel_busy;
    out.memory_busy += run.memory_busy;
  }
  if (out.sharers > 0) {
    const double share = 1.0 / out.sharers;
    compute *= share;
    traffic *= share;
    out.sm_busy *= share;
    out.memory_busy *= share;
  }
  double watts = profile.idle.value() +
                 leakage_slope(state, profile) * (state.temperature_c - profile.leakage_reference.value());
  if (!clocks_idle(state, profile)) {
    out.memory = (profile.memory_background + profile.memory_traffic * traffic) * memory;
    watts += (profile.clock_tree.value() + profile.compute.value() * compute) * core +
             // Bytes cross the chip at the cores' voltage, at the memory's pace.
             profile.transport.value() * traffic * memory * profile.volt_factor[state.sm_index] +
             out.memory.value();
  }
  out.power = Watts(std::max(0.0, watts));
  return out;
}

void start_gpu(GpuState& state, const Profile& profile, const Start& start) {
  state = {};
  state.now_ns = start.now.ns;
  state.tick_end_ns = start.now.ns + kTickNs;
  state.last_busy_ns = start.now.ns - std::llround(profile.idle_delay.value() * 1e9) - 1;
  state.sm_index = index_of(profile.sm_clocks, profile.sm_idle);
  state.memory_index = index_of(profile.memory_clocks, profile.memory_idle);
  state.ceiling = state.thermal_ceiling = top(profile.sm_clocks);
  state.ticks_to_decision = 1;
  state.requested_limit_w = profile.limit_default.value();
  state.seed = Random(start.seed).fork(0x9e3779b9U + start.index).next();
  state.ambient_c = start.ambient.value();
  state.temperature_c =
      start.temperature.value_or(start.ambient + Celsius(profile.thermal_c_per_w * profile.idle.value()))
          .value();
  const Activity idle = activity(state, profile);
  start_sensor(state.sensor, profile, start, idle);
  state.limiter_average_w = idle.power.value();
}

void advance(GpuState& state, const Profile& profile, TimePoint now) {
  while (state.now_ns < now.ns) {
    const std::int64_t spare = now.ns - kFineNs - state.now_ns;
    const bool on_grid = state.tick_end_ns - state.now_ns == kTickNs;
    if (spare > kFineNs && on_grid && at_rest(state, profile)) jump(state, profile, spare / kTickNs);
    step(state, profile, now.ns);
  }
}

}  // namespace rubato::device::sim
