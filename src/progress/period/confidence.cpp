#include "progress/period/confidence.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kProven = 0.97;     // 283 of 286 held among generated development traces
constexpr double kUnproven = 0.9;    // an alias, or a part of a longer cycle, is not ruled out
constexpr double kByUpdates = 0.88;  // of beats and multiples told by the updates
constexpr double kSmooth =
    0.69;  // from here on an iteration faster than the sensor shows as well as this one
constexpr double kMayBeAlias = 0.75;

/// Nothing is left that a wrong period could hide behind: the shape is resolved, every stretch is alike,
/// single cycles match, and there are enough of them for their median.
bool proven(const Evidence& e) {
  return e.updates >= 16 && e.continuity >= 0.6 && e.good >= 0.97 && e.wander < 0.005 && e.cycles >= 8 &&
         e.shorter <= 0 && e.matched >= 0.9 && e.agreement < 0.005 && e.longer < 0.04 && e.covered > 0.6 &&
         !e.suspect && e.smooth < kSmooth;
}

}  // namespace

Evidence evidence_of(const Look& look, double period_s) {
  Evidence out;
  const Regime* main = nullptr;
  double covered = 0;
  for (const auto& regime : look.regimes) {
    covered += regime.followed.covered_s;
    if (main == nullptr || regime.followed.cycles.size() > main->followed.cycles.size()) main = &regime;
  }
  if (main == nullptr) return out;
  const Finding& finding = main->finding;
  out.margin = finding.likeness.median - chance_of(finding.likeness);
  out.cycles = (look.span.end_s - look.span.begin_s) / period_s;
  out.good = finding.likeness.good;
  out.matched = main->followed.alike;
  out.agreement = std::min(1.0, std::abs(main->period_s > 0 ? period_s / main->period_s - 1 : 1.0));
  out.updates = period_s / look.span.update_s;
  out.continuity = finding.continuity;
  out.covered = covered / std::max(1e-9, look.span.end_s - look.span.begin_s);
  out.longer = finding.longer_gain;
  out.suspect = finding.suspect;
  out.relation = finding.relation;
  out.smooth = finding.smooth;
  out.shorter = finding.shorter;
  auto lengths = lengths_of(*main, look.span.update_s);
  if (lengths.size() >= 4) {
    std::sort(lengths.begin(), lengths.end());
    const std::size_t n = lengths.size();
    out.wander = 1.25 * 0.74 * (lengths[n * 3 / 4] - lengths[n / 4]) / lengths[n / 2] /
                 std::sqrt(static_cast<double>(n));
  }
  return out;
}

double confidence_of(const Evidence& e) {
  if (e.relation != PeriodRelation::exact) return kByUpdates;
  // Logistic regression on generated traces, whole and cut short, a third of them faster than their sensor.
  const double x = -2.5 + 0.16 * std::max(-4.0, 10 * (e.good - 0.9)) + 2.0 * e.margin -
                   0.39 * std::min(2.0, std::log(std::max(e.cycles, 1.0) / 5)) + 0.62 * e.matched -
                   1.6 * std::min(0.0, std::log(e.updates / 12)) + 3.7 * std::min(e.continuity, 0.6) -
                   20 * std::min(e.agreement, 0.1) - 5 * std::min(e.wander, 0.04) -
                   (e.shorter > 0 ? 1.39 : 0.0) - 4 * std::clamp(e.longer, 0.0, 0.2) + 1.65 * e.covered;
  const double chance = std::min(kUnproven, 1 / (1 + std::exp(-x)));
  if (proven(e)) return kProven;
  return e.smooth < kSmooth ? chance : std::min(chance, kMayBeAlias);
}

double confidence_in_none(const Look& look, double seconds) {
  const double time = 0.9 - 0.4 * std::exp(-seconds / 20);
  return std::max(0.3, time - 0.4 * std::max(0.0, look.best_refused - 0.45));
}

}  // namespace rubato::progress
