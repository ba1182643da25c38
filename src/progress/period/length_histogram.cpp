#include "progress/period/length_histogram.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::progress {

namespace {

constexpr double kShortestSeconds = 0.01;
constexpr double kStep = 0.0039;

}  // namespace

void LengthHistogram::add(double length_s) {
  const double bin = std::log(std::max(length_s, kShortestSeconds) / kShortestSeconds) / kStep;
  ++bins_[std::min(static_cast<std::size_t>(bin), kBins - 1)];
  ++count_;
}

double LengthHistogram::median_with(std::span<const double> more) const {
  std::vector<double> sorted(more.begin(), more.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t total = count_ + sorted.size();
  if (total == 0) return 0;
  if (count_ == 0) return 0.5 * (sorted[total / 2] + sorted[(total - 1) / 2]);
  std::size_t seen = 0;
  std::size_t taken = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const double upper = kShortestSeconds * std::exp(kStep * static_cast<double>(bin + 1));
    seen += bins_[bin];
    for (; taken < sorted.size() && sorted[taken] < upper; ++taken) {
      if (seen - bins_[bin] + taken >= total / 2) return sorted[taken];
    }
    if (seen + taken > total / 2) return upper * std::exp(-0.5 * kStep);
  }
  return sorted.empty() ? 0 : sorted.back();
}

}  // namespace rubato::progress
