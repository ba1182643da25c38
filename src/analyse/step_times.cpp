#include "analyse/step_times.h"

#include <algorithm>
#include <cmath>

#include "progress/stats.h"

namespace rubato::analyse {
namespace {

// As the session does (conduct/session_progress.cpp) and the tracker of iterations.
constexpr std::ptrdiff_t kStepsKept = 64;
constexpr std::ptrdiff_t kFewestSteps = 8;
constexpr double kPauseFactor = 5.0;

}  // namespace

StepTimes::StepTimes(const std::vector<Iteration>& iterations) {
  std::vector<double> seconds;
  seconds.reserve(iterations.size());
  for (const Iteration& i : iterations) seconds.push_back(i.duration().value());
  const double longest = kPauseFactor * progress::median(seconds).value_or(0);
  for (const Iteration& i : iterations)
    if (const double took = i.duration().value(); took > 0 && took <= longest)
      steps_.push_back({i.end, took});
  std::ranges::sort(steps_, {}, &Step::end);
}

std::optional<StepTime> StepTimes::before(TimePoint moment) const {
  const auto last = std::ranges::upper_bound(steps_, moment, {}, &Step::end);
  const auto known = last - steps_.begin();
  if (known < kFewestSteps) return std::nullopt;
  progress::Moments moments;
  for (auto step = last - std::min(known, kStepsKept); step != last; ++step) moments.add(step->seconds);
  return StepTime{Seconds(moments.mean().value_or(0)), Seconds(std::sqrt(moments.variance().value_or(0)))};
}

}  // namespace rubato::analyse
