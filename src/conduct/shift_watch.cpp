#include "conduct/shift_watch.h"

#include <algorithm>

namespace rubato::conduct {
namespace {

// Shorter stretches hold too few updates of most sensors (100 ms) for their mean power to mean much.
constexpr Seconds kShortest{2.0};
// Without iterations for this long, stretches go by time.
constexpr Seconds kByTime{15.0};
constexpr Seconds kPowerKept{120};

}  // namespace

void ShiftWatch::fast(const FastReading& reading) {
  if (!reading.power) return;
  power_.emplace_back(reading.at, *reading.power);
  while (reading.at - power_.front().first > kPowerKept) power_.pop_front();
}

void ShiftWatch::rebase(TimePoint at) {
  detector_.rebase(at);
  open_.reset();
  noticed_.reset();
}

void ShiftWatch::close(const Stretch& stretch) {
  progress::ShiftReading reading{.begin = stretch.begin, .end = stretch.end, .sm_utilisation = utilisation_};
  if (stretch.iterations > 0)
    reading.period = (stretch.end - stretch.begin) / static_cast<double>(stretch.iterations);
  double sum = 0;
  std::size_t count = 0;
  for (auto one = power_.rbegin(); one != power_.rend() && one->first >= stretch.begin; ++one) {
    if (one->first >= stretch.end) continue;
    sum += one->second.value();
    ++count;
  }
  if (count > 0) reading.power = Watts(sum / static_cast<double>(count));
  reading.features = std::exchange(features_, std::nullopt);
  if (auto shift = detector_.add(reading)) noticed_ = std::move(shift);
}

void ShiftWatch::iteration(const progress::TrackedIteration& tracked) {
  const Iteration& one = tracked.iteration;
  if (tracked.paused || tracked.pause_before) open_.reset();
  last_iteration_ = one.end;
  if (tracked.paused) return;
  // Time alone went before: what it began is no whole iteration.
  if (!open_ || open_->iterations == 0) open_ = Stretch{one.begin, one.begin, 0};
  open_->end = one.end;
  ++open_->iterations;
  if (open_->end - open_->begin < kShortest) return;
  close(*open_);
  open_ = Stretch{one.end, one.end, 0};
}

std::optional<Shift> ShiftWatch::step(TimePoint now) {
  const bool by_time = !last_iteration_ || now - *last_iteration_ > kByTime;
  if (by_time) {
    if (!open_ || open_->iterations > 0) open_ = Stretch{now, now, 0};
    if (now - open_->begin >= kShortest) {
      open_->end = now;
      close(*open_);
      open_ = Stretch{now, now, 0};
    }
  }
  return std::exchange(noticed_, std::nullopt);
}

}  // namespace rubato::conduct
