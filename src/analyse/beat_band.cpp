#include "analyse/beat_band.h"

#include <algorithm>
#include <cmath>

#include "core/refresh_rate.h"

namespace rubato::analyse {
namespace {

// As src/measure takes it where nothing is known.
constexpr Seconds kUsualPeriod{0.1};
// Longer than this many updates is a hole, whose energy is estimated with a band of its own.
constexpr double kBridgedPeriods = 3.0;
// 95 % of a normal distribution, in standard deviations.
constexpr double kNinetyFive = 1.96;

}  // namespace

BeatBand::BeatBand(const SeriesView& series, const SensorFacts& sensor,
                   std::shared_ptr<const StepTimes> steps)
    : steps_(std::move(steps)),
      sight_{sensor.update_period.value_or(kUsualPeriod), sensor.averaging_window, sensor.lag} {
  const bool sees_all = sight_.unseen() <= 0 && !sight_.lag;
  if (sees_all || sight_.period <= Seconds(0)) return;
  RefreshRate refresh;
  const Seconds told = sight_.period;
  double before = 0;
  for (const FastReading& reading : *series.readings) {
    const auto& power = reading.*series.power;
    if (!power || !std::isfinite(power->value()) || *power < Watts(0)) continue;
    refresh.add(reading.at, *power, told);
    const double w = power->value();
    if (sums_.empty()) {
      sums_.push_back({.at = reading.at});
    } else if (reading.at > sums_.back().at) {
      Sum sum = sums_.back();
      const double seconds = (reading.at - sum.at).value();
      sum.at = reading.at;
      sum.seconds += seconds;
      sum.joules += 0.5 * (before + w) * seconds;
      sum.squares += 0.5 * (before * before + w * w) * seconds;
      if (seconds <= kBridgedPeriods * told.value()) sum.moved += std::pow((w - before) * seconds, 2);
      sums_.push_back(sum);
    }
    before = w;
  }
  if (sums_.size() < 2) sums_.clear();
  sight_.period = refresh.period(told);
}

BeatBand::Sum BeatBand::at(TimePoint t) const {
  const auto above = std::ranges::upper_bound(sums_, t, {}, &Sum::at);
  if (above == sums_.begin()) return sums_.front();
  if (above == sums_.end()) return sums_.back();
  const Sum& a = *(above - 1);
  const Sum& b = *above;
  const double share = (t - a.at) / (b.at - a.at);
  return {t, std::lerp(a.seconds, b.seconds, share), std::lerp(a.joules, b.joules, share),
          std::lerp(a.squares, b.squares, share), std::lerp(a.moved, b.moved, share)};
}

Joules BeatBand::of_beat(TimePoint from, TimePoint to) const {
  if (sums_.empty() || !steps_ || to <= from) return Joules(0);
  const auto step = steps_->before(to);
  if (!step) return Joules(0);
  const Sum a = at(from);
  const Sum b = at(to);
  const double seconds = b.seconds - a.seconds;
  if (seconds <= 0) return Joules(0);
  const double mean = (b.joules - a.joules) / seconds;
  const double variance = (b.squares - a.squares) / seconds - mean * mean;
  const Watts scatter(std::sqrt(std::max(0.0, variance)));
  return kNinetyFive * beat_sigma(*step, sight_, to - from, Watts(mean), scatter);
}

Joules BeatBand::of_looks(TimePoint from, TimePoint to) const {
  if (sums_.empty() || to <= from) return Joules(0);
  const bool steps_known = steps_ && steps_->before(to);
  const double moved = std::max(0.0, at(to).moved - at(from).moved);
  return Joules(kNinetyFive * std::sqrt(sight_.unseen_variance(steps_known) * moved));
}

}  // namespace rubato::analyse
