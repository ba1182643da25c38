#include "progress/period/held.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr std::size_t kTried = 7;    // iterations followed, from which on a period has proved itself
constexpr double kThroughout = 0.4;  // share of the time since then that they cover
constexpr double kRegular = 0.75;    // share that must be of one length, against "nothing repeats"
constexpr double kSomewhat = 0.5;    // and against another period: work of random length follows no better
constexpr std::size_t kMany = 20;    // iterations that, this regular, no part of them speaks against
constexpr double kVeryRegular = 0.85;
constexpr double kClearly = 0.25;     // confidence a part of it, or none, must have more
constexpr double kMultiple = 0.015;   // of a ratio: what is held may be twice or three times the iteration,
constexpr double kLikely = 0.2;       // and is where this much speaks for the part;
constexpr double kLikelyWhole = 0.5;  // or a half or a third of it, where as much speaks for the whole
constexpr double kPlainly = 3.5;      // so many times as long: a longer period around it, found at last,
constexpr double kHardly = 0.15;      // unless next to nothing speaks for it

}  // namespace

bool same_iteration(double ratio) {
  return ratio > 0.53 && ratio < 1.9;
}

bool outweighs(const Held& held, const IterationEstimate& said, double now_s) {
  if (held.period_s <= 0 || held.followed < kTried) return false;
  if (held.covered_s < kThroughout * (now_s - held.since_s)) return false;
  if (held.regular < (said.periodic ? kSomewhat : kRegular)) return false;
  if (!said.periodic) return true;
  const double ratio = said.period->value() / held.period_s;
  if (same_iteration(ratio)) return false;
  if (ratio > kPlainly) return said.confidence < kHardly * held.confidence;
  const double times = std::max(ratio, 1 / ratio);
  const double whole = std::round(times);
  const bool multiple = whole >= 2 && whole <= 3 && std::abs(times - whole) < kMultiple * whole;
  if (multiple && said.confidence > (ratio > 1 ? kLikelyWhole : kLikely)) return false;
  if (ratio < 1 && held.followed >= kMany && held.regular > kVeryRegular) return true;
  return said.confidence < held.confidence + (ratio > 1 ? 0.0 : kClearly);
}

}  // namespace rubato::progress
