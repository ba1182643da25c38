#include "progress/period/analysis.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "progress/period/candidates.h"
#include "progress/period/dispersion.h"
#include "progress/period/leaders.h"
#include "progress/period/ranking.h"

namespace rubato::progress {

namespace {

constexpr double kLongestSeconds = 33;  // asked about; a little beyond the 30 s promised
constexpr double kBandPoints = 1280;    // the latest, on each grid
constexpr double kAsked = 1.5;          // a candidate is not moved as far below its band
constexpr double kBandLongest = 64;     // steps of the grid
constexpr double kLeastUpdates = 2.6;   // in a cycle: fewer show an alias as well as the cycle
constexpr double kLeastCycles = 2.2;    // of a candidate, in what is looked at
constexpr double kLeastChance = 0.2;    // of the best candidate, for anything to be found at all
constexpr double kExplained = 0.65;     // of the updates' variance by one fold, for it to be believed
constexpr double kFewUpdates = 3;       // in its period
constexpr double kPlainly = 0.7;        // chance of one
// Or of one that an alias of something faster would show as well, but behind a window that blurs what is
// fast.
constexpr double kNoAlias = 0.85;
constexpr double kHopeless = 0.02;  // by the first ranking: not worth following
constexpr double kLeastResolved =
    0.5;  // that it is seen, rather than stands for what the readings cannot show

// Another period is not taken where the readings fold on it less well (dispersion.h) by more than
constexpr double kSeenWorse = 0.15;
constexpr double kAnotherLength = 0.03;
constexpr double kResolvedUpdates = 12;  // in a cycle, from which on following tells its length for sure
constexpr double kShortWindow = 0.5;     // of an update
constexpr double kFoldsAtAll = 0.4;      // and where they hardly fold at all there is nothing to lose
constexpr double kMoved = 0.02;
constexpr double kFoldCycles = 4;  // of the longer one, in a stretch
constexpr double kFoldUpdates = 30;
constexpr double kFoldBins = 24;  // of the shorter one
constexpr double kFewestBins = 8;

double continuity_of(const Series& level, const Span& span) {
  const long lag = std::max(1L, std::lround(span.update_s / level.step_s));
  return correlation(level, static_cast<std::size_t>(lag));
}

/// Whether the readings fold on the other period by so much less well than on the one there is.
bool folds_worse(const Samples& samples, const Judged& judged, double other_s, double period_s,
                 const Span& span, double margin, double least = 0) {
  const double longer_s = std::max(other_s, period_s);
  const Band& band = *judged.band;
  const auto events =
      events_of(fresh_readings(samples, band.readings, band.factors, kEvents), band.readings, 2 * longer_s);
  const double stretch_s = std::max(kFoldCycles * longer_s, kFoldUpdates * span.update_s);
  const double bin_s = std::max(std::min(other_s, period_s) / kFoldBins, span.update_s);
  const auto share = [&](double tried_s) {
    return foretold(events, tried_s, stretch_s, std::min(bin_s, tried_s / kFewestBins));
  };
  const double here = share(period_s);
  return here > least && share(other_s) < here - margin;
}

struct Believed {
  Leader* leader = nullptr;
  const RecallTraits* recalled = nullptr;
  double chance = 0;
  double rival = 0;  // chance of the next
};

std::vector<Opinion> opinions_of(const std::vector<Leader>& leaders) {
  std::vector<Opinion> out;
  out.reserve(leaders.size());
  for (const Leader& leader : leaders) out.push_back({leader.length_s, chance_of_leader(leader.traits)});
  return out;
}

Believed believed_of(std::vector<Leader>& leaders, const std::vector<Judged>& all,
                     const std::vector<RecallTraits>& recalled, double update_s) {
  Believed out;
  for (std::size_t i = 0; i < leaders.size(); ++i) {
    Leader& leader = leaders[i];
    if (repeats_by_sampling(leader, leaders, update_s)) continue;
    const double chance = chance_recalled(leader.traits, recalled[i]);
    // A swell is a fan, or a controller, unless its cycles plainly are iterations.
    if (all[leader.index].sharpness < kSharp && chance < kPlainly) continue;
    out.rival = std::max(out.rival, std::min(chance, out.chance));
    if (chance <= out.chance) continue;
    out.chance = chance;
    out.leader = &leader;
    out.recalled = &recalled[i];
  }
  return out;
}

/// Behind a short window an iteration faster than its updates is as well seen as a slow one.
bool shows_fast_ones(const Span& span) {
  return span.window_s > 0 && span.window_s < kShortWindow * span.update_s;
}

/// What the updates tell of the period found, where the readings do not speak against it.
std::optional<Seen> told_by(const FoldedUpdates& updates, const Samples& samples, const Judged& found,
                            const Span& span) {
  const double period_s = found.candidate.period_s;
  const auto seen = seen_by_updates(updates, span, period_s);
  if (!seen || std::abs(seen->period_s / period_s - 1) <= kMoved) return seen;
  // There an iteration faster than its updates folds no worse for it.
  if (!shows_fast_ones(span) &&
      folds_worse(samples, found, seen->period_s, period_s, span, kSeenWorse, kFoldsAtAll))
    return std::nullopt;
  return seen;
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
    if (longest > shortest) {
      bands.push_back(
          search_band(resample(samples, from, span.end_s, step, columns), span.update_s, shortest, longest));
      Band& band = bands.back();
      if (!band.factors.empty() && shortest < kAsked * kFine * span.update_s)
        band.fresh = fresh_readings(samples, band.readings, band.factors, kEvents);
    }
    shortest = std::max(shortest, 56 * step);  // a little overlap
  }
  return bands;
}

Analysis analyse(const Samples& samples, const Span& span, const Recall& recall) {
  Analysis out;
  const auto bands = bands_of(samples, span);
  const auto recalled_s = recall.lengths_s();
  const auto all = candidates_of(samples, bands, span, recalled_s);
  for (const Judged& judged : all) out.likest = std::max(out.likest, judged.likeness.median);
  const auto traits = traits_of(all, span);
  std::vector<double> chances;
  chances.reserve(traits.size());
  for (const Traits& t : traits) chances.push_back(chance_of_candidate(t));
  if (!chances.empty()) out.chance = *std::max_element(chances.begin(), chances.end());
  if (out.chance < kHopeless && recalled_s.empty()) return out;
  const auto updates = fold_updates(samples, span);
  auto leaders = leaders_of(samples, all, traits, chances, updates, span, recalled_s);
  out.opinions = opinions_of(leaders);
  const auto recalled = recall.traits_of(out.opinions, span.end_s);
  const Believed believed = believed_of(leaders, all, recalled, span.update_s);
  Leader* best = believed.leader;
  out.chance = believed.chance;
  if (best == nullptr) return out;
  Judged now = all[best->index];
  // Where following came out at another length, as at twice a candidate, that length was believed.
  if (std::abs(best->length_s / now.candidate.period_s - 1) > kAnotherLength &&
      !(now.candidate.period_s < kResolvedUpdates * span.update_s &&
        folds_worse(samples, now, best->length_s, now.candidate.period_s, span, 0)))
    now.candidate.period_s = best->length_s;
  Finding finding;
  finding.chance = out.chance;
  finding.period_s = now.candidate.period_s;
  finding.level = std::move(best->level);
  finding.followed = std::move(best->followed);
  finding.factors = now.band->factors;
  finding.likeness = now.likeness;
  finding.continuity = continuity_of(finding.level, span);
  const auto seen = updates ? told_by(*updates, samples, now, span) : std::nullopt;
  if (seen) finding.smooth = seen->explained;
  // Which of two lengths it is, the ranking has told: it knows how the updates fold too.
  const bool alias = seen.has_value() && seen->relation != PeriodRelation::exact;
  if (alias && (out.chance < kNoAlias || shows_fast_ones(span))) {
    // What is not much slower than the sensor is no candidate: a fold of few updates that explains them needs
    // none.
    const bool alone = updates->fold->updates < kFewUpdates && seen->explained > kExplained;
    if (out.chance < kLeastChance && !alone) return out;
    finding.relation = seen->relation;
    finding.period_s = seen->period_s;
  } else if (out.chance < kLeastChance) {
    return out;
  } else if (chance_resolved(best->traits, *believed.recalled, out.chance, believed.rival) < kLeastResolved) {
    out.unresolved_s = best->length_s;
    return out;
  }
  out.finding = std::move(finding);
  return out;
}

}  // namespace rubato::progress
