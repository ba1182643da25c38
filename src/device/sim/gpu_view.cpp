#include "device/sim/gpu_view.h"

#include "base/text.h"
#include "device/timed_call.h"

namespace rubato::device::sim {
namespace {

Capabilities capabilities_of(const SimWorld& world, unsigned gpu) {
  const Profile& profile = world.profile(gpu);
  const std::string why = world.why_may_not_set();
  const Capability may_set = why.empty() ? Capability::yes() : Capability::forbidden(why);
  const auto if_has = [&](bool has, std::string_view what) {
    return has ? may_set : Capability::no(cat(profile.board, " cannot set ", what));
  };
  Capabilities out;
  out.read_power = out.read_clocks = out.read_utilisation = out.read_limiter = out.read_processes =
      Capability::yes();
  out.read_limiter_times = out.read_average_power = Capability::yes();
  const auto if_shows = [&](bool has, std::string_view what) {
    return has ? Capability::yes() : Capability::no(cat(profile.board, " shows no ", what));
  };
  out.read_energy_counter =
      world.scenario().energy_counter
          ? if_shows(profile.has_energy_counter, "energy counter")
          : Capability::no("the scenario of this simulated world has no energy counter");
  out.read_module_power = if_shows(profile.module_others.has_value(), "power of a module");
  out.read_memory_power = if_shows(profile.has_memory_power, "power of its memory alone");
  out.read_application_clocks = if_shows(profile.has_application_clocks, "application clocks");
  out.set_power_limit = if_has(profile.can_set_power_limit, "its power limit");
  out.set_sm_clock = if_has(profile.has_sm_lock, "a lock of its SM clock");
  out.set_memory_clock = if_has(profile.has_memory_lock, "its memory clock");
  out.set_application_clocks = if_has(profile.has_application_clocks, "application clocks");
  return out;
}

SensorFacts sensor_of(const Profile& profile) {
  SensorFacts out;
  out.update_period = profile.instant.period;
  out.lag = profile.instant.lag;
  if (!out.lag) out.averaging_window = profile.instant.window;
  out.calibration_band = kUncalibratedBand;
  out.calibration_floor = kUncalibratedFloor;
  out.counter_period = profile.counter_period;
  out.source = profile.sensor_source;
  return out;
}

class GpuView final : public Gpu {
 public:
  GpuView(std::shared_ptr<SimWorld> world, unsigned gpu)
      : world_(std::move(world)),
        gpu_(gpu),
        capabilities_(capabilities_of(*world_, gpu)),
        sensor_(sensor_of(world_->profile(gpu))) {
    capabilities_.read_counters = counters_readable();
  }

  const GpuIdentity& identity() const override { return world_->identity(gpu_); }
  const Capabilities& capabilities() const override { return capabilities_; }
  const SensorFacts& sensor() const override { return sensor_; }
  Kind kind() const override { return Kind::modelled; }
  CallCost cost() const override { return cost_; }

  Result<FastReading> read_fast() override {
    FastReading out;
    const Result<Readout> power = call(CallId::read_power);
    if (!power && unanswered(power.error())) return fail(power.error());
    const Result<Readout> energy = call(CallId::read_energy_counter);
    if (!energy && unanswered(energy.error())) return fail(energy.error());
    out.at = power ? power->at : energy ? energy->at : world_->clock()->now();
    if (power) {
      out.power = power->power_instant;
      out.power_average = power->power_average;
      out.module_power = power->module_power;
      out.memory_power = power->memory_power;
    }
    if (energy) {
      out.energy_counter = energy->energy_counter;
      out.module_energy_counter = energy->module_energy_counter;
    }
    return out;
  }

  Result<SlowReading> read_slow() override {
    SlowReading out;
    out.at = world_->clock()->now();
    const auto take = [&](CallId id, auto&& pick) -> Status {
      const Result<Readout> r = call(id);
      if (!r) return unanswered(r.error()) ? Status(fail(r.error())) : Status();
      out.at = r->at;
      pick(*r);
      return {};
    };
    Status s = take(CallId::read_clocks, [&](const Readout& r) {
      out.sm_clock = r.sm_clock;
      out.memory_clock = r.memory_clock;
      out.performance_state = r.performance_state;
    });
    if (s)
      s = take(CallId::read_utilisation, [&](const Readout& r) {
        out.sm_utilisation = r.sm_utilisation;
        out.memory_utilisation = r.memory_utilisation;
      });
    if (s) s = take(CallId::read_temperature, [&](const Readout& r) { out.temperature = r.temperature; });
    if (s)
      s = take(CallId::read_limiter, [&](const Readout& r) {
        out.limiter = r.limiter;
        out.limited = {.power_cap = r.power_violation,
                       .thermal = r.thermal_violation,
                       .hw_thermal = r.hw_thermal_violation,
                       .power_brake = r.power_brake_violation};
      });
    if (s)
      s = take(CallId::read_power_limits, [&](const Readout& r) {
        out.requested_limit = r.limits.requested;
        out.enforced_limit = r.limits.enforced;
      });
    if (!s) return fail(s.error());
    return out;
  }

