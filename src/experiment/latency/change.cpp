#include "experiment/latency/change.h"

#include <algorithm>
#include <cmath>

namespace rubato::experiment {
namespace {

constexpr Megahertz kMemoryTolerance{30};  // read-outs are off the table's clocks by a few megahertz
// Of the power step: what it may be off and still count as followed.
constexpr double kFollowed = 0.1;
// A step has to stand this many standard deviations of the readings out of them, and out of the sensor's own
// graininess.
constexpr double kStandsOut = 4;
constexpr Watts kLeastStep{1};

struct Level {
  Watts mean;
  Watts deviation;
};

std::optional<Level> level_of(std::span<const PowerReading> readings) {
  if (readings.empty()) return std::nullopt;
  double sum = 0;
  double squares = 0;
  for (const PowerReading& r : readings) sum += r.power.value();
  const double mean = sum / static_cast<double>(readings.size());
  for (const PowerReading& r : readings) squares += std::pow(r.power.value() - mean, 2);
  return Level{Watts(mean), Watts(std::sqrt(squares / static_cast<double>(readings.size())))};
}

bool there(Megahertz from, Megahertz to, Megahertz tolerance, const std::optional<Megahertz>& read) {
  if (!read || from == to) return true;
  return to > from ? *read >= to - tolerance : *read <= to + tolerance;
}

}  // namespace

ClockTolerance tolerance_of(const ClockPair& pair, Megahertz sm_step) {
  // Not quite half of the way: between two neighbours of a table the middle counts as neither.
  constexpr double kShare = 0.49;
  const auto least = [](Megahertz usual, Megahertz way) {
    return way > Megahertz(0) ? std::min(usual, way * kShare) : usual;
  };
  return {least(sm_step, abs(pair.to.sm - pair.from.sm)),
          least(kMemoryTolerance, abs(pair.to.memory - pair.from.memory))};
}

bool reached(const ClockPair& pair, const ClockTolerance& tolerance, const ClockReading& reading) {
  return there(pair.from.sm, pair.to.sm, tolerance.sm, reading.sm) &&
         there(pair.from.memory, pair.to.memory, tolerance.memory, reading.memory);
}

bool at_start(const ClockPair& pair, const ClockTolerance& tolerance, const ClockReading& reading) {
  const auto at = [](Megahertz wanted, Megahertz within, const std::optional<Megahertz>& read) {
    return !read || abs(*read - wanted) <= within;
  };
  return at(pair.from.sm, tolerance.sm, reading.sm) && at(pair.from.memory, tolerance.memory, reading.memory);
}

std::optional<Seconds> power_delay(std::span<const PowerReading> before, TimePoint asked,
                                   std::span<const PowerReading> after, Seconds tail) {
  if (after.empty()) return std::nullopt;
  const TimePoint from = after.back().at - tail;
  const auto first = std::find_if(after.begin(), after.end(), [&](const auto& r) { return r.at >= from; });
  const auto old_level = level_of(before);
  const auto new_level = level_of(after.subspan(static_cast<std::size_t>(first - after.begin())));
  if (!old_level || !new_level) return std::nullopt;
  const Watts step = abs(new_level->mean - old_level->mean);
  if (step < std::max(kLeastStep, kStandsOut * (old_level->deviation + new_level->deviation)))
    return std::nullopt;
  std::optional<TimePoint> followed;
  for (const PowerReading& r : after) {
    const bool near = abs(r.power - new_level->mean) <= kFollowed * step;
    if (!near) followed.reset();
    if (near && !followed) followed = r.at;
  }
  if (!followed) return std::nullopt;
  return *followed - asked;
}

}  // namespace rubato::experiment
