#include "govern/layer_plan/switch_times.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::govern {
namespace {

// A request later than this share of its phase is dropped: the clocks it asks for would arrive when much of
// the phase is over, and leave again after the next boundary.
constexpr double kMostLate = 0.25;

std::size_t before(const plan::LayerPlan& plan, std::size_t phase) {
  return phase == 0 ? plan.phases.size() - 1 : phase - 1;
}

bool changes_at(const plan::LayerPlan& plan, std::size_t phase) {
  return plan.phases[phase].clocks != plan.phases[before(plan, phase)].clocks;
}

double length_of(const PhaseReading& reading, std::size_t phase) {
  const double end = phase + 1 < reading.starts.size() ? reading.starts[phase + 1] : 1.0;
  return std::max(0.0, end - reading.starts[phase]);
}

}  // namespace

std::vector<TimedSwitch> switch_times(const plan::LayerPlan& plan, const PhaseReading& reading, TimePoint now,
                                      Seconds horizon) {
  std::vector<TimedSwitch> out;
  const TimePoint until = now + horizon;
  for (double iteration = 0;; ++iteration) {
    for (std::size_t i = 0; i < plan.phases.size(); ++i) {
      const TimePoint at = reading.begin + (iteration + reading.starts[i]) * reading.period;
      if (at > until) return out;
      if (!changes_at(plan, i)) continue;
      const TimePoint latest = at + kMostLate * length_of(reading, i) * reading.period;
      if (latest >= now) out.push_back({at, latest, plan.phases[i].clocks});
    }
  }
}

std::size_t changes_in(const plan::LayerPlan& plan) {
  std::size_t changes = 0;
  for (std::size_t i = 0; i < plan.phases.size(); ++i)
    if (changes_at(plan, i)) ++changes;
  return changes;
}

Status can_be_sent(const plan::LayerPlan& plan, const PhaseReading& reading, const SwitchLimits& limits) {
  const double rate = static_cast<double>(changes_in(plan)) / reading.period.value();
  if (rate > limits.most_per_second)
    return fail(ErrorCode::unavailable,
                cat("at ", number(reading.period.value() * 1e3, 1), " ms an iteration the plan asks for ",
                    number(rate, 1), " requests a second, and no more than ",
                    number(limits.most_per_second, 1), " are sent"));
  std::optional<double> first;
  std::optional<double> last;
  double nearest = 1;
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    if (!changes_at(plan, i)) continue;
    if (last) nearest = std::min(nearest, reading.starts[i] - *last);
    if (!first) first = reading.starts[i];
    last = reading.starts[i];
  }
  if (first && *last > *first) nearest = std::min(nearest, 1 - *last + *first);
  const Seconds gap = nearest * reading.period;
  if (gap + reading.error < limits.dwell)
    return fail(ErrorCode::unavailable,
                cat("two changes of the plan are ", number(gap.value() * 1e3, 1),
                    " ms apart here, and it wants ", number(limits.dwell.value() * 1e3, 1), " ms"));
  return {};
}

void SwitchQueue::plan(std::vector<TimedSwitch> upcoming) {
  upcoming_.assign(upcoming.begin(), upcoming.end());
}

TimePoint SwitchQueue::due_of(const TimedSwitch& one) const {
  return sent_at_ ? std::max(one.at, *sent_at_ + limits_.dwell) : one.at;
}

std::optional<TimePoint> SwitchQueue::next_due() const {
  if (upcoming_.empty()) return std::nullopt;
  return std::min(due_of(upcoming_.front()), upcoming_.front().latest);
}

bool SwitchQueue::too_many(TimePoint now) {
  while (!sent_lately_.empty() && now - sent_lately_.front() >= Seconds(1)) sent_lately_.pop_front();
  return static_cast<double>(sent_lately_.size()) >= limits_.most_per_second;
}

std::optional<TimedSwitch> SwitchQueue::take(TimePoint now) {
  while (!upcoming_.empty()) {
    const TimedSwitch one = upcoming_.front();
    if (now < one.at) return std::nullopt;
    if (asked_ == one.clocks) {
      upcoming_.pop_front();
      continue;
    }
    const TimePoint due = due_of(one);
    if (now < due && due <= one.latest) return std::nullopt;
    upcoming_.pop_front();
    if (now > one.latest) {
      ++counts_.late;
    } else if (due > one.latest || too_many(now)) {
      ++counts_.limited;
    } else {
      ++counts_.sent;
      asked_ = one.clocks;
      sent_at_ = now;
      sent_lately_.push_back(now);
      return one;
    }
  }
  return std::nullopt;
}

}  // namespace rubato::govern
