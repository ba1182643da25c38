#include "progress/period/decision.h"

#include <array>
#include <cmath>

namespace rubato::progress {

namespace {

constexpr double kNoneAfterSeconds = 29;  // without a period it is decided that there is none
constexpr double kSoonestSeconds = 5;     // before, a longer period around the one found may still show up
constexpr double kLeastCycles = 4.5;      // of the period found
constexpr double kLongSeconds = 8;        // periods for which
constexpr double kLeastLong = 3.2;        // cycles must do
constexpr double kSame = 0.03;            // of a period: two looks agree
constexpr std::size_t kRemembered = 5;

/// Chosen on generated development traces: the same share of wrong first words, a fifth sooner.
struct Rule {
  std::size_t agreeing;  // looks in a row
  double confidence;     // of the last
  double after_s;
};
constexpr std::array<Rule, 4> kRules = {{{3, 0.5, 0}, {4, 0.25, 0}, {5, 0.1, 12}, {1, 0.8, 7.5}}};

}  // namespace

std::size_t Decision::agreeing() const {
  std::size_t out = 0;
  for (auto it = found_s_.rbegin(); it != found_s_.rend(); ++it, ++out)
    if (std::abs(*it / found_s_.back() - 1) > kSame) break;
  return out;
}

bool Decision::add(std::optional<double> period_s, double confidence, double elapsed_s) {
  // A look that finds nothing, among others that agree, was one at a stall.
  if (!period_s) return elapsed_s >= kNoneAfterSeconds;
  found_s_.push_back(*period_s);
  if (found_s_.size() > kRemembered) found_s_.erase(found_s_.begin());
  const double cycles = elapsed_s / *period_s;
  if (elapsed_s < kSoonestSeconds || cycles < (*period_s < kLongSeconds ? kLeastCycles : kLeastLong))
    return false;
  for (const Rule& rule : kRules)
    if (agreeing() >= rule.agreeing && confidence >= rule.confidence && elapsed_s >= rule.after_s)
      return true;
  return false;
}

}  // namespace rubato::progress
