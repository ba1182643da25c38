#include <cmath>
#include <csignal>

#include "base/text.h"
#include "device/sim/settings.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
namespace {

Megahertz sm_clock(const GpuState& state, const Profile& profile) {
  return profile.sm_clocks[state.sm_index];
}
Megahertz memory_clock(const GpuState& state, const Profile& profile) {
  return profile.memory_clocks[state.memory_index];
}

std::optional<ApplicationClocks> application_clocks(const ClockRequest& r, const Profile& profile) {
  if (r.has_application == 0) return std::nullopt;
  return ApplicationClocks{.memory = profile.memory_clocks[r.application_memory],
                           .sm = profile.sm_clocks[r.application_sm]};
}

LimiterReasons limiter(const GpuState& state, const Profile& profile) {
  LimiterReasons out;
  if (clocks_idle(state, profile)) {
    out.idle = true;
    return out;
  }
  const std::uint32_t allowed = highest_allowed(state, profile);
  out.power_cap = state.ceiling < allowed;
  out.thermal = slowed_by_heat(state, profile) || state.hw_hot != 0;
  out.hardware = state.hw_hot != 0 || slowed_by_brake(state);
  const ClockRequest& r = state.in_force;
  out.user_clocks = (r.has_sm_lock != 0 || r.has_application != 0) &&
                    allowed + 1 < profile.sm_clocks.size() && state.sm_index >= allowed;
  return out;
}

Readout readout(const GpuState& state, const Profile& profile, bool counter) {
  Readout out;
  out.at = TimePoint{state.now_ns};
  // Milliwatts and millijoules are all a driver knows.
  const auto thousandths = [](double value) { return std::floor(value * 1000.0) / 1000.0; };
  out.power_instant = Watts(thousandths(state.sensor.instant.shown_w));
  out.power_average = Watts(thousandths(state.sensor.average.shown_w));
  out.power_updated = TimePoint{state.sensor.instant.updated_ns};
  if (counter && profile.has_energy_counter)
    out.energy_counter = Joules(thousandths(state.sensor.counter_shown_j));
  if (profile.has_memory_power) out.memory_power = Watts(thousandths(state.sensor.memory.shown_w));
  if (profile.module_others) {
    out.module_power = Watts(thousandths(state.sensor.instant.shown_w + profile.module_others->value()));
    if (counter) out.module_energy_counter = Joules(thousandths(state.sensor.module_shown_j));
  }
  out.sm_clock = sm_clock(state, profile);
  out.memory_clock = memory_clock(state, profile);
  out.sm_utilisation = state.sensor.sm_utilisation;
  out.memory_utilisation = state.sensor.memory_utilisation;
  out.temperature = Celsius(std::floor(state.temperature_c));
  out.limiter = limiter(state, profile);
  out.power_violation = Seconds(state.power_violation_s);
  out.thermal_violation = Seconds(state.thermal_violation_s);
  out.hw_thermal_violation = Seconds(state.hw_thermal_violation_s);
  out.power_brake_violation = Seconds(state.power_brake_violation_s);
  out.limits = {.min = profile.limit_min,
                .max = profile.limit_max,
                .default_limit = profile.limit_default,
                .requested = Watts(state.requested_limit_w),
                .enforced = Watts(state.requested_limit_w)};
  out.application_clocks = application_clocks(state.asked, profile);
  out.default_application_clocks = {.memory = profile.memory_clocks.back(),
                                    .sm = profile.application_sm_default};
  for (const ContextState& context : state.contexts)
    if (context.id != 0) out.memory_used_bytes += context.memory_bytes;
  out.performance_state = clocks_idle(state, profile) ? 8 : profile.performance_states[state.memory_index];
  return out;
}

}  // namespace

Status SimWorld::begin_call(CallId call, unsigned gpu, TimePoint now) {
  const Result<Twist> twist = impl_->enter(call, gpu, now);
  if (!twist) return fail(twist.error());
  if (twist->kill_after) ::raise(SIGKILL);
  // The driver starts without a GPU that is gone; nothing else answers for it.
  return call == CallId::open ? Status() : impl_->drive(gpu, now, [](GpuState&) {});
}

Result<Readout> SimWorld::read(CallId call, unsigned gpu, TimePoint now) {
  const Result<Twist> twist = impl_->enter(call, gpu, now);
  if (!twist) return fail(twist.error());
  Readout out;
  const Status reached = impl_->drive(
      gpu, now, [&](GpuState& state) { out = readout(state, profile(gpu), impl_->scenario.energy_counter); });
  if (!reached) return fail(reached.error());
  if (twist->shown_power) out.power_instant = out.power_average = *twist->shown_power;
  if (out.energy_counter) *out.energy_counter += twist->counter_jump;
  if (twist->kill_after) ::raise(SIGKILL);
  return out;
}

Result<CounterTotals> SimWorld::read_counters(unsigned gpu, TimePoint now) {
  const Result<Twist> twist = impl_->enter(CallId::read_counters, gpu, now);
  if (!twist) return fail(twist.error());
  CounterTotals out;
  const Status reached = impl_->drive(gpu, now, [&](GpuState& state) {
    out = {TimePoint{state.now_ns}, Seconds(state.sm_active_s), Seconds(state.dram_active_s)};
  });
  if (!reached) return fail(reached.error());
  return out;
}

Result<Truth> SimWorld::truth(unsigned gpu, TimePoint now) {
  Truth out;
  const Status reached = impl_->at(gpu, now, [&](GpuState& state) {
    const Profile& p = profile(gpu);
    out.at = TimePoint{state.now_ns};
    out.energy = Joules(state.energy_j);
    out.power = activity(state, p).power;
    out.sm_clock = sm_clock(state, p);
    out.memory_clock = memory_clock(state, p);
    out.temperature = Celsius(state.temperature_c);
    out.requested_limit = Watts(state.requested_limit_w);
    const ClockRequest& r = state.asked;
    if (r.has_sm_lock != 0) out.sm_lock = ClockRange{p.sm_clocks[r.sm_low], p.sm_clocks[r.sm_high]};
    if (r.has_memory_lock != 0)
      out.memory_lock = ClockRange{p.memory_clocks[r.memory_low], p.memory_clocks[r.memory_high]};
    out.application_clocks = application_clocks(r, p);
    out.sensor_gain = state.sensor.gain;
    out.sensor_offset = Watts(state.sensor.offset_w);
    out.writes = state.writes;
    out.driver_generation = state.driver_generation;
  });
  if (!reached) return fail(reached.error());
  return out;
}

Status SimWorld::driver_reload(TimePoint now) {
  for (unsigned gpu = 0; gpu < gpu_count(); ++gpu)
    if (Status s = impl_->at(gpu, now, [&](GpuState& state) { reload_driver(state, profile(gpu)); }); !s)
      return s;
  return {};
}

Status SimWorld::set_external_limit(unsigned gpu, Watts limit, TimePoint now) {
  if (Status known = impl_->check_gpu(gpu); !known) return known;
  if (Status fits = check_limit(profile(gpu), limit); !fits) return fits;
  return impl_->at(gpu, now, [&](GpuState& state) { state.requested_limit_w = limit.value(); });
}

}  // namespace rubato::device::sim
