#include "period_truth/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

namespace rubato::period_truth {
namespace {

constexpr int kMostMultiple = 64;
constexpr double kMultipleSlack = 0.15;
constexpr int kBeatHarmonics = 4;

double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool is_near(double stated, double true_value) {
  return std::abs(stated / true_value - 1) <= kTolerance;
}

bool is_multiple(double stated, double period) {
  const double times = std::round(stated / period);
  return times >= 1 && times <= kMostMultiple && is_near(stated, times * period) &&
         std::abs(stated - times * period) <= kMultipleSlack * period;
}

/// The alias of one of the first harmonics with what samples it.
bool is_beat(double stated, double period, double sampling_s) {
  const double rate = 1 / sampling_s;
  for (int h = 1; h <= kBeatHarmonics; ++h) {
    const double frequency = h / period;
    const double alias = std::abs(frequency - std::round(frequency / rate) * rate);
    if (alias > 0 && is_near(stated, 1 / alias)) return true;
  }
  return false;
}

bool is_right(Outcome outcome, const Trace& trace) {
  if (outcome == Outcome::wrong) return false;
  if (!trace.truth.median_s) return outcome == Outcome::aperiodic;
  return !trace.truth.observable || outcome == Outcome::exact;
}

/// A statement in mid-trace holds where it fits the iterations around any moment of the last 8 s or 6
/// iterations.
bool holds_at(const std::optional<IterationEstimate>& estimate, const Trace& trace, double at_s) {
  const Truth& truth = trace.truth;
  if (!estimate || !estimate->periodic) return true;
  if (!truth.median_s) return false;
  const double back = std::max(8.0, 6 * *truth.median_s);
  for (int i = 0; i <= 8; ++i) {
    const std::optional<double> local = local_median(truth, at_s - back * i / 8);
    if (local && judge(estimate, truth, *local) != Outcome::wrong) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  constexpr std::array<std::string_view, 8> kNames = {"exact", "multiple",  "beat",      "part",
                                                      "epoch", "aperiodic", "undecided", "wrong"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::optional<double> Verdict::decision_ratio() const {
  if (!decided_after_s || !truth_s) return std::nullopt;
  return *decided_after_s / std::max(6 * *truth_s, 8.0);
}

Outcome judge(const std::optional<IterationEstimate>& estimate, const Truth& truth, double period_s) {
  if (!estimate) return Outcome::undecided;
  if (!estimate->periodic) return estimate->why.empty() ? Outcome::wrong : Outcome::aperiodic;
  if (!estimate->period || !(estimate->period->value() > 0)) return Outcome::wrong;
  const double stated = estimate->period->value();
  switch (estimate->relation) {
    case PeriodRelation::exact:
      if (is_near(stated, period_s)) return Outcome::exact;
      for (const double median : truth.medians_s)
        if (is_near(stated, median)) return Outcome::exact;
      if (truth.parts > 1 && is_near(stated, period_s / truth.parts)) return Outcome::part;
      if (truth.epoch_s && is_near(stated, *truth.epoch_s)) return Outcome::epoch;
      return Outcome::wrong;
    case PeriodRelation::multiple:
      return is_multiple(stated, period_s) ? Outcome::multiple : Outcome::wrong;
    case PeriodRelation::beat:
      return is_beat(stated, period_s, truth.update_s) || is_beat(stated, period_s, truth.reading_s)
                 ? Outcome::beat
                 : Outcome::wrong;
  }
  return Outcome::wrong;
}

Verdict run_detector(const Trace& trace, const MakeDetector& make) {
  Verdict verdict;
  verdict.seed = trace.seed;
  verdict.family = trace.family;
  verdict.sensor = trace.sensor.kind;
  verdict.observable = trace.truth.observable;
  verdict.truth_s = trace.truth.median_s;
  verdict.points = trace.points.size();
  const auto detector = make(trace.facts);
  double before_s = 0;
  for (const progress::TelemetryPoint& point : trace.points) {
    const double start = cpu_now();
    detector->add(point);
    const std::optional<IterationEstimate> estimate = detector->estimate();
    verdict.cpu_s += cpu_now() - start;
    const double at_s = point.at.since_epoch().value();
    const bool stated = estimate && (estimate->periodic || !trace.truth.median_s);
    if (stated && !verdict.decided_after_s) {
      verdict.decided_after_s = std::max(0.0, at_s - trace.truth.begin_s);
      verdict.first_right = holds_at(estimate, trace, at_s);
    }
    if (stated && estimate->confidence > kSure && !holds_at(estimate, trace, at_s))
      verdict.sure_and_wrong_s += at_s - before_s;
    before_s = at_s;
  }
  verdict.watched_s = before_s;
  const std::optional<IterationEstimate> last = detector->summary().verdict;
  // Without a truth every period is wrong: judged against a length that nothing fits.
  verdict.outcome = trace.truth.median_s     ? judge(last, trace.truth, *trace.truth.median_s)
                    : last && last->periodic ? Outcome::wrong
                                             : judge(last, trace.truth, 1);
  verdict.right = is_right(verdict.outcome, trace);
  if (last) {
    verdict.confidence = last->confidence;
    if (last->periodic && last->period) verdict.stated_s = last->period->value();
  }
  return verdict;
}

}  // namespace rubato::period_truth
