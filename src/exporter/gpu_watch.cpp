#include "exporter/gpu_watch.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::exporter {
namespace {

// A counter loses nothing between two looks, and every call into the driver takes a lock that the job's own
// launches need.
constexpr Seconds kCounterPace{1.0};
// The sampler asks a GPU that does not answer every 5 s at the latest, so one that came back is heard by
// then.
constexpr Seconds kStale{5.0};
constexpr double kStalePeriods = 5;
// A run is noticed within seconds of its begin, and its energy counts from there.
constexpr Seconds kRemembered{60.0};

std::vector<device::Gpu*> bare(const std::vector<WatchedGpu>& gpus) {
  std::vector<device::Gpu*> out;
  out.reserve(gpus.size());
  for (const WatchedGpu& one : gpus) out.push_back(one.gpu);
  return out;
}

}  // namespace

GpuWatch::GpuWatch(const std::vector<WatchedGpu>& gpus, TimePoint begin)
    : sampler_(bare(gpus), *this, begin) {
  for (const auto& [gpu, sensor] : gpus) {
    const GpuIdentity& identity = gpu->identity();
    Unit& unit = units_.emplace_back(
        Unit{gpu,
             measure::EnergyMeter(sensor, gpu->kind(), cat(identity.id.uuid, " (", identity.name, ")")),
             std::nullopt,
             {}});
    const bool counts = gpu->capabilities().read_energy_counter.available;
    const Seconds pace = counts ? kCounterPace : unit.meter.update_period();
    sampler_.set_period(units_.size() - 1, pace);
    unit.state.identity = identity;
    unit.state.kind = gpu->kind();
    unit.state.sensor = sensor;
    unit.state.stale_after = std::max(kStale, kStalePeriods * pace);
    if (const auto limits = gpu->power_limits()) unit.state.limits = *limits;
  }
}

void GpuWatch::step(TimePoint now) {
  sampler_.step(now);
  for (Unit& unit : units_) {
    measure(unit);
    unit.meter.forget(now - kRemembered);
  }
}

void GpuWatch::measure(Unit& unit) const {
  if (!unit.first || !unit.state.fast || unit.state.fast->at <= *unit.first) return;
  auto detail = unit.meter.inspect(*unit.first, unit.state.fast->at);
  if (!detail) return;
  unit.state.faults = detail->counter_faults;
  // A later reading may say that a little less was drawn than it seemed; a counter that falls would count
  // twice.
  if (unit.state.energy) detail->window.energy = std::max(detail->window.energy, unit.state.energy->energy);
  unit.state.energy = std::move(detail->window);
}

std::vector<GpuState> GpuWatch::states() const {
  std::vector<GpuState> out;
  for (const Unit& unit : units_) out.push_back(unit.state);
  return out;
}

std::optional<std::size_t> GpuWatch::find(const GpuId& gpu) const {
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (units_[i].state.identity.id == gpu) return i;
  return std::nullopt;
}

std::optional<EnergyWindow> GpuWatch::energy_since(std::size_t gpu, TimePoint begin) {
  Unit& unit = units_[gpu];
  if (!unit.first || begin < *unit.first || !unit.state.fast || unit.state.fast->at <= begin)
    return std::nullopt;
  unit.meter.pin(begin);
  const auto window = unit.meter.window(begin, unit.state.fast->at);
  return window ? std::optional(*window) : std::nullopt;
}

void GpuWatch::forget_since(std::size_t gpu, TimePoint begin) {
  // The first reading's own moment stays: it is where the GPU's line begins.
  if (units_[gpu].first != begin) units_[gpu].meter.unpin(begin);
}

void GpuWatch::on_fast(std::size_t gpu, const FastReading& reading) {
  Unit& unit = units_[gpu];
  if (unit.state.fast && reading.at <= unit.state.fast->at) return;
  unit.state.kind = unit.gpu->kind();
  unit.meter.now_is(reading.at, unit.state.kind);
  unit.meter.add(reading);
  if (!unit.first) {
    unit.first = reading.at;
    unit.meter.pin(reading.at);
  }
  unit.state.fast = reading;
}

void GpuWatch::on_slow(std::size_t gpu, const SlowReading& reading) {
  units_[gpu].state.slow = reading;
}

void GpuWatch::on_gap(std::size_t gpu, TimePoint begin, TimePoint end, const std::string&) {
  units_[gpu].state.silence += end - begin;
}

}  // namespace rubato::exporter