  Result<ClockReading> read_clocks() override {
    const Result<Readout> r = call(CallId::read_clocks);
    if (!r) return fail(r.error());
    return ClockReading{r->at, r->sm_clock, r->memory_clock};
  }

  Result<PowerLimits> power_limits() override {
    const Result<Readout> r = call(CallId::read_power_limits);
    if (!r) return fail(r.error());
    return r->limits;
  }

  Result<ClockTable> supported_clocks() override {
    const Status s =
        timed_call(cost_, [&] { return world_->begin_call(CallId::read_supported_clocks, gpu_, now()); });
    if (!s) return fail(s.error());
    const Profile& profile = world_->profile(gpu_);
    ClockTable table{.sm = profile.sm_clocks, .memory = profile.memory_clocks};
    for (const Megahertz memory : table.memory) table.pairs.push_back({memory, profile.sm_clocks_at(memory)});
    return table;
  }

  Result<ApplicationClockReading> application_clocks() override {
    if (!world_->profile(gpu_).has_application_clocks) return Gpu::application_clocks();
    const Result<Readout> r = call(CallId::read_clocks);
    if (!r) return fail(r.error());
    return ApplicationClockReading{r->application_clocks.value_or(r->default_application_clocks),
                                   r->default_application_clocks};
  }

  Result<std::vector<ComputeProcess>> compute_processes() override {
    return timed_call(cost_, [&] { return world_->read_processes(gpu_, now()); });
  }

  Result<FeatureVector> read_counters() override {
    const Result<CounterTotals> totals =
        timed_call(cost_, [&] { return world_->read_counters(gpu_, now()); });
    if (!totals) return fail(totals.error());
    FeatureVector out;
    out.end = totals->at;
    out.begin = counters_ ? counters_->at : totals->at;
    if (counters_ && out.end > out.begin) {
      out[Feature::sm_active] = (totals->sm_active - counters_->sm_active) / (out.end - out.begin);
      out[Feature::dram_active] = (totals->dram_active - counters_->dram_active) / (out.end - out.begin);
    }
    counters_ = *totals;
    return out;
  }

 private:
  // These mean that the GPU did not answer; other errors, that this one figure cannot be had.
  static bool unanswered(const Error& error) {
    return error.code == ErrorCode::device_lost || error.code == ErrorCode::timeout;
  }
  [[nodiscard]] TimePoint now() const { return world_->clock()->now(); }
  [[nodiscard]] Capability counters_readable() {
    const auto totals = timed_call(cost_, [&] { return world_->read_counters(gpu_, now()); });
    if (totals) return Capability::yes();
    const Error& why = totals.error();
    return why.code == ErrorCode::no_permission ? Capability::forbidden(why.what, why.hint)
                                                : Capability::no(why.what, why.hint);
  }
  Result<Readout> call(CallId id) {
    return timed_call(cost_, [&] { return world_->read(id, gpu_, now()); });
  }

  std::shared_ptr<SimWorld> world_;
  unsigned gpu_;
  Capabilities capabilities_;
  SensorFacts sensor_;
  CallCost cost_;
  std::optional<CounterTotals> counters_;
};

class ControlView final : public GpuControl {
 public:
  ControlView(std::shared_ptr<SimWorld> world, unsigned gpu) : world_(std::move(world)), gpu_(gpu) {}

  Status set_power_limit(Watts limit) override { return world_->set_power_limit(gpu_, limit, now()); }
  Status lock_sm_clock(ClockRange range) override { return world_->lock_sm_clock(gpu_, range, now()); }
  Status reset_sm_clock() override { return world_->reset_sm_clock(gpu_, now()); }
  Status lock_memory_clock(ClockRange range) override {
    return world_->lock_memory_clock(gpu_, range, now());
  }
  Status reset_memory_clock() override { return world_->reset_memory_clock(gpu_, now()); }
  Status set_application_clocks(ApplicationClocks c) override {
    return world_->set_application_clocks(gpu_, c, now());
  }
  Status reset_application_clocks() override { return world_->reset_application_clocks(gpu_, now()); }

 private:
  [[nodiscard]] TimePoint now() const { return world_->clock()->now(); }
  std::shared_ptr<SimWorld> world_;
  unsigned gpu_;
};

}  // namespace

std::unique_ptr<Gpu> make_gpu(std::shared_ptr<SimWorld> world, unsigned index) {
  return std::make_unique<GpuView>(std::move(world), index);
}

std::unique_ptr<GpuControl> make_control(std::shared_ptr<SimWorld> world, unsigned index) {
  return std::make_unique<ControlView>(std::move(world), index);
}

}  // namespace rubato::device::sim
