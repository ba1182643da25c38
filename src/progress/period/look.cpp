#include "progress/period/look.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "progress/period/counted_lengths.h"
#include "progress/period/trail.h"

namespace rubato::progress {

namespace {

constexpr std::size_t kLeastFollowed = 3;

std::optional<Regime> regime_in(const Samples& samples, const Span& span, Look& seen,
                                const Recall& recall = {}) {
  Analysis analysis = analyse(samples, span, recall);
  if (seen.opinions.empty()) seen.opinions = std::move(analysis.opinions);
  seen.likest = std::max(seen.likest, analysis.likest);
  seen.chance = std::max(seen.chance, analysis.chance);
  if (!seen.unresolved_s) seen.unresolved_s = analysis.unresolved_s;
  if (!analysis.finding) return std::nullopt;
  Regime out;
  out.finding = std::move(*analysis.finding);
  out.period_s = out.finding.period_s;
  // Single cycles of a beat, or of a multiple that only the updates make one, are no iterations.
  if (out.finding.relation == PeriodRelation::exact) out.followed = std::move(out.finding.followed);
  out.begin_s = span.begin_s;
  out.end_s = span.end_s;
  if (out.followed.cycles.size() >= 3) {
    out.begin_s = out.followed.cycles.front().begin_s;
    out.end_s = out.followed.cycles.back().end_s;
  }
  return out;
}

}  // namespace

Followed follow_on(const Samples& samples, const Span& span, const Guide& guide, double period_s,
                   const std::vector<double>& marks_s) {
  constexpr double kBefore = 1.5;  // periods: the first template and the moving average reach back
  if (marks_s.empty()) return {};
  const double begin_s = std::max(span.begin_s, marks_s.front() - kBefore * period_s);
  const double step = period_s / std::ceil(std::min(period_s / span.reading_s, 64.0));
  Series level = resample(samples, begin_s, span.end_s, step, guide.which);
  scale(level, guide.factors);
  if (period_s >= kFine * span.update_s) level = smooth(level, period_s / kDetail);
  return follow_on(high_pass(level, 2 * period_s), period_s, marks_s);
}

std::vector<TimedLength> all_lengths(const Look& look) {
  std::vector<TimedLength> all;
  const auto told = [&](const Regime& regime) { return regime.followed.cycles.size() >= kLeastFollowed; };
  const bool any = std::any_of(look.regimes.begin(), look.regimes.end(), told);
  for (const auto& regime : look.regimes) {
    if (any && !told(regime)) continue;
    auto lengths =
        stated_lengths(regime.followed.cycles, regime.period_s, look.span.update_s, look.span.reading_s);
    if (lengths.size() < kLeastFollowed) {
      lengths.clear();
      double end_s = regime.begin_s + regime.period_s;
      do {
        lengths.push_back({end_s, regime.period_s});
        end_s += regime.period_s;
      } while (end_s <= regime.end_s);
    }
    all.insert(all.end(), lengths.begin(), lengths.end());
  }
  return all;
}

namespace {

constexpr double kUniform = 0.85;  // share of stretches alike, from which on one period explains the trace
constexpr double kHopeless = 0.1;  // of the best candidate of all: a part shows no more
constexpr double kBetter = 0.1;    // of that share, for a part to be believed over the whole
constexpr double kLeastPartSeconds = 5;
constexpr int kSplits = 2;

Span part(const Span& span, double begin_s, double end_s) {
  Span out = span;
  out.begin_s = begin_s;
  out.end_s = end_s;
  return out;
}

/// Adds the regimes of the span in order of time. `known_s`: the period of a neighbour, which a change of
/// clock scales by little more than two.
void explain(const Samples& samples, const Span& span, std::optional<double> known_s, int splits, Look& out,
             const Recall& recall = {}) {
  auto main = regime_in(samples, span, out, recall);
  const double good = main ? main->finding.likeness.good : 0;
  // What the readings of the whole do not tell from others, halves of them do not either.
  const bool hopeless = !main && (out.chance < kHopeless || out.unresolved_s);
  if (good < kUniform && !hopeless && splits > 0 && span.end_s - span.begin_s > 2 * kLeastPartSeconds) {
    const double middle = 0.5 * (span.begin_s + span.end_s);
    Look halves;
    auto first = regime_in(samples, part(span, span.begin_s, middle), halves);
    auto second = regime_in(samples, part(span, middle, span.end_s), halves);
    if (second && (!first || second->finding.likeness.good > first->finding.likeness.good))
      first = std::move(second);
    // Of a part only what can be the same iteration at another clock.
    if (first && main && !same_iteration(first->period_s / main->period_s)) first.reset();
    if (first && first->followed.cycles.size() >= 4 &&
        first->finding.likeness.good > std::max(good + kBetter, 0.8))
      main = std::move(first);
  }
  if (!main) return;
  if (known_s && !same_iteration(main->period_s / *known_s)) return;
  const double least = std::max(6 * main->period_s, kLeastPartSeconds);
  const double begin = main->begin_s;
  const double end = main->end_s;
  const double period = main->period_s;
  if (splits > 0 && begin - span.begin_s > least)
    explain(samples, part(span, span.begin_s, begin), period, splits - 1, out);
  out.regimes.push_back(std::move(*main));
  if (splits > 0 && span.end_s - end > least)
    explain(samples, part(span, end, span.end_s), period, splits - 1, out);
}

}  // namespace

Look look(const Samples& samples, const Span& span, const Recall& recall) {
  Look out;
  out.span = span;
  explain(samples, span, std::nullopt, kSplits, out, recall);
  return out;
}

}  // namespace rubato::progress
