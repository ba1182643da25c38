#include "progress/kernels/confidence.h"

#include <algorithm>
#include <cmath>

namespace rubato::progress::kernels {
namespace {

constexpr double kMost = 0.99;

// A few short kernels that repeat may be a layer of a network: half of them are, by judgement, and few
// networks have more than some twenty equal layers in a row. Of longer units three in ten are micro-batches,
// of which an iteration has two to some thirty. Units known to be made of others hardly ever lie in a third.
double chance_of_more_around(const Evidence& e) {
  const auto n = static_cast<double>(e.iterations);
  if (e.micro_batches) return 0.03;
  if (e.launches < 100 && e.period < Seconds(0.02)) return 0.5 / (1 + n / 40);
  return 0.3 / (1 + n / 20);
}

double agreement(const Evidence& e) {
  const double match = e.match >= 0.95 ? 1 : std::max(0.0, 1 - 4.0 / 3.0 * (0.95 - e.match));
  switch (e.sameness) {
    case Sameness::exact:
      return match;
    case Sameness::name:
      return 0.97 * match;
    case Sameness::anchors:
      return 0.85 * match;
  }
  return match;
}

}  // namespace

double confidence_in(const Evidence& e) {
  const double no_coincidence = 1 - std::pow(0.5, static_cast<double>(e.iterations + 1));
  double chance = (1 - chance_of_more_around(e)) * no_coincidence * agreement(e) * e.unit_chance;
  chance *= std::max(0.5, std::pow(0.9, e.silent_cycles));
  if (!e.recognised) chance *= 0.6;
  return std::min(kMost, chance);
}

double confidence_in_none(std::size_t launches, Seconds stretch, bool all_equal) {
  const auto n = static_cast<double>(launches);
  if (all_equal) return 0.95 * n / (n + 20);
  // Iterations of some ten seconds exist; of more than a few thousand launches, too.
  const double s = std::max(0.0, stretch.value());
  return 0.9 * (n / (n + 1000)) * (s / (s + 5));
}

}  // namespace rubato::progress::kernels
