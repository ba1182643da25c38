#include "progress/gpoeo/stability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "progress/gpoeo/moments.h"
#include "progress/gpoeo/published.h"
#include "progress/gpoeo/single_estimate.h"

namespace rubato::progress::gpoeo {
namespace {

using Kind = Judgement::Kind;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double spread_of(std::span<const double> values) {
  const auto [low, high] = std::ranges::minmax(values);
  return (high - low) / mean_of(values);
}

double threshold_of(Mode mode) {
  switch (mode) {
    case Mode::strict:
      return kStrict;
    case Mode::normal:
      return kNormal;
    case Mode::relaxed:
      return kRelaxed;
  }
  return kNormal;
}

bool flat(std::span<const double> trace) {
  constexpr std::size_t kSpan = std::size_t{kFlatWindows} * kFlatWindow;
  if (trace.size() < kSpan + 2 * std::size_t{kFlatEnds}) return false;
  const auto tail = trace.subspan(trace.size() - kFlatEnds - kSpan, kSpan);
  const Moments moments(tail);
  for (std::size_t begin = 0; begin + 2 * kFlatWindow <= kSpan; begin += kFlatWindow) {
    const double mean = moments.mean(begin, begin + kFlatWindow);
    if (std::abs(moments.mean(begin + kFlatWindow, begin + 2 * kFlatWindow) - mean) >
        kFlatMeans * std::abs(mean))
      return false;
  }
  const double mean = moments.mean(0, kSpan);
  const double scale = std::abs(mean);
  return moments.deviation(0, kSpan) <= kFlatSpread * scale && std::ranges::all_of(tail, [&](double value) {
           return std::abs(value - mean) <= kFlatDeviation * scale;
         });
}

class Judge {
 public:
  Judge(std::span<const double> trace, double upper, Mode mode)
      : trace_(trace),
        upper_(upper),
        threshold_(threshold_of(mode)),
        duration_(static_cast<double>(trace.size()) * kInterval) {}

  Judgement judgement() {
    first_ = estimate_once(trace_, upper_);
    const double period = first_.period;
    if (first_.kind == SingleEstimate::Kind::no_peak) return nothing_repeats(period);
    if (duration_ >= kLongTrace * upper_) {
      if (period > upper_ || !thirds_agree()) return unstable(period);
    } else if (period > duration_ / 2) {
      return more(std::max(period / 2, kLongTraceAsked * upper_ - duration_), period);
    }
    estimate_suffixes();
    if (duration_ / period < kCoverage) return more(beyond_coverage(period), period);
    return decide();
  }

 private:
  [[nodiscard]] std::span<const double> suffix(double from) const {
    return trace_.subspan(std::min(trace_.size(), static_cast<std::size_t>(from / kInterval)));
  }

  bool thirds_agree() {
    std::vector<double> periods{first_.period};
    for (const double part : {0.33, 0.66})
      periods.push_back(estimate_once(suffix(part * upper_), upper_).period);
    return spread_of(periods) <= kLongTraceSpread;
  }

  void estimate_suffixes() {
    estimates_.assign(1, first_);
    double longest = first_.period;
    double from = 0;
    for (;;) {
      from += std::max(estimates_.back().period / 2, duration_ / 10);
      if ((duration_ - from) / longest < kSuffix) return;
      estimates_.push_back(estimate_once(suffix(from), upper_));
      longest = std::max(longest, estimates_.back().period);
    }
  }

  /// Outliers are left out where there are enough.
  [[nodiscard]] std::vector<SingleEstimate> used() const {
    std::vector<SingleEstimate> some = estimates_;
    if (some.size() > 8) {
      const auto cut = static_cast<std::ptrdiff_t>(static_cast<double>(some.size()) * 0.2);
      some.erase(some.end() - cut, some.end());
      some.erase(some.begin(), some.begin() + cut);
    } else if (some.size() >= 4) {
      std::vector<double> periods;
      periods.reserve(some.size());
      for (const SingleEstimate& e : some) periods.push_back(e.period);
      std::ranges::sort(periods);
      const double median = (periods[(periods.size() - 1) / 2] + periods[periods.size() / 2]) / 2;
      std::erase_if(some, [&](const SingleEstimate& e) {
        return e.period <= 0.60 * median || e.period >= 1.35 * median;
      });
    }
    return some;
  }

  Judgement decide() {
    const std::vector<SingleEstimate> some = used();
    std::vector<double> periods;
    periods.reserve(some.size());
    for (const SingleEstimate& e : some) periods.push_back(e.period);
    if (periods.empty()) periods.push_back(first_.period);
    const double longest = std::ranges::max(periods);
    const double period = mean_of(periods);
    spread_ = spread_of(periods);
    const bool late = duration_ > kTooLongSoFar * upper_;
    if (some.size() < 3) {
      if (late && spread_ > threshold_) return unstable(period);
      return more(beyond_coverage(longest), longest);
    }
    if (spread_ < threshold_) return {.kind = Kind::stable, .period = best_mean(some), .spread = spread_};
    if (spread_ > kFlatFrom && (estimates_.size() >= 8 || duration_ >= 5 * period || duration_ > upper_) &&
        flat(trace_))
      return nothing_repeats(period);
    if (late) return unstable(period);
    if (spread_ >= threshold_ + kNearly &&
        ((duration_ > upper_ && period < upper_ / 2) || duration_ >= kEnough * kCoverage * longest))
      return unstable(period);
    return more(kCoverage * longest - duration_, longest);
  }

  [[nodiscard]] static double best_mean(const std::vector<SingleEstimate>& some) {
    const auto error_of = [](const SingleEstimate& e) {
      return e.kind == SingleEstimate::Kind::no_peak ? std::numeric_limits<double>::infinity() : e.error;
    };
    const double best = std::ranges::min(some, {}, error_of).period;
    std::vector<double> near;
    for (const SingleEstimate& e : some)
      if (e.period >= 0.65 * best && e.period <= 1.35 * best) near.push_back(e.period);
    return mean_of(near);
  }

  [[nodiscard]] double beyond_coverage(double period) const {
    const bool is_short = duration_ < kLongTrace * upper_;
    return std::max(period / 2, (is_short ? kLongTraceAsked * upper_ : kCoverage * period) - duration_);
  }

  [[nodiscard]] Judgement more(double seconds, double period) const {
    if (seconds < kSmallExtension) seconds += kSmallExtension;
    seconds = std::max({seconds, period / 2, kCoverage * period - duration_});
    return {.kind = Kind::more, .period = period, .more = seconds, .spread = spread_};
  }
  [[nodiscard]] Judgement nothing_repeats(double period) const {
    Judgement none = unstable(period);
    none.flat = true;
    return none;
  }
  [[nodiscard]] Judgement unstable(double period) const {
    return {.kind = Kind::unstable, .period = period, .spread = spread_};
  }

  std::span<const double> trace_;
  double upper_;
  double threshold_;
  double duration_;
  double spread_ = 0;
  SingleEstimate first_;
  std::vector<SingleEstimate> estimates_;
};

}  // namespace

Judgement judge(std::span<const double> trace, double upper, Mode mode) {
  return Judge(trace, upper, mode).judgement();
}

}  // namespace rubato::progress::gpoeo
