#include "progress/period/nesting.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kMended = 0.7;          // of what is unlike after the inner period, alike after the outer
constexpr double kSpoilt = 0.15;         // the reverse
constexpr double kLongestOddPart = 3.2;  // inner periods; a longer odd part is a pause between epochs
constexpr double kManyInner = 8;         // with fewer inner cycles an odd part may be as long as it likes

/// The band's columns on a grid of which the period is a whole number of steps.
Series on_own_grid(const Samples& samples, const Judged& judged, const Span& span) {
  const Series& coarse = judged.band->readings;
  const double period = judged.candidate.period_s;
  const double step = period / std::ceil(std::min(period / span.reading_s, 64.0));
  Series out =
      resample(samples, coarse.begin_s, coarse.begin_s + static_cast<double>(coarse.size) * coarse.step_s,
               step, coarse.which);
  scale(out, judged.band->factors);
  return out;
}

/// Distance to the nearest whole number of updates, in updates.
double off_grid(double lag_s, double update_s) {
  const double updates = lag_s / update_s;
  return std::abs(updates - std::round(updates));
}

/// Share of time in which the series is off its mean: the effective width of its peaks.
double duty(const Series& series) {
  double squares = 0;
  double fourths = 0;
  double count = 0;
  for (const auto& x : series.columns) {
    for (const double v : x) {
      squares += v * v;
      fourths += v * v * v * v;
      count += 1;
    }
  }
  return fourths > 0 ? squares * squares / (count * fourths) : 0;
}

}  // namespace

Inner::Inner(const Samples& samples, const Judged& judged, const Span& span)
    : judged_(judged),
      span_(span),
      period_s_(judged.candidate.period_s),
      window_s_(window_for(period_s_, span)),
      fine_(period_s_ >= kFine * span.update_s),
      readings_(on_own_grid(samples, judged, span)),
      level_(high_pass(fine_ ? smooth(readings_, period_s_ / kDetail) : readings_, 2 * period_s_)) {
  if (!fine_)
    events_ = events_of(samples, judged.band->readings, judged.band->factors, 2 * period_s_, kEvents);
}

Inner::Pair Inner::on_grid(const Series& series, double longer_s) const {
  // The same room for both: it flatters them alike.
  const double slack = std::clamp(0.04 * longer_s, 0.06 * period_s_, 0.3 * period_s_);
  return {likeness(series, window_s_, period_s_, slack), likeness(series, window_s_, longer_s, slack)};
}

Inner::Pair Inner::on_readings(double longer_s, double multiple, bool is_multiple) const {
  const double tolerance = kTolerance * period_s_;
  const auto most = static_cast<std::size_t>(std::max(1.0, static_cast<double>(kPeriods) / multiple));
  Pair out{likeness(events_, window_s_, period_s_, tolerance, kPeriods).stretches,
           likeness(events_, window_s_, longer_s, tolerance, most).stretches};
  if (!is_multiple) return out;
  // The candidate may be known less well than the multiple it stands for.
  auto exact = likeness(events_, window_s_, multiple * period_s_, tolerance, most).stretches;
  if (gain(out.own, exact).mean > gain(out.own, out.other).mean) out.other = std::move(exact);
  return out;
}

/// Whether the longer one, a multiple, falls on the grid of the readings as no other multiple does.
bool Inner::hidden_by_grid(double longer_s) const {
  const double ratio = longer_s / period_s_;
  const auto k = static_cast<int>(std::lround(ratio));
  if (fine_ || std::abs(ratio - k) > 0.06 + 0.01 * k) return false;
  const double width = period_s_ / span_.update_s;
  if (off_grid(longer_s, span_.update_s) > 0.06 * width) return false;
  for (int j = 1; j <= static_cast<int>(kPeriods); ++j)
    if (j % k != 0 && off_grid(j * period_s_, span_.update_s) < 0.06 * width) return false;
  return true;
}

/// Whether the means over single inner cycles repeat: what is inside them has drifted apart by then, or lies
/// between the readings.
bool Inner::means_repeat(const Judged& longer) const {
  const double outer = longer.candidate.period_s;
  const bool worth = judged_.likeness.good < 0.9 && outer > 3.5 * period_s_ && longer.likeness.median > 0.6 &&
                     longer.likeness.count >= 12;
  if (!worth || outer * 2.5 > static_cast<double>(readings_.size) * readings_.step_s) return false;
  const Series calm = high_pass(smooth(readings_, period_s_), 2 * outer);
  const double share = power_of(calm) / std::max(1e-12, power_of(high_pass(readings_, 2 * outer)));
  if (share < 0.03) return false;
  if (outer > kManyInner * period_s_ && duty(calm) * outer > (kLongestOddPart + 1) * period_s_) return false;
  const double alike = summary_of(likeness(calm, outer, outer, 0.05 * outer)).median;
  return (share > 0.06 && alike > 0.65) || (alike > 0.85 && period_s_ > 8 * span_.update_s);
}

Inner::Verdict Inner::against(const Judged& longer) const {
  Verdict out;
  const double outer = longer.candidate.period_s;
  const double multiple = std::round(outer / period_s_);
  const bool is_multiple =
      std::abs(outer - multiple * period_s_) < std::max(longer.candidate.step_s, 0.012 * outer);
  const bool sound = judged_.likeness.good > 0.93 && judged_.likeness.median > 0.75;
  const bool by_grid =
      fine_ || (!is_multiple && !sound && outer > kFine * span_.update_s && period_s_ > 3 * span_.update_s);
  const Pair pair = by_grid ? on_grid(level_, outer) : on_readings(outer, multiple, is_multiple);
  const Gain g = gain(pair.own, pair.other);
  const Likeness own = summary_of(pair.own);
  const Likeness other = summary_of(pair.other);
  out.gain = g.mean;

  const bool hidden = hidden_by_grid(outer);
  bool better = g.mean > std::max(0.05, 0.35 * (1 - own.mean)) && g.z > 3.5;
  out.only_by_grid = better && hidden;
  const bool whole_elsewhere = own.median > 0.85 * other.median;
  if (hidden) better = better && g.mended > kMended && whole_elsewhere;
  bool mends = g.mended > kMended && g.mean > 0.02 && g.z > 2.5 &&
               g.unlike * static_cast<double>(g.count) > 8 && g.unlike > 0.03 && g.spoilt < kSpoilt &&
               (!hidden || whole_elsewhere);
  if ((better || mends) && is_multiple && period_s_ > 8 * span_.update_s) {
    // A multiple can win by where the readings fall in the cycle; without the finest detail it does not.
    const Pair rough = on_grid(smooth(level_, std::max(period_s_ / 6, 3 * span_.update_s)), outer);
    const Gain left = gain(rough.own, rough.other);
    better = better && left.z > 3 && left.mean > std::max(0.04, 0.35 * (1 - summary_of(rough.own).mean));
    mends = mends && left.mended > kMended && left.mean > 0.4 * g.mean;
  }
  const double run_s = g.run * window_s_ / 4;  // stretches overlap by three quarters
  // Unlike throughout one part of the trace: that is another clock or a pause, not a part of each cycle.
  if (run_s > std::max(2 * outer, 6 * period_s_) && g.unlike < 0.8) return out;
  if (better || mends) {
    // A run also holds the stretches that only reach into the odd part, from before and from one lag earlier.
    const bool pause = run_s > (kLongestOddPart + 2) * period_s_ && outer > kManyInner * period_s_;
    if (!pause) {
      out.longer_is_it = true;
      return out;
    }
  }
  out.longer_is_it = !hidden && means_repeat(longer);
  return out;
}

}  // namespace rubato::progress
