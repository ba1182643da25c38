// What the job tells of itself while it runs: iterations, epochs, kernels; what meters tell beside it; and
// what it is told in return.
#include <rubato/mark_layout.h>

#include <algorithm>
#include <cmath>
#include <utility>

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
constexpr double kSettledUpdates = 2;

}  // namespace

void Session::follow_meters(TimePoint now) {
  next_meters_ = now + kMeterPeriod;
  if (meters_) meters_->take(parts_.meter_news(now), now);
}

bool Session::follow_iterations(TimePoint now, bool last) {
  // Without a job there is nobody to write marks.
  next_marks_ = now + (parts_.marks ? kMarkPeriod : kDecisionPeriod);
  publish(now);
  follow_kernels(now, last);
  bool progressed = parts_.marks && follow_marks(now, last);
  if (watch_iterations(now, last)) progressed = true;
  tally();
  watch_shifts(now);
  watch_counters(now);
  return progressed;
}

bool Session::tallied(const GpuUnit& unit) const {
  return unit.job_seen ||
         std::none_of(units_.begin(), units_.end(), [](const GpuUnit& u) { return u.job_seen; });
}

// From one moment to the next, each by whatever tells of that stretch: a counter that fails for a while takes
// the power's integral in its place, and the two may differ by more than an iteration of the whole run's
// energy.
void Session::tally() {
  if (!parts_.lease) return;  // nobody asks
  std::optional<TimePoint> until;
  for (const auto& unit : units_) {
    if (!tallied(unit)) continue;
    const auto latest = unit.meter->latest();
    if (!latest) return;
    // What a reading says of the moment before it is known when the next ones have come.
    const TimePoint known = *latest - kSettledUpdates * unit.meter->update_period();
    until = until ? std::min(*until, known) : known;
  }
  if (!until || *until <= tallied_until_) return;
  const auto since = [&](TimePoint at) -> std::optional<Joules> {
    Joules energy;
    for (const auto& unit : units_) {
      if (!tallied(unit)) continue;
      const auto window = unit.meter->window(tallied_until_, at);
      if (!window) return std::nullopt;
      energy += window->energy;
    }
    return energy;
  };
  const auto rest = since(*until);
  if (!rest) return;
  if (const auto end = tally_.wanted(*until); end && *end > tallied_until_)
    if (const auto energy = since(*end)) tally_.energy(*end, tallied_energy_ + *energy);
  if (parts_.power_budget) follow_boards(tallied_until_, *until);
  tallied_energy_ += *rest;
  tally_.energy(*until, tallied_energy_);
  for (auto& unit : units_) {
    unit.meter->pin(*until);
    if (tallied_until_ != begin_) unit.meter->unpin(tallied_until_);
  }
  tallied_until_ = *until;
}

bool Session::follow_marks(TimePoint now, bool last) {
  bool progressed = false;
  for (const auto& mark : parts_.marks(now, last)) {
    marks_seen_ = true;
    put(&record::Writer::mark, mark);
    if (parts_.plan) parts_.plan->mark(mark);
    for (auto& unit : units_)
      if (unit.tally) unit.tally->mark(mark);
    tracker_.add(mark);
    watch_epochs(mark, now);
  }
  for (auto tracked : tracker_.take()) {
    progressed = true;
    watch_->marked(tracked);
    // Others may have told of iterations before the first mark came.
    tracked.iteration.index += watch_->given_out();
    put(&record::Writer::iteration, tracked.iteration);
    learn_step(tracked);
    count_iteration(tracked);
  }
  return progressed;
}

void Session::follow_kernels(TimePoint now, bool last) {
  if (!parts_.kernels) return;
  const KernelNews news = parts_.kernels(now, last);
  watch_->kernels(news);
  if (watch_->kernels_elsewhere() > 0 && !std::exchange(kernels_elsewhere_told_, true))
    warn(Error{ErrorCode::corrupt,
               "the job tells of kernels on more GPUs than are followed; the rest of them is "
               "not looked at"});
  if (parts_.plan) parts_.plan->kernels(news);
  if (!news.kernels.empty() && !first_kernel_) first_kernel_ = news.kernels.front().begin;
  if (parts_.keep_kernels && first_kernel_ && now - *first_kernel_ > *parts_.keep_kernels) return;
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
  if (mark.kind != RUBATO_MARK_EPOCH_END || !parts_.forecast_ready || !parts_.writer) return;
  const std::pair stream{mark.pid, mark.tid};
  if (!epoch_stream_) epoch_stream_ = stream;
  if (*epoch_stream_ == stream && ++epochs_over_ == kEpochsForForecast) forecast_due_ = now + kUntilRecorded;
}

void Session::publish(TimePoint now) {
  if (!parts_.board) return;
  std::optional<TimePoint> until;
  if (units_.empty() && meters_) until = now;
  for (const auto& unit : units_)
    if (const auto latest = unit.meter->latest()) until = until ? std::min(*until, *latest) : *latest;
  if (!until || *until <= begin_) return;
  std::vector<GpuNow> gpus;
  for (const auto& unit : units_) {
    if (!used_by_job(unit).value_or(true)) continue;
    GpuNow& one = gpus.emplace_back();
    one.uuid = unit.id().uuid;
    one.kind = unit.gpu->kind();
    one.power = unit.latest_power;
    if (auto energy = unit.meter->window(begin_, *until)) one.energy = std::move(*energy);
  }
  parts_.board(*until, gpus, meters_ ? meters_->so_far(*until) : std::vector<ChannelNow>());
}

}  // namespace rubato::conduct
