#include "progress/period/analysis.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "progress/period/dispersion.h"
#include "progress/period/nesting.h"
#include "progress/period/parts.h"
#include "progress/period/undersampled.h"

namespace rubato::progress {

namespace {

constexpr double kLongestSeconds = 33;  // asked about; a little beyond the 30 s promised
constexpr double kBandPoints = 1280;    // the latest, on each grid
constexpr double kBandLongest = 64;     // steps of the grid
constexpr double kLeastUpdates = 2.6;   // in a cycle: fewer show an alias as well as the cycle
constexpr double kLeastCycles = 2.2;    // of a candidate, in what is looked at
constexpr double kMostInner = 20;       // cycles within one iteration: 16 micro-batches and what follows them
constexpr double kLeastOuter = 1.4;
constexpr double kNear = 1.06;
constexpr double kMostApart = 6;
constexpr double kAsGood = 0.85;
constexpr double kThroughout = 0.75;
constexpr int kMostParts = 5;
constexpr double kLeastLongerAlike = 0.3;

// Another period is not taken where the readings fold on it less well (dispersion.h) by more than
constexpr double kLongerWorse = 0;
constexpr double kCommonWorse = 0.1;
constexpr double kSeenWorse = 0.15;
constexpr double kShortWindow = 0.5;  // of an update
constexpr double kFoldsAtAll = 0.4;   // and where they hardly fold at all there is nothing to lose
constexpr double kMoved = 0.02;
constexpr double kHiddenCycles = 8;
constexpr double kHiddenBetter = 0.05;
constexpr double kLeastHiddenAlike = 0.4;
constexpr std::size_t kLeastHidden = 60;  // stretches: chance makes no such likeness of so many
constexpr double kFoldCycles = 4;         // of the longer one, in a stretch
constexpr double kFoldUpdates = 30;
constexpr double kFoldBins = 24;  // of the shorter one
constexpr double kFewestBins = 8;

std::vector<Band> search(const Samples& samples, const Span& span) {
  std::vector<Band> bands;
  const auto columns = varying_columns(samples, span.begin_s, span.end_s);
  double shortest = std::max(2 * span.reading_s, kLeastUpdates * span.update_s);
  // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): a step more or less is no matter here
  for (double step = span.reading_s; step < kLongestSeconds / 16; step *= 4) {
    const double from = std::max(span.begin_s, span.end_s - kBandPoints * step);
    const double longest =
        std::min({kBandLongest * step, kLongestSeconds, (span.end_s - from) / kLeastCycles});
    if (longest > shortest)
      bands.push_back(
          search_band(resample(samples, from, span.end_s, step, columns), span.update_s, shortest, longest));
    shortest = std::max(shortest, 56 * step);  // a little overlap
  }
  return bands;
}

double continuity_of(const Series& level, const Span& span) {
  const long lag = std::max(1L, std::lround(span.update_s / level.step_s));
  return correlation(level, static_cast<std::size_t>(lag));
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

/// Of several that are the same within some percent, the best.
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

/// Where a longer candidate is as good and no multiple, both are multiples of the iteration: three halves of
/// it would not be alike if this were one.
std::optional<Judged> common_part(const Judged& found, const std::vector<Judged>& sorted, const Span& span) {
  for (const auto& longer : sorted) {
    const double ratio = longer.candidate.period_s / found.candidate.period_s;
    if (ratio < 1.1 || ratio > kMostApart || !qualifies(longer)) continue;
    // Of two clocks in one trace each explains a part only.
    if (longer.likeness.good < kThroughout) continue;
    if (longer.likeness.median < kAsGood * found.likeness.median ||
        longer.likeness.good < kAsGood * found.likeness.good)
      continue;
    for (int parts = 2; parts <= kMostParts; ++parts) {
      const double whole = std::round(ratio * parts);
      const double period_s = found.candidate.period_s / parts;
      if (std::abs(ratio * parts - whole) > 0.01 * whole || period_s < kLeastUpdates * span.update_s)
        continue;
      if (std::gcd(static_cast<int>(whole), parts) != 1) break;  // a plain multiple
      Judged out = found;
      out.candidate.period_s = 0.5 * (period_s + longer.candidate.period_s / whole);
      return out;
    }
  }
  return std::nullopt;
}

/// What was found at one period, at another that is to be believed.
Judged judge_at(const Samples& samples, const std::vector<Band>& bands, const Judged& found, double period_s,
                const Span& span) {
  const auto fits = [&](const Band& b) {
    return b.shortest_s <= period_s && period_s <= b.longest_s && !b.factors.empty();
  };
  const auto band = std::find_if(bands.begin(), bands.end(), fits);
  const Band& chosen = band == bands.end() ? *found.band : *band;
  Judged out = judge(samples, {period_s, chosen.readings.step_s}, chosen, span);
  // Detail faster than the sensor is not alike one part later, though it is in the mean.
  if (out.likeness.median < 0.5 * found.likeness.median) out.likeness = found.likeness;
  return out;
}

/// The candidate of this length, or else what was found, as if it had it.
Judged at_period(double period_s, const Judged& found, const std::vector<Judged>& all) {
  Judged out = found;
  double nearest = 0.02 * period_s;
  for (const auto& judged : all) {
    const double off = std::abs(judged.candidate.period_s - period_s);
    if (off >= nearest) continue;
    nearest = off;
    out = judged;
  }
  out.candidate.period_s = period_s;
  return out;
}

/// How well the readings fold on a candidate (dispersion.h), over stretches of its own.
double foretold_by(const Samples& samples, const Judged& judged, const Span& span) {
  const double period_s = judged.candidate.period_s;
  const auto events = events_of(samples, judged.band->readings, judged.band->factors, 2 * period_s, kEvents);
  return foretold(events, period_s, std::max(kHiddenCycles * period_s, kFoldUpdates * span.update_s),
                  std::max(period_s / kFoldBins, span.update_s));
}

/// Where something repeats: a shorter period too noisy in each single stretch to qualify, which over many of
/// its cycles foretells the readings better. Then the longer one was an epoch, or the background.
const Judged* hidden_by_noise(const Samples& samples, const Judged& found, const std::vector<Judged>& all,
                              const Span& span) {
  const Judged* best = nullptr;
  std::optional<double> most;
  for (const auto& shorter : all) {
    if (found.candidate.period_s < kLeastOuter * shorter.candidate.period_s || qualifies(shorter)) continue;
    if (!shorter.supported || shorter.sharpness < kSharp) continue;
    if (shorter.likeness.median < kLeastHiddenAlike || shorter.likeness.count < kLeastHidden) continue;
    if (!most) most = std::max(0.0, foretold_by(samples, found, span)) + kHiddenBetter;
    const double here = foretold_by(samples, shorter, span);
    if (here <= *most) continue;
    most = here;
    best = &shorter;
  }
  return best;
}

/// Whether the readings fold on the other period by so much less well than on the one there is.
bool folds_worse(const Samples& samples, const Judged& judged, double other_s, double period_s,
                 const Span& span, double margin, double least = 0) {
  const double longer_s = std::max(other_s, period_s);
  const auto events = events_of(samples, judged.band->readings, judged.band->factors, 2 * longer_s, kEvents);
  const double stretch_s = std::max(kFoldCycles * longer_s, kFoldUpdates * span.update_s);
  const double bin_s = std::max(std::min(other_s, period_s) / kFoldBins, span.update_s);
  const auto share = [&](double tried_s) {
    return foretold(events, tried_s, stretch_s, std::min(bin_s, tried_s / kFewestBins));
  };
  const double here = share(period_s);
  return here > least && share(other_s) < here - margin;
}

}  // namespace

Analysis analyse(const Samples& samples, const Span& span) {
  Analysis out;
  const auto bands = search(samples, span);
  const auto all = judge_all(samples, bands, span);
  const Judged* now = shortest_that_qualifies(all);
  if (now == nullptr) {
    for (const auto& judged : all) out.best_refused = std::max(out.best_refused, judged.likeness.median);
    return out;
  }

  Finding finding;
  // A band has its own columns: its weights go with them.
  const auto take = [&finding](const Judged& judged, const Inner& inner) {
    finding.level = inner.level();
    finding.factors = judged.band->factors;
  };
  const Judged* next = now;
  while (next != nullptr) {
    now = next;
    next = nullptr;
    const Inner inner(samples, *now, span);
    const double period = now->candidate.period_s;
    take(*now, inner);
    const Series detailed = high_pass(inner.readings(), 2 * period);
    finding.continuity = continuity_of(detailed, span);
    finding.longer_gain = -1;
    finding.suspect = false;
    for (const auto& longer : all) {
      const double ratio = longer.candidate.period_s / period;
      if (ratio < kLeastOuter || ratio > kMostInner || longer.sharpness < kSharp || !longer.supported)
        continue;
      if (longer.likeness.median < kLeastLongerAlike) continue;
      if (longer.likeness.good < std::min(0.9, now->likeness.good)) continue;
      const Inner::Verdict verdict = inner.against(longer);
      finding.suspect = finding.suspect || verdict.only_by_grid;
      finding.longer_gain = std::max(finding.longer_gain, verdict.gain);
      if (!verdict.longer_is_it ||
          folds_worse(samples, *now, longer.candidate.period_s, period, span, kLongerWorse))
        continue;
      finding.shorter = std::max(finding.shorter, now->likeness.median);
      next = &longer;
      break;
    }
  }
  if (const Judged* hidden = hidden_by_noise(samples, *now, all, span)) {
    now = hidden;
    take(*now, Inner(samples, *now, span));
  }
  auto part = common_part(*now, all, span);
  if (part &&
      folds_worse(samples, *now, part->candidate.period_s, now->candidate.period_s, span, kCommonWorse))
    part.reset();
  if (part) {
    now = &*part;
    take(*now, Inner(samples, *now, span));
    finding.suspect = true;
  }
  Judged moved;
  if (!part) {
    const double found_s = refined_period(now->band->profile, now->candidate.period_s);
    const double settled_s = settled_period(samples, *now->band, found_s, span);
    if (settled_s != found_s) {
      moved = judge_at(samples, bands, *now, settled_s, span);
      // The cycles are followed on what repeats most visibly, and divided.
      finding.parts = std::max(1, static_cast<int>(std::lround(found_s / settled_s)));
      now = &moved;
      if (finding.parts == 1) take(*now, Inner(samples, *now, span));
      finding.suspect = true;
    }
  }
  finding.likeness = now->likeness;
  finding.period_s = now->candidate.period_s;
  const double refined = refined_period(now->band->profile, finding.period_s);
  if (!part && std::abs(refined / finding.period_s - 1) < 0.06) finding.period_s = refined;
  auto seen = seen_by_updates(samples, span, finding.period_s);
  // Behind a short window an iteration faster than its updates is as well seen, and folds no worse for it.
  const bool short_window = span.window_s > 0 && span.window_s < kShortWindow * span.update_s;
  if (seen && !short_window && std::abs(seen->period_s / finding.period_s - 1) > kMoved &&
      folds_worse(samples, *now, seen->period_s, finding.period_s, span, kSeenWorse, kFoldsAtAll))
    seen.reset();
  if (seen) {
    finding.smooth = seen->explained;
    finding.relation = seen->relation;
    if (seen->relation == PeriodRelation::exact && seen->period_s != finding.period_s) {
      const Judged better = at_period(seen->period_s, *now, all);
      take(better, Inner(samples, better, span));
      finding.likeness = better.likeness;
      finding.parts = 1;
      finding.suspect = true;
    }
    finding.period_s = seen->period_s;
  }
  out.finding = std::move(finding);
  return out;
}

}  // namespace rubato::progress
