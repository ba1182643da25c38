#include "progress/mark_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/text.h"
#include "progress/stats.h"

namespace rubato::progress {
namespace {

constexpr std::size_t kKept = 64;
constexpr std::size_t kFewest = 3;
constexpr double kTwoSided95 = 1.96;
// What marks mark is what the program calls an iteration. That it is another unit (an epoch, a micro-batch)
// is what the other sources are there to notice.
constexpr double kMarksAreRight = 0.98;
// A slope is told once it stands out of its own error by this factor: 64 spacings give one chance in some
// hundred thousand to do so by noise.
constexpr double kSlopeTold = 4.5;
// Less than this over all spacings together is nobody's concern, and where nothing scatters it is rounding.
constexpr double kChangeTold = 0.001;

/// Relative change a minute, by least squares; absent where it does not stand out.
std::optional<double> drift(const std::vector<double>& minutes, const std::vector<double>& seconds) {
  const double n = static_cast<double>(minutes.size());
  const double mean_x = *mean(minutes);
  const double mean_y = *mean(seconds);
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    xx += (minutes[i] - mean_x) * (minutes[i] - mean_x);
    xy += (minutes[i] - mean_x) * (seconds[i] - mean_y);
  }
  if (n < 8 || xx <= 0 || mean_y <= 0) return std::nullopt;
  const double slope = xy / xx;
  double rest = 0;
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    const double off = seconds[i] - mean_y - slope * (minutes[i] - mean_x);
    rest += off * off;
  }
  const double error = std::sqrt(rest / (n - 2) / xx);
  const double change = std::abs(slope) * (minutes.back() - minutes.front());
  if (std::abs(slope) < kSlopeTold * error || change < kChangeTold * mean_y) return std::nullopt;
  return slope / mean_y;
}

}  // namespace

void MarkEstimate::add(const TrackedIteration& tracked) {
  const bool follows = previous_ && tracked.iteration.index == previous_->index + 1;
  const bool pause = tracked.paused || tracked.pause_before;
  if (follows && !pause && tracked.iteration.begin > previous_->begin) {
    spacings_.push_back({tracked.iteration.begin, (tracked.iteration.begin - previous_->begin).value()});
    if (spacings_.size() > kKept) spacings_.pop_front();
  }
  previous_ = tracked.iteration;
  // The next one's spacing would hold what is left out here.
  if (tracked.paused) previous_.reset();
}

std::optional<IterationEstimate> MarkEstimate::estimate() const {
  if (spacings_.size() < kFewest) return std::nullopt;
  const auto is_new = [&](const Spacing& s) { return !changed_ || s.at - Seconds(s.seconds) >= *changed_; };
  const bool settled = std::count_if(spacings_.begin(), spacings_.end(), is_new) >= std::ptrdiff_t{kFewest};
  std::vector<double> minutes;
  std::vector<double> seconds;
  Moments moments;
  for (const Spacing& spacing : spacings_) {
    if (is_new(spacing) != settled) continue;
    minutes.push_back((spacing.at - spacings_.front().at).value() / 60);
    seconds.push_back(spacing.seconds);
    moments.add(spacing.seconds);
  }
  if (seconds.size() < kFewest) return std::nullopt;
  const double period = *median(seconds);
  if (period <= 0) return std::nullopt;
  IterationEstimate out;
  out.at = spacings_.back().at;
  out.source = ProgressSource::marks;
  out.periodic = true;
  out.period = Seconds(period);
  out.confidence = kMarksAreRight;
  const double count = static_cast<double>(seconds.size());
  out.half_width = kTwoSided95 * std::sqrt(moments.variance().value_or(0) / count) / period;
  if (settled) out.drift_per_minute = drift(minutes, seconds);
  out.why = cat("the program marks its iterations; the middle one of the latest ", seconds.size());
  return out;
}

}  // namespace rubato::progress
