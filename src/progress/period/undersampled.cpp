#include "progress/period/undersampled.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato::progress {

namespace {

constexpr double kLongestFold = 60;      // updates; there lines of 1/128 still stand apart
constexpr double kResolved = 2.95;       // updates in a period: with fewer an alias is as likely
constexpr double kLeastExplained = 0.5;  // by a fold: less may be a part of something longer
constexpr double kAnother = 0.03;        // of a period: nearer ones are the same
constexpr double kLongest = 16;     // updates in a period: longer ones the readings themselves show better
constexpr double kOnGrid = 0.5;     // line widths
constexpr double kOnGridOf = 0.02;  // of a found period, for it to be a whole number of updates
// Explained by a few harmonics: a fast iteration, blurred by a window it is not much longer than.
constexpr double kSmooth = 0.7;
// No training worth a detector has shorter iterations: what only one of these could be the alias of is none.
constexpr double kShortestIterationSeconds = 0.05;
constexpr double kShortWindow = 0.5;  // of an update: a longer one blurs a resolved period as much

/// The fewest updates that are a whole number of periods, as far as the lines are told apart.
std::optional<int> common_updates(const Fold& fold, double width) {
  for (int n = 3; n <= kMostCommon; ++n) {
    const double turns = n / fold.updates;
    if (std::abs(turns - std::round(turns)) < kOnGrid * width * n) return n;
  }
  return std::nullopt;
}

}  // namespace

std::optional<FoldedUpdates> fold_updates(const Samples& samples, const Span& span) {
  const auto& power = samples.column(Column::power);
  if (power.empty()) return std::nullopt;
  const double from = std::max(span.begin_s, span.end_s - static_cast<double>(kMostUpdates) * span.update_s);
  const Updates updates = updates_of(power, from, span.end_s, span.update_s);
  UpdateSpectrum spectrum(updates);
  auto fold = spectrum.smoothest_fold(kLongestFold);
  return FoldedUpdates{updates.update_s, std::move(spectrum), fold};
}

std::optional<Seen> seen_by_updates(const FoldedUpdates& updates, const Span& span, double found_s) {
  const UpdateSpectrum& spectrum = updates.spectrum;
  const auto& fold = updates.fold;
  if (!fold || fold->explained < kLeastExplained) return std::nullopt;
  const double shown_s = fold->updates * updates.update_s;
  const double ratio = found_s / shown_s;
  Seen out{shown_s, PeriodRelation::exact, fold->explained};
  const bool same = std::abs(ratio - 1) < kAnother;
  if (!same && fold->updates > kLongest) return std::nullopt;
  const double found_updates = found_s / updates.update_s;
  if (!same && ratio > 1) {
    const auto rest = spectrum.rest_of(*fold, found_updates);
    if (rest.alike > kRestAlike && rest.share > kRestShare) return std::nullopt;
  }
  const auto common = common_updates(*fold, spectrum.line_width());
  const bool short_window = span.window_s > 0 && span.window_s < kShortWindow * updates.update_s;
  const double fastest_s = updates.update_s / (1 - 1 / fold->updates);
  const bool no_alias = fastest_s < kShortestIterationSeconds;
  const bool blurred = short_window && fold->explained > kSmooth;
  if (no_alias || (fold->updates >= kResolved && !blurred)) {
    if (same) out.period_s = found_s;
    const bool on_grid = common && std::abs(found_updates - *common) < kOnGridOf * found_updates;
    if (!same && on_grid) return std::nullopt;  // which of the two it is the updates cannot tell
    return out;
  }
  if (fold->updates < kResolved) {
    if (const auto longer = spectrum.rest_repeats_after(*fold)) {
      out.period_s = *longer * updates.update_s;
      return out;
    }
  }
  // Either is possible; behind a window as long as the update the fast one would hardly be seen.
  if (common && !short_window && found_updates >= kResolved &&
      std::abs(found_updates - *common) < kOnGridOf * found_updates)
    return Seen{found_s, PeriodRelation::exact, 1};
  out.relation = PeriodRelation::beat;
  if (common) {
    out.relation = PeriodRelation::multiple;
    out.period_s = *common * updates.update_s;
  }
  return out;
}

}  // namespace rubato::progress
