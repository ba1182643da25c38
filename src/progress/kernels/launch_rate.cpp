#include "progress/kernels/launch_rate.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace rubato::progress::kernels {
namespace {

constexpr Seconds kSlice{0.1};
constexpr Seconds kLongest{10};  // without cycles the rate is that of the latest 10 to 20 s
constexpr Seconds kEnough{1};
constexpr std::uint64_t kFewest = 16;

std::int64_t slice_of(TimePoint begin, TimePoint now) {
  return static_cast<std::int64_t>((now - begin) / kSlice);
}

}  // namespace

void LaunchRate::add(TimePoint begin) {
  if (running_ && begin - running_->begin > kLongest) cycle_ended();
  if (!running_) {
    Stretch fresh;
    fresh.begin = fresh.end = begin;
    running_ = fresh;
  }
  Stretch& s = *running_;
  const std::int64_t slice = slice_of(s.begin, begin);
  for (; s.slice < slice; ++s.slice) {
    s.slices.add(static_cast<double>(s.in_slice));
    s.in_slice = 0;
  }
  ++s.in_slice;
  ++s.launches;
  s.end = std::max(s.end, begin);
}

void LaunchRate::cycle_ended() {
  if (!running_) return;
  ended_ = running_;
  running_.reset();
}

std::optional<ProgressRate> LaunchRate::over(const Stretch& s) {
  if (s.launches < kFewest || s.end <= s.begin) return std::nullopt;
  ProgressRate rate;
  rate.begin = s.begin;
  rate.end = s.end;
  rate.kind = RateKind::kernels;
  // The first launch opens the stretch: what lies between the first and the last are the others.
  rate.per_second = static_cast<double>(s.launches - 1) / (s.end - s.begin).value();
  const auto mean = s.slices.mean();
  const auto variance = s.slices.variance();
  if (mean && variance && *mean > 0)
    rate.half_width = 1.96 * std::sqrt(*variance / static_cast<double>(s.slices.count())) / *mean;
  // By judgement: kernels differ in what they do, so their number follows the work only roughly.
  rate.confidence = 0.3;
  if (rate.half_width && *rate.half_width < 0.2) rate.confidence = *rate.half_width < 0.05 ? 0.7 : 0.5;
  rate.why = cat("kernels begun in ", s.end - s.begin, ", all streams of the process");
  return rate;
}

std::optional<ProgressRate> LaunchRate::rate() const {
  if (running_ && (!ended_ || running_->end - running_->begin >= kEnough)) {
    if (auto rate = over(*running_)) return rate;
  }
  return ended_ ? over(*ended_) : std::nullopt;
}

}  // namespace rubato::progress::kernels
