#include "progress/shift/signal_watch.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "progress/shift/threshold.h"

namespace rubato::progress {
namespace {

// A stall or a late reading spoils two neighbours at most, and is over within a second.
constexpr std::size_t kShortest = 3;
constexpr double kShortestSeconds = 1;
// A change that has not stood out after so long becomes part of the level.
constexpr std::size_t kLongest = 60;
constexpr double kLongestSeconds = 60;
constexpr std::size_t kFewestInWindow = 12;
constexpr std::array<std::size_t, 17> kLengths{3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60};
// What is learned from.
constexpr std::size_t kMostLearned = 512;
constexpr double kLearnedSeconds = 600;
// Asked for the whole smallest change, half of those that are just as large would be missed.
constexpr double kOfSmallest = 0.6;
// Lengths and both sides are tried for the same reading; neighbouring lengths mostly agree.
constexpr double kLooks = 10;
// Of what is allowed; the rest is left to noise that is less tame than either test assumes.
constexpr double kShareUsed = 0.5;
constexpr double kSecondsPerHour = 3600;

}  // namespace

std::size_t SignalWatch::window() const {
  const double since = points_.back().end.since_epoch().value() - kLongestSeconds;
  std::size_t n = 0;
  while (n < points_.size() && n < kLongest &&
         (n < kFewestInWindow || points_[points_.size() - 1 - n].begin.since_epoch().value() >= since))
    ++n;
  return std::min(n, std::max<std::size_t>(kShortest, points_.size() / 4));
}

// The readings in question are left out of what they are held against.
void SignalWatch::learn() {
  const std::size_t recent = window();
  if (points_.size() < recent + Baseline::kFewest) return;
  if (baseline_ && since_learned_ < (points_.size() - recent) / 16) return;
  const std::vector<SignalPoint> past(points_.begin(), points_.end() - static_cast<std::ptrdiff_t>(recent));
  baseline_.emplace(past);
  since_learned_ = 0;
}

std::optional<LevelChange> SignalWatch::add(const SignalPoint& point, double alarms_per_hour) {
  points_.push_back(point);
  ++since_learned_;
  const double since = point.end.since_epoch().value() - kLearnedSeconds;
  while (points_.size() > kMostLearned + kLongest ||
         (points_.size() > 4 * Baseline::kFewest && points_.front().begin.since_epoch().value() < since))
    points_.pop_front();
  learn();
  if (!baseline_) return std::nullopt;

  const double readings_per_hour = baseline_->readings_per_second() * kSecondsPerHour;
  const double between_alarms = readings_per_hour / (kShareUsed * alarms_per_hour);
  if (std::abs(between_alarms - threshold_readings_) > 0.05 * between_alarms) {
    threshold_ = threshold_for(between_alarms, kShortest, kLongest);
    threshold_readings_ = between_alarms;
  }
  const double threshold = as_student(threshold_, baseline_->degrees_of_freedom());
  const double log_allowed = -std::log(between_alarms * kLooks);

  std::optional<LevelChange> best;
  std::vector<double> off;
  const std::size_t longest = window();
  for (const std::size_t length : kLengths) {
    if (length > longest) break;
    while (off.size() < length) {
      const SignalPoint& p = points_[points_.size() - 1 - off.size()];
      const double residual = p.y - baseline_->expected(p.middle_s());
      off.insert(std::upper_bound(off.begin(), off.end(), residual), residual);
    }
    const double lasts_s = (point.end - points_[points_.size() - length].begin).value();
    // Many short readings are worth no more than the few of usual length that take as long.
    const double worth = std::min(static_cast<double>(length), lasts_s * baseline_->readings_per_second());
    const double mean = trimmed_mean_of_sorted(off);
    const double size = std::abs(mean);
    const double sign = mean < 0 ? -1 : 1;
    if (size < kOfSmallest * smallest_) continue;
    const double excess = size / (threshold * baseline_->standard_error(worth));
    if (excess < 1 || (best && excess <= best->excess)) continue;
    // The mean assumes noise of a known shape; that so many readings lie on the far side of half way does
    // not.
    const auto hits = static_cast<std::size_t>(
        std::count_if(off.begin(), off.end(), [&](double r) { return sign * r > size / 2; }));
    if (hits < kShortest || !in_force(sign, size)) continue;
    const double independent =
        (1 + std::max(0.0, worth - 1) * (1 - baseline_->correlation())) / static_cast<double>(length);
    const double chance = baseline_->chance_beyond(size / 2, sign);
    if (independent * log_chance_of_hits(hits, length, chance) > log_allowed) continue;
    LevelChange change = locate(sign, size);
    if (change.readings < kShortest || (point.end - change.at).value() < kShortestSeconds) continue;
    change.excess = excess;
    best = change;
  }
  return best;
}

// What was over before the latest reading was a burst.
bool SignalWatch::in_force(double sign, double size) const {
  const auto beyond = [&](std::size_t back) {
    const SignalPoint& p = points_[points_.size() - 1 - back];
    return sign * (p.y - baseline_->expected(p.middle_s())) > size / 2;
  };
  return beyond(0) && (beyond(1) || beyond(2));
}

// Page (Biometrika 41 (1954) 100): the sum of what lies beyond half way was lowest when the change began.
LevelChange SignalWatch::locate(double sign, double size) const {
  const std::size_t first = points_.size() - window();
  double sum = 0;
  double lowest = 0;
  std::size_t begin = first;
  for (std::size_t i = first; i < points_.size(); ++i) {
    const double r = sign * (points_[i].y - baseline_->expected(points_[i].middle_s()));
    sum += std::clamp(r - size / 2, -size / 2, size / 2);
    if (sum <= lowest && i + 1 < points_.size()) {
      lowest = sum;
      begin = i + 1;
    }
  }
  LevelChange change;
  std::vector<double> after;
  for (std::size_t i = begin; i < points_.size(); ++i) after.push_back(points_[i].y);
  std::sort(after.begin(), after.end());
  change.at = points_[begin].begin;
  change.from = baseline_->expected(points_[begin].middle_s());
  change.to = trimmed_mean_of_sorted(after);
  change.readings = after.size();
  change.spread = baseline_->spread();
  return change;
}

void SignalWatch::forget_before(TimePoint at) {
  while (!points_.empty() && points_.front().begin < at) points_.pop_front();
  baseline_.reset();
}

}  // namespace rubato::progress
