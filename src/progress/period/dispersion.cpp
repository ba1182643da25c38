#include "progress/period/dispersion.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::progress {

namespace {

constexpr std::size_t kMostBins = 48;
constexpr double kLeastInBin = 2;
constexpr double kWhole = 0.7;  // of a stretch, for it to count

struct Bin {
  double sum = 0;
  double squares = 0;
  double count = 0;
};

/// Squares that the mean of all others in its bin leaves of each value.
double left_by_others(const std::vector<Bin>& bins) {
  double left = 0;
  for (const Bin& bin : bins) {
    if (bin.count < kLeastInBin) {
      left += 2 * bin.squares;
      continue;
    }
    const double others = bin.count / (bin.count - 1);
    left += (bin.squares - bin.sum * bin.sum / bin.count) * others * others;
  }
  return left;
}

}  // namespace

double foretold(const std::vector<Events>& columns, double period_s, double stretch_s, double bin_s) {
  const auto count =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(period_s / bin_s)), 2, kMostBins);
  std::vector<Bin> bins(count);
  double all = 0;
  double left = 0;
  for (const auto& [at, x] : columns) {
    for (std::size_t from = 0; from < at.size();) {
      if (at[from] + kWhole * stretch_s > at.back() && from > 0) break;
      std::fill(bins.begin(), bins.end(), Bin{});
      double sum = 0;
      double squares = 0;
      std::size_t i = from;
      for (; i < at.size() && at[i] < at[from] + stretch_s; ++i) {
        const double turns = (at[i] - at[from]) / period_s;
        const double phase = turns - std::floor(turns);
        Bin& bin = bins[std::min(count - 1, static_cast<std::size_t>(phase * static_cast<double>(count)))];
        bin.sum += x[i];
        bin.squares += x[i] * x[i];
        bin.count += 1;
        sum += x[i];
        squares += x[i] * x[i];
      }
      all += squares - sum * sum / static_cast<double>(i - from);
      left += left_by_others(bins);
      from = i;
    }
  }
  return all > 0 ? 1 - left / all : 0;
}

}  // namespace rubato::progress
