#include "progress/period/analysis.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "progress/period/candidates.h"
#include "progress/period/dispersion.h"
#include "progress/period/own_level.h"
#include "progress/period/ranking.h"
#include "progress/period/undersampled.h"

namespace rubato::progress {

namespace {

constexpr double kLongestSeconds = 33;  // asked about; a little beyond the 30 s promised
constexpr double kBandPoints = 1280;    // the latest, on each grid
constexpr double kBandLongest = 64;     // steps of the grid
constexpr double kLeastUpdates = 2.6;   // in a cycle: fewer show an alias as well as the cycle
constexpr double kLeastCycles = 2.2;    // of a candidate, in what is looked at
constexpr double kLeastChance = 0.2;    // of the best candidate, for anything to be found at all
constexpr double kSame = 0.03;          // of a period

// Another period is not taken where the readings fold on it less well (dispersion.h) by more than
constexpr double kSeenWorse = 0.15;
constexpr double kShortWindow = 0.5;  // of an update
constexpr double kFoldsAtAll = 0.4;   // and where they hardly fold at all there is nothing to lose
constexpr double kMoved = 0.02;
constexpr double kFoldCycles = 4;  // of the longer one, in a stretch
constexpr double kFoldUpdates = 30;
constexpr double kFoldBins = 24;  // of the shorter one
constexpr double kFewestBins = 8;

double continuity_of(const Series& level, const Span& span) {
  const long lag = std::max(1L, std::lround(span.update_s / level.step_s));
  return correlation(level, static_cast<std::size_t>(lag));
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

std::vector<Band> bands_of(const Samples& samples, const Span& span) {
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

Analysis analyse(const Samples& samples, const Span& span) {
  Analysis out;
  const auto bands = bands_of(samples, span);
  const auto all = candidates_of(samples, bands, span);
  const auto traits = traits_of(all, span);
  std::vector<double> chances;
  for (const Traits& t : traits) chances.push_back(chance_of_iteration(t));
  const auto best = std::max_element(chances.begin(), chances.end());
  for (const Judged& judged : all) out.likest = std::max(out.likest, judged.likeness.median);
  if (best == chances.end()) return out;
  out.chance = *best;
  if (*best < kLeastChance) return out;

  Judged now = all[static_cast<std::size_t>(best - chances.begin())];
  Finding finding;
  finding.chance = *best;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::abs(all[i].candidate.period_s / now.candidate.period_s - 1) > kSame)
      finding.rival = std::max(finding.rival, chances[i]);
  finding.period_s = now.candidate.period_s;
  const auto take = [&](const Judged& judged) {
    // A band has its own columns: its weights go with them.
    finding.level = own_level(samples, judged, span);
    finding.factors = judged.band->factors;
    finding.likeness = judged.likeness;
  };
  take(now);
  finding.continuity = continuity_of(finding.level, span);
  auto seen = seen_by_updates(samples, span, finding.period_s);
  // Behind a short window an iteration faster than its updates is as well seen, and folds no worse for it.
  const bool short_window = span.window_s > 0 && span.window_s < kShortWindow * span.update_s;
  if (seen && !short_window && std::abs(seen->period_s / finding.period_s - 1) > kMoved &&
      folds_worse(samples, now, seen->period_s, finding.period_s, span, kSeenWorse, kFoldsAtAll))
    seen.reset();
  if (seen) {
    finding.smooth = seen->explained;
    finding.relation = seen->relation;
    if (seen->relation == PeriodRelation::exact && seen->period_s != finding.period_s) {
      take(at_period(seen->period_s, now, all));
      finding.chance = std::min(finding.chance, 0.5);
    }
    finding.period_s = seen->period_s;
  }
  out.finding = std::move(finding);
  return out;
}

}  // namespace rubato::progress
