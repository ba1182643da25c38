// What the job tells of itself while it runs: iterations, epochs, kernels; what meters tell beside it; and
// what it is told in return.
#include <rubato/mark_layout.h>

#include <algorithm>
#include <cmath>

#include "conduct/session.h"
#include "progress/stats.h"

namespace rubato::conduct {
namespace {

constexpr Seconds kMarkPeriod{0.25};
constexpr Seconds kMeterPeriod{0.25};
constexpr std::size_t kStepsKept = 64;
constexpr std::size_t kFewestSteps = 8;
// A forecast needs two epochs, and the record their last second.
constexpr int kEpochsForForecast = 2;
constexpr Seconds kUntilRecorded{2.5};

}  // namespace

void Session::follow_meters(TimePoint now) {
  next_meters_ = now + kMeterPeriod;
  if (meters_) meters_->take(parts_.meter_news(now), now);
}

bool Session::follow_iterations(TimePoint now) {
  // Without a job there is nobody to write marks.
  next_marks_ = now + (parts_.marks ? kMarkPeriod : kDecisionPeriod);
  publish();
  if (!parts_.marks) return false;
  follow_kernels(now, false);
  bool progressed = false;
  for (const auto& mark : parts_.marks(now)) {
    marks_seen_ = true;
    put(&record::Writer::mark, mark);
    tracker_.add(mark);
    watch_epochs(mark, now);
  }
  for (const auto& tracked : tracker_.take()) {
    progressed = true;
    put(&record::Writer::iteration, tracked.iteration);
    learn_step(tracked);
    for (auto& unit : units_) {
      // What happened in a pause is not the price of an iteration.
      if (tracked.paused || tracked.pause_before)
        unit.blocks->interruption(tracked.paused ? tracked.iteration.end : tracked.iteration.begin);
      if (!tracked.paused) unit.blocks->iteration(tracked.iteration);
    }
  }
  return progressed;
}

void Session::follow_kernels(TimePoint now, bool last) {
  if (!parts_.kernels) return;
  const KernelNews news = parts_.kernels(now, last);
  for (const KernelRecord& kernel : news.kernels) put(&record::Writer::kernel, kernel);
  for (const record::KernelCycle& cycle : news.cycles) put(&record::Writer::kernel_cycle, cycle);
}

void Session::learn_step(const progress::TrackedIteration& tracked) {
  if (tracked.paused) return;
  steps_s_.push_back(tracked.iteration.duration().value());
  if (steps_s_.size() > kStepsKept) steps_s_.pop_front();
  if (steps_s_.size() < kFewestSteps) return;
  progress::Moments steps;
  for (const double step : steps_s_) steps.add(step);
  const Seconds mean(steps.mean().value_or(0));
  const Seconds spread(std::sqrt(steps.variance().value_or(0)));
  for (auto& unit : units_)
    for (auto* meter : {unit.meter.get(), unit.module_meter.get(), unit.memory_meter.get()})
      if (meter != nullptr) meter->learn_step(mean, spread);
}

void Session::watch_epochs(const Mark& mark, TimePoint now) {
  if (mark.kind != RUBATO_MARK_EPOCH_END || !parts_.forecast_ready) return;
  const std::pair stream{mark.pid, mark.tid};
  if (!epoch_stream_) epoch_stream_ = stream;
  if (*epoch_stream_ == stream && ++epochs_over_ == kEpochsForForecast) forecast_due_ = now + kUntilRecorded;
}

void Session::publish() {
  if (!parts_.board) return;
  std::optional<TimePoint> until;
  for (const auto& unit : units_)
    if (const auto latest = unit.meter->latest()) until = until ? std::min(*until, *latest) : *latest;
  if (!until || *until <= begin_) return;
  std::vector<GpuNow> gpus;
  for (const auto& unit : units_) {
    if (!used_by_job(unit).value_or(true)) continue;
    GpuNow& now = gpus.emplace_back();
    now.uuid = unit.id().uuid;
    now.kind = unit.gpu->kind();
    now.power = unit.latest_power;
    if (auto energy = unit.meter->window(begin_, *until)) now.energy = std::move(*energy);
  }
  parts_.board(*until, gpus);
}

}  // namespace rubato::conduct
