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
constexpr double kMatched = 0.6;  // likeness of single cycles that can be followed
constexpr double kSureChance = 0.98;
constexpr double kMayBeAlias = 0.75;

/// Nothing is left that a wrong period could hide behind: the shape is resolved, every stretch is alike,
/// single cycles match, and there are enough of them for their median.
bool proven(const Evidence& e) {
  return e.updates >= 16 && e.continuity >= 0.6 && e.good >= 0.97 && e.wander < 0.005 && e.cycles >= 8 &&
         e.matched >= 0.9 && e.agreement < 0.005 && e.covered > 0.6 && e.chance > kSureChance &&
         e.smooth < kSmooth;
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
  out.cycles = (look.span.end_s - look.span.begin_s) / period_s;
  out.good = finding.likeness.good;
  out.matched = main->followed.alike;
  out.agreement = std::min(1.0, std::abs(main->period_s > 0 ? period_s / main->period_s - 1 : 1.0));
  out.updates = period_s / look.span.update_s;
  out.continuity = finding.continuity;
  out.covered = covered / std::max(1e-9, look.span.end_s - look.span.begin_s);
  out.chance = finding.chance;
  out.relation = finding.relation;
  out.smooth = finding.smooth;
  auto lengths = lengths_of(main->followed.cycles, main->period_s, look.span.update_s);
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
  const double chance = std::min(kUnproven, e.chance * std::clamp(e.matched / kMatched, 0.5, 1.0));
  if (proven(e)) return kProven;
  return e.smooth < kSmooth ? chance : std::min(chance, kMayBeAlias);
}

double confidence_in_none(const Look& look, double seconds) {
  const double time = 0.9 - 0.4 * std::exp(-seconds / 20);
  return std::max(0.3, time * (1 - look.chance));
}

}  // namespace rubato::progress
