// What a session knows of the job's iterations whoever tells of them, and what it does when the job changes.
#include <algorithm>

#include "base/text.h"
#include "conduct/session.h"
#include "core/feature_schema.h"
#include "progress/arbiter/telemetry_rate.h"

namespace rubato::conduct {
namespace {

// A clock or a limit is in force within this (session.cpp, kSettling); what was launched before is done too.
constexpr Seconds kUntilSettled{2.0};
// Counters are read again after a shift, but not for every change of a job that never rests.
constexpr Seconds kBetweenWindows{30};
// Where it cannot be told whose work it is, a GPU that works this share of the time is taken for the job's.
constexpr double kLoaded = 0.10;
// Load without any answer about the iteration: the counters need not wait for one.
constexpr Seconds kWithoutAnswer{40};

std::shared_ptr<const std::map<std::string, double>> named(const FeatureVector& features) {
  auto out = std::make_shared<std::map<std::string, double>>();
  for (std::size_t f = 0; f < kFeatureCount; ++f)
    if (const auto value = features.values[f]) out->emplace(kFeatureNames[f], *value);
  return out;
}

}  // namespace

void Session::count_iteration(const progress::TrackedIteration& tracked) {
  tally_.iteration(tracked);
  // What happened in a pause is not the price of an iteration; nor is a run's first one, which is launched
  // into an empty queue: its time says nothing of the GPU's.
  const bool priced = !tracked.paused && tracked.iteration.index > 0;
  for (auto& unit : units_) {
    if (!priced || tracked.pause_before)
      unit.blocks->interruption(priced ? tracked.iteration.begin : tracked.iteration.end);
    if (priced) unit.blocks->iteration(tracked.iteration);
    if (unit.tally) unit.tally->iteration(tracked);
    if (!watch_->tuning().tuning) unit.shifts.iteration(tracked);
  }
}

bool Session::works_for_job(const GpuUnit& unit) const {
  if (unit.job_seen) return true;
  const bool loaded = unit.state && unit.state->sm_utilisation.value_or(0) > kLoaded;
  return loaded && (!parts_.ownership || unit.blind);
}

bool Session::watch_iterations(TimePoint now, bool last) {
  std::vector<bool> used;
  for (const auto& unit : units_) used.push_back(works_for_job(unit));
  const IterationNews news = watch_->step(now, used, last);
  for (const auto& statement : news.statements) put(&record::Writer::statement, statement);
  for (const auto& rate : news.rates) put(&record::Writer::rate, rate);
  for (const auto& tracked : news.iterations) {
    put(&record::Writer::iteration, tracked.iteration);
    count_iteration(tracked);
  }
  if (news.tuning) {
    note(news.tuning->tuning ? "tuning" : "tuning_over", news.tuning->why, now, in_force_);
    for (auto& unit : units_) unit.shifts.rebase(now);
  }
  if (news.found) {
    const auto& estimate = watch_->ruling().estimate;
    for (auto& unit : units_)
      if (unit.counters && !unit.counted && !unit.counters->wanted())
        unit.counters->want(estimate->periodic ? "the iteration was found"
                                               : "there is no iteration to be found");
    if (parts_.iteration_found) parts_.iteration_found(watch_->ruling());
  }
  return !news.iterations.empty();
}

void Session::watch_shifts(TimePoint now) {
  if (watch_->tuning().tuning) return;
  for (auto& unit : units_) {
    const auto shift = unit.shifts.step(now);
    if (!shift || !used_by_job(unit).value_or(true)) continue;
    put(&record::Writer::shift, record::ShiftNoticed{unit.id(), *shift});
    shift_ = shift->why;
    if (unit.counters && (!unit.counted || now - *unit.counted > kBetweenWindows))
      unit.counters->want(cat("the job changed: ", shift->why));
    if (parts_.shift_noticed) parts_.shift_noticed(unit.id(), *shift);
  }
}

void Session::watch_counters(TimePoint now) {
  const auto& estimate = watch_->ruling().estimate;
  for (auto& unit : units_) {
    if (!unit.counters) continue;
    const bool loaded = unit.state && unit.state->sm_utilisation.value_or(0) > 0;
    if (!unit.counted && !estimate && loaded && now - begin_ > kWithoutAnswer && !unit.counters->wanted())
      unit.counters->want("nothing tells of an iteration yet");
    const bool settled = unit.last_write == TimePoint{} || now - unit.last_write >= kUntilSettled;
    const bool may_begin = loaded && settled && !watch_->tuning().tuning && used_by_job(unit).value_or(true);
    if (auto window =
            unit.counters->step(now, unit.in_force, estimate ? estimate->period : std::nullopt, may_begin)) {
      unit.counted = now;
      unit.shifts.features(window->features);
      if (window->setting.empty()) features_ = named(window->features);
      put(&record::Writer::features, *window);
      const auto rate = progress::counter_rate(window->features);
      if (rate && !(estimate && estimate->periodic))
        put(&record::Writer::rate, record::RateStatement{unit.id(), *rate});
    }
    if (const auto complaint = unit.counters->take_complaint())
      note("no_counters", complaint->what, now, unit.in_force);
  }
}

void Session::explain_change(GpuUnit& unit, TimePoint now) {
  watch_->setting_changed(now);
  unit.shifts.rebase(now + kUntilSettled);
  if (unit.counters) unit.counters->setting_changed();
}

}  // namespace rubato::conduct
