#include "measure/window_book.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::measure {
namespace {

// Readings older than this are needed by no window that will still be opened.
constexpr double kPeriodsKept = 50;

}  // namespace

WindowBook::WindowBook(std::vector<device::Gpu*> gpus, const std::vector<SensorFacts>& sensors,
                       TimePoint begin)
    : sampler_(gpus, *this, begin) {
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuIdentity& identity = gpus[i]->identity();
    units_.push_back(
        {gpus[i], EnergyMeter(sensors[i], gpus[i]->kind(), cat(identity.id.uuid, " (", identity.name, ")"))});
    sampler_.set_period(i, units_[i].meter.update_period());
  }
}

void WindowBook::on_fast(std::size_t gpu, const FastReading& reading) {
  units_[gpu].meter.now_is(reading.at, units_[gpu].gpu->kind());
  units_[gpu].meter.add(reading);
}

void WindowBook::step(TimePoint now) {
  sampler_.step(now);
  for (Unit& unit : units_) unit.meter.forget(now - kPeriodsKept * unit.meter.update_period());
}

void WindowBook::read_edge() {
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (const auto reading = units_[i].gpu->read_fast()) on_fast(i, *reading);
}

std::vector<GpuReadings> WindowBook::readings() {
  std::vector<GpuReadings> all;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    device::Gpu& gpu = *units_[i].gpu;
    GpuReadings& of = all.emplace_back(GpuReadings{.identity = gpu.identity(), .kind = gpu.kind()});
    if (auto fast = gpu.read_fast()) {
      on_fast(i, *fast);
      of.fast = *fast;
    } else {
      of.why_missing = fast.error().what;
    }
    if (auto slow = gpu.read_slow())
      of.slow = *slow;
    else if (of.why_missing.empty())
      of.why_missing = slow.error().what;
  }
  return all;
}

Status WindowBook::begin(const std::string& name, TimePoint now) {
  if (open_.contains(name))
    return fail(ErrorCode::conflict, cat("a window named '", name, "' is open already"),
                "end it first, or give this one another name");
  read_edge();
  for (Unit& unit : units_) unit.meter.pin(now);
  open_[name] = now;
  return {};
}

Result<ClosedWindow> WindowBook::end(const std::string& name, TimePoint now) {
  const auto found = open_.find(name);
  if (found == open_.end()) {
    std::string names;
    for (const auto& [open, since] : open_) names += cat(names.empty() ? "" : ", ", open);
    return fail(ErrorCode::not_found, cat("no window named '", name, "' is open"),
                names.empty() ? "none is open" : cat("open are: ", names));
  }
  read_edge();
  ClosedWindow closed{name, found->second, now, {}};
  open_.erase(found);
  const bool pin_shared = std::any_of(open_.begin(), open_.end(),
                                      [&](const auto& other) { return other.second == closed.begin; });
  for (Unit& unit : units_) {
    ClosedWindow::OfGpu& of = closed.gpus.emplace_back();
    of.identity = unit.gpu->identity();
    if (auto energy = unit.meter.window(closed.begin, closed.end))
      of.energy = std::move(*energy);
    else
      of.why_missing = energy.error().what;
    if (!pin_shared) unit.meter.unpin(closed.begin);
  }
  return closed;
}

}  // namespace rubato::measure
