#include "progress/period/judged.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kLeastWindow = 12;  // updates in a stretch
constexpr double kSupport = 0.45;    // likeness of odd partners, over that of any
constexpr int kParts = 6;
constexpr std::size_t kMostParted = 5;
constexpr double kSame = 0.004;  // of a period
constexpr double kNear = 1.06;
constexpr double kSmoothSeconds = 8;  // from here on a mere swell is taken for a fan or a controller
constexpr double kSine = 0.045;       // share of the variance above a quarter period; of a sine it is 0.01

/// A swell repeats after two and three of its cycles as well.
void drop_swells(std::vector<Judged>& sorted) {
  for (auto& j : sorted) {
    for (const auto& swell : sorted) {
      const double ratio = j.candidate.period_s / swell.candidate.period_s;
      if (swell.sharpness >= kSharp || ratio < 1.5) continue;
      if (std::abs(ratio - std::round(ratio)) < 0.06) j.sharpness = std::min(j.sharpness, swell.sharpness);
    }
  }
}

/// Likeness, and that of the double or triple, which places the period better.
double weight_of(const Judged& judged, const std::vector<Judged>& all) {
  double multiple = 0;
  for (const auto& other : all) {
    const double ratio = other.candidate.period_s / judged.candidate.period_s;
    const double times = std::round(ratio);
    if (times < 2 || times > 3 || std::abs(ratio - times) > 0.006 * times) continue;
    multiple = std::max(multiple, other.likeness.median);
  }
  return judged.likeness.median + 0.3 * multiple;
}

/// A period of few updates is known better from its multiples than from its own summit: half, a third and so
/// on of what repeats is asked as well.
void add_parts(const std::vector<Band>& bands, const Span& span, std::vector<Judged>& all) {
  const std::size_t found = all.size();
  std::size_t asked = 0;
  for (std::size_t i = 0; i < found && asked < kMostParted; ++i) {
    if (!qualifies(all[i])) continue;
    ++asked;
    for (int k = 2; k <= kParts; ++k) {
      const double period = all[i].candidate.period_s / k;
      if (period > 1.5 * kFine * span.update_s) continue;
      const bool known = std::any_of(all.begin(), all.end(), [&](const Judged& j) {
        return std::abs(j.candidate.period_s - period) < kSame * period;
      });
      const auto band = std::find_if(bands.begin(), bands.end(), [&](const Band& b) {
        return b.shortest_s <= period && period <= b.longest_s && !b.candidates.empty();
      });
      if (known || band == bands.end()) continue;
      Candidate part;
      part.period_s = period;
      part.step_s = band->readings.step_s;
      all.push_back(judge(part, *band, span));
    }
  }
}

}  // namespace

Span span_of(const Samples& samples, const TelemetryFacts& facts, double begin_s, double end_s) {
  Span out{begin_s, end_s, samples.reading_period_s().value_or(0.1), 0, 0};
  out.update_s = out.reading_s;
  for (const Column column : {Column::power, Column::sm_utilisation, Column::memory_utilisation}) {
    const auto update = samples.hold_s(column);
    // Much longer unchanged values are plateaus of the load, not the sensor's hold.
    if (update && *update < 0.15) out.update_s = std::max(out.update_s, *update);
  }
  if (facts.update_period) out.update_s = std::max(out.update_s, facts.update_period->value());
  if (facts.averaging_window) out.window_s = facts.averaging_window->value();
  return out;
}

Judged judge(const Candidate& candidate, const Band& band, const Span& span) {
  const double period = candidate.period_s;
  const double window = window_for(period, span);
  Judged out{candidate, &band, {}, 1, true};
  if (period < kFine * span.update_s) {
    const auto events = events_of(band.fresh, band.readings, 2 * period);
    const EventLikeness found = likeness(events, window, period, kTolerance * period);
    out.likeness = summary_of(found.stretches);
    out.supported = std::min(found.odd, found.not_third) > kSupport * found.best;
    return out;
  }
  // Kernels within the iteration beat with the readings; a twelfth of the period is detail enough.
  const Series level = high_pass(smooth(band.readings, period / kDetail), 2 * period);
  const double slack = std::max(0.06 * period, level.step_s);
  out.likeness = summary_of(likeness(level, window, period, slack));
  if (period > kSmoothSeconds && out.likeness.median > 0.5) {
    const auto ends = static_cast<std::size_t>(period / 8 / level.step_s) + 1;  // not centred there
    const Series edges = section(high_pass(smooth(band.readings, period / kDetail), period / 4), ends,
                                 level.size - std::min(level.size, 2 * ends));
    out.sharpness = power_of(edges) < kSine * power_of(level)
                        ? 0.0
                        : summary_of(likeness(edges, period, period, slack)).median;
  }
  return out;
}

double window_for(double period_s, const Span& span) {
  return std::max(period_s, kLeastWindow * span.update_s);
}

std::vector<Judged> judge_all(const std::vector<Band>& bands, const Span& span) {
  std::vector<Judged> out;
  for (const auto& band : bands)
    for (const auto& candidate : band.candidates) out.push_back(judge(candidate, band, span));
  add_parts(bands, span, out);
  std::sort(out.begin(), out.end(),
            [](const Judged& a, const Judged& b) { return a.candidate.period_s < b.candidate.period_s; });
  drop_swells(out);
  return out;
}

bool qualifies(const Judged& judged) {
  if (judged.sharpness < kSharp || !judged.supported) return false;
  const Likeness& l = judged.likeness;
  const bool mostly = l.median > chance_of(l) && l.good > 0.4;
  // Stalls, or another clock, in the rest of the trace: what is left must be the clearer.
  const bool partly = l.upper > 0.86 && l.good > 0.3 && l.count >= 20;
  return mostly || partly;
}

const Judged* shortest_that_qualifies(const std::vector<Judged>& sorted) {
  const Judged* first = nullptr;
  const Judged* best = nullptr;
  for (const auto& judged : sorted) {
    if (!qualifies(judged)) continue;
    if (first == nullptr) first = best = &judged;
    if (judged.candidate.period_s > kNear * first->candidate.period_s) break;
    if (weight_of(judged, sorted) > weight_of(*best, sorted)) best = &judged;
  }
  return best;
}

}  // namespace rubato::progress
