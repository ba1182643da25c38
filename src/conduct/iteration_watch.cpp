#include "conduct/iteration_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "progress/arbiter/telemetry_rate.h"
#include "progress/period/period_detector.h"

namespace rubato::conduct {
namespace {

// Iterations followed by telemetry are counted from the first confidence on, and until it falls below the
// second. Where a statement as sure as that is wrong it is nearly always a multiple or a part of the
// iteration (docs/evidence/periods.md), which counts the same work in another unit.
constexpr double kCounts = 0.6;
constexpr double kStillCounts = 0.45;
constexpr Seconds kSettles{1};  // from a change of setting on, until clocks and sensors show it alone
// A job that loads its libraries and data, or tunes its kernels, keeps the GPU busy for less than this share
// of the time, for longer than this: ten to twenty seconds before each of three trainings on an H200.
constexpr double kAtWork = 0.2;
constexpr Seconds kRest{3};
constexpr double kSameIteration = 0.05;  // two periods nearer than this, relatively, count the same thing
// What is worth a new row in the record, or a new word on the terminal.
constexpr double kPeriodMoved = 0.01;
constexpr double kPeriodMovedAtAll = 0.0005;
constexpr double kConfidenceMoved = 0.1;
constexpr double kSharper = 0.5;
// A rate is told once in so long, over as much.
constexpr Seconds kRatePeriod{30};
constexpr std::size_t kPointsForRate = 3000;
// Between two iterations the program was elsewhere where that took this many of them (as IterationTracker).
constexpr double kPauseFactor = 5.0;
// The job's own files name the GPUs its kernels ran on.
constexpr std::size_t kMostDevices = 64;

std::vector<const progress::Check*> checks_on(const progress::Ruling& ruling, ProgressSource source) {
  std::vector<const progress::Check*> found;
  for (const auto& check : ruling.checks)
    if (check.source == source) found.push_back(&check);
  return found;
}

bool moved(const std::optional<Seconds>& before, const std::optional<Seconds>& now, double by) {
  if (before.has_value() != now.has_value()) return true;
  return before && abs(*now - *before) > by * *before;
}

/// The band of what is stated has shrunk enough to be stated again.
bool sharper(const std::optional<double>& before, const std::optional<double>& now) {
  return now && (!before || *now < kSharper * *before);
}

bool same(const record::IterationStatement& a, const record::IterationStatement& b, double period_moved) {
  return a.used == b.used && a.check == b.check && a.gpu == b.gpu &&
         a.estimate.periodic == b.estimate.periodic && a.estimate.relation == b.estimate.relation &&
         !moved(a.estimate.period, b.estimate.period, period_moved) &&
         !sharper(a.estimate.half_width, b.estimate.half_width) &&
         std::abs(a.estimate.confidence - b.estimate.confidence) < kConfidenceMoved;
}

/// Iterations may be counted by it.
bool sure(const std::optional<IterationEstimate>& estimate) {
  return estimate && estimate->periodic && estimate->relation == PeriodRelation::exact &&
         estimate->confidence >= kCounts;
}

}  // namespace

IterationWatch::IterationWatch(std::vector<WatchedGpu> gpus) {
  for (WatchedGpu& gpu : gpus)
    telemetry_.push_back({.id = std::move(gpu.id),
                          .sensor = gpu.sensor,
                          .detector = progress::make_period_detector(gpu.sensor)});
}

void IterationWatch::slow(std::size_t gpu, const SlowReading& reading) {
  telemetry_[gpu].slow = reading;
  follow_rests(telemetry_[gpu], reading);
}

// What a job did before it went to work hides what it does now: half of the trace would be like nothing.
void IterationWatch::follow_rests(Telemetry& one, const SlowReading& reading) {
  if (!reading.sm_utilisation) return;
  if (*reading.sm_utilisation < kAtWork) {
    if (!one.resting_since) one.resting_since = reading.at;
    return;
  }
  const auto since = std::exchange(one.resting_since, std::nullopt);
  one.at_work = one.at_work || sure(one.detector->estimate());
  if (!since || reading.at - *since < kRest || one.at_work) return;
  one.anew_from = one.anew ? std::max(one.anew_from, reading.at) : reading.at;
  one.anew = progress::make_period_detector(one.sensor);
}

// Utilisation and clocks are read less often than power; they join the next reading of it, so that the points
// stay in order.
void IterationWatch::fast(std::size_t gpu, const FastReading& reading) {
  Telemetry& one = telemetry_[gpu];
  progress::TelemetryPoint point{.at = reading.at, .power = reading.power};
  if (one.slow.at <= reading.at) {
    const SlowReading slow = std::exchange(one.slow, {});
    point.sm_utilisation = slow.sm_utilisation;
    point.memory_utilisation = slow.memory_utilisation;
    point.sm_clock = slow.sm_clock;
  }
  one.detector->add(point);
  if (one.anew && reading.at >= one.anew_from) one.anew->add(point);
  one.latest.push_back(point);
  if (one.latest.size() > kPointsForRate) one.latest.pop_front();
}

void IterationWatch::kernels(const KernelNews& news) {
  // One news may hold several cycles of a process: between two of them nothing is known of it.
  const auto ended = [&](const record::KernelCycle& cycle) {
    for (auto& [device, sequence] : kernels_) sequence.cycle_ended(cycle.end, cycle.pid);
    tuning_.cycle_ended(cycle.end);
  };
  auto cycle = news.cycles.begin();
  for (const KernelRecord& kernel : news.kernels) {
    for (; cycle != news.cycles.end() && cycle->end < kernel.begin; ++cycle) ended(*cycle);
    const auto known = kernels_.find(kernel.device_uuid);
    if (known == kernels_.end() && kernels_.size() >= kMostDevices) {
      ++kernels_elsewhere_;
      continue;
    }
    (known != kernels_.end() ? known->second : kernels_[kernel.device_uuid]).add(kernel);
    tuning_.kernel(kernel);
  }
  for (; cycle != news.cycles.end(); ++cycle) ended(*cycle);
}

void IterationWatch::marked(const progress::TrackedIteration& tracked) {
  marks_.add(tracked);
  last_mark_ = tracked.iteration.end;
  if (!tracked.paused) tuning_.iteration(tracked.iteration);
}

void IterationWatch::setting_changed(TimePoint at) {
  tuning_.setting_changed(at);
  marks_.setting_changed(at);
  for (Telemetry& one : telemetry_) {
    one.anew = progress::make_period_detector(one.sensor);
    one.anew_from = at + kSettles;
  }
}

// At another setting the iteration has another length, and what was read before it hides that. Until the
// readings since then tell, the iterations are followed by what told them before.
void IterationWatch::hand_over(Telemetry& one) {
  if (!one.anew) return;
  if (!sure(one.anew->estimate())) return;
  one.detector = std::move(one.anew);
  one.unit.anew();
  one.at_work = true;
}

bool IterationWatch::telemetry_counts() const {
  const auto& used = ruling_.estimate;
  if (!used || !used->periodic || used->relation != PeriodRelation::exact) return false;
  if (used->source == ProgressSource::telemetry)
    return used->confidence >= (counted_ ? kStillCounts : kCounts);
  const auto checks = checks_on(ruling_, ProgressSource::telemetry);
  return !checks.empty() && checks.front()->agrees && checks.front()->ratio &&
         std::abs(*checks.front()->ratio - 1) < kSameIteration;
}

void IterationWatch::give_out(const std::vector<Iteration>& iterations, ProgressSource source,
                              IterationNews& news) {
  for (const Iteration& one : iterations) {
    if (last_end_ && one.begin < *last_end_) continue;
    // What a sensor did not show of a few iterations is no pause: they were done all the same.
    if (source == ProgressSource::telemetry && last_end_ && usual_)
      if (const double missed = (one.begin - *last_end_) / *usual_; missed < kPauseFactor)
        given_out_ += std::lround(missed);
    progress::TrackedIteration tracked;
    tracked.iteration = {given_out_++, one.begin, one.end, source};
    if (last_end_ && usual_ && one.begin - *last_end_ > kPauseFactor * *usual_)
      tracked.pause_before = one.begin - *last_end_;
    usual_ = one.duration();
    last_end_ = one.end;
    news.iterations.push_back(tracked);
  }
}

// The GPUs of a job work in step: the one whose telemetry is surest speaks for all. The last word is on the
// whole run.
void IterationWatch::hear_telemetry(TimePoint now, const std::vector<bool>& used, bool last,
                                    IterationNews& news) {
  std::optional<IterationEstimate> best;
  std::optional<std::size_t> whose;
  for (std::size_t i = 0; i < telemetry_.size(); ++i) {
    hand_over(telemetry_[i]);
    const auto estimate =
        last ? telemetry_[i].detector->summary().verdict : telemetry_[i].detector->estimate();
    if (!estimate || !used[i]) continue;
    // Two that are as sure must not take turns.
    const double lead = heard_gpu_ == i ? kConfidenceMoved : 0.0;
    const bool periodic_first = best && estimate->periodic && !best->periodic;
    if (best && !periodic_first && estimate->confidence + lead <= best->confidence) continue;
    best = estimate;
    whose = i;
  }
  heard_gpu_ = whose;
  if (best) {
    best->at = now;
    arbiter_.tell(*best);
  } else {
    arbiter_.silent(ProgressSource::telemetry);
  }
  ruling_ = arbiter_.rule(now);
  const bool counts = telemetry_counts();
  counted_ = counts;
  for (std::size_t i = 0; i < telemetry_.size(); ++i) {
    auto iterations = telemetry_[i].detector->take_iterations();
    if (!counts || i != whose || last_mark_) continue;
    if (best && best->period) iterations = telemetry_[i].unit.counted(iterations, *best->period);
    for (const Iteration& one : iterations) tuning_.iteration(one);
    give_out(iterations, ProgressSource::telemetry, news);
  }
}

void IterationWatch::hear_kernels(IterationNews& news) {
  std::optional<IterationEstimate> best;
  std::optional<DeviceKey> whose;
  double most = 0;
  for (auto& [device, sequence] : kernels_) {
    const auto estimate = sequence.estimate();
    if (!estimate) continue;
    // Two that are as sure must not take turns.
    const double sure = estimate->confidence + (heard_device_ == device ? kConfidenceMoved : 0.0);
    if (best && sure <= most) continue;
    best = estimate;
    whose = device;
    most = sure;
  }
  if (whose) heard_device_ = whose;
  if (best) arbiter_.tell(*best);
  for (auto& [device, sequence] : kernels_) {
    const auto iterations = sequence.take_iterations();
    if (last_mark_ || device != heard_device_ || telemetry_counts()) continue;
    for (const Iteration& one : iterations) tuning_.iteration(one);
    give_out(iterations, ProgressSource::kernels, news);
  }
}

void IterationWatch::tell_statements(IterationNews& news, bool last) {
  const auto tell = [&](const IterationEstimate& estimate, bool used, std::string check) {
    record::IterationStatement row{std::nullopt, estimate, used, std::move(check)};
    if (estimate.source == ProgressSource::telemetry && heard_gpu_) row.gpu = telemetry_[*heard_gpu_].id;
    auto& before = told_[static_cast<std::size_t>(estimate.source)];
    if (before && same(*before, row, last ? kPeriodMovedAtAll : kPeriodMoved)) return;
    news.found = news.found || used;
    before = row;
    news.statements.push_back(std::move(row));
  };
  std::string checks;
  for (const auto& check : ruling_.checks)
    checks += cat(checks.empty() ? "" : "; ", name_of(check.source), ": ", check.why);
  if (ruling_.estimate) tell(*ruling_.estimate, true, checks);
  for (const ProgressSource other :
       {ProgressSource::marks, ProgressSource::kernels, ProgressSource::telemetry}) {
    const auto estimate = arbiter_.latest(other);
    if (!estimate || (ruling_.estimate && ruling_.estimate->source == other)) continue;
    const auto of_it = checks_on(ruling_, other);
    tell(*estimate, false, of_it.empty() ? std::string() : of_it.front()->why);
  }
}

void IterationWatch::tell_rate(TimePoint now, IterationNews& news) {
  if (ruling_.estimate && ruling_.estimate->periodic) return;
  if (rate_told_ && now - *rate_told_ < kRatePeriod) return;
  // Undecided is not yet an answer; one that nobody trusts is.
  if (!ruling_.estimate && !heard_gpu_ && !heard_device_) return;
  rate_told_ = now;
  for (const auto& [device, sequence] : kernels_) {
    if (const auto rate = sequence.rate()) {
      news.rates.push_back({std::nullopt, *rate});
      return;
    }
  }
  if (!heard_gpu_) return;
  Telemetry& one = telemetry_[*heard_gpu_];
  const std::vector<progress::TelemetryPoint> points(one.latest.begin(), one.latest.end());
  if (const auto rate = progress::telemetry_rate(points)) news.rates.push_back({one.id, *rate});
}

IterationNews IterationWatch::step(TimePoint now, const std::vector<bool>& used, bool last) {
  IterationNews news;
  if (auto estimate = marks_.estimate()) arbiter_.tell(*estimate);
  hear_kernels(news);
  hear_telemetry(now, used, last, news);
  tell_statements(news, last);
  tell_rate(now, news);
  tuning_.pass(now);
  const progress::TuningState state = tuning_.state();
  if (was_tuning_ != state.tuning) {
    was_tuning_ = state.tuning;
    news.tuning = state;
  }
  return news;
}

}  // namespace rubato::conduct
