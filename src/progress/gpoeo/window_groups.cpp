#include "progress/gpoeo/window_groups.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "progress/gpoeo/moments.h"
#include "progress/gpoeo/published.h"

namespace rubato::progress::gpoeo {
namespace {

struct Band {
  double centre = 0;
  double half_width = 0;
};

struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// The smallest band about `centre` that holds a third of the samples, by bisection.
double half_width_about(double centre, std::span<const double> sorted, double range) {
  const auto share = [&](double half_width) {
    const auto from = std::ranges::lower_bound(sorted, centre - half_width);
    const auto to = std::ranges::upper_bound(sorted, centre + half_width);
    return static_cast<double>(to - from) / static_cast<double>(sorted.size());
  };
  double low = 0;
  double high = range;
  while (high - low > kDenseTolerance * range) {
    const double middle = (low + high) / 2;
    (share(middle) >= kDense ? high : low) = middle;
  }
  return high;
}

/// About that one of the four inner fifths of the window where samples stand closest together.
Band densest_band(std::span<const double> window) {
  std::vector<double> sorted(window.begin(), window.end());
  std::ranges::sort(sorted);
  const double range = sorted.back() - sorted.front();
  Band best{.centre = sorted.front(), .half_width = 2 * range};
  for (const double fifth : {0.2, 0.4, 0.6, 0.8}) {
    const double centre = sorted[static_cast<std::size_t>(fifth * static_cast<double>(sorted.size() - 1))];
    const double half_width = half_width_about(centre, sorted, range);
    if (half_width < best.half_width) best = {centre, half_width};
  }
  return best;
}

std::vector<Run> runs_inside(const Band& band, std::span<const double> window) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < window.size(); ++i) {
    if (std::abs(window[i] - band.centre) > band.half_width) continue;
    if (!runs.empty() && runs.back().end == i)
      ++runs.back().end;
    else
      runs.push_back({i, i + 1});
  }
  return runs;
}

class Grouping {
 public:
  explicit Grouping(std::span<const double> window)
      : size_(window.size()), moments_(window), deviation_(moments_.deviation(0, size_)) {}

  /// Longest first, each run takes in its neighbours as long as it stays one level.
  std::vector<Run> merged(const std::vector<Run>& seeds) const {
    std::vector<Run> runs = seeds;
    std::vector<Run> order = seeds;
    std::ranges::stable_sort(order, std::ranges::greater{}, &Run::size);
    for (const Run& seed : order) {
      const auto found = std::ranges::find(runs, seed.begin, &Run::begin);
      if (found == runs.end() || found->end != seed.end) continue;  // taken in already
      const std::vector<Run> before = runs;
      const Run grown = grow(runs, static_cast<std::size_t>(found - runs.begin()));
      if (static_cast<double>(grown.size()) > kWholeWindow * static_cast<double>(size_)) runs = before;
    }
    return runs;
  }

 private:
  Run grow(std::vector<Run>& runs, std::size_t at) const {
    for (bool changed = true; changed;) {
      changed = false;
      if (at > 0 && fits(runs[at], runs[at - 1])) {
        runs[at].begin = runs[at - 1].begin;
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(--at));
        changed = true;
      }
      if (at + 1 < runs.size() && fits(runs[at], runs[at + 1])) {
        runs[at].end = runs[at + 1].end;
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(at + 1));
        changed = true;
      }
    }
    return runs[at];
  }

  [[nodiscard]] bool fits(const Run& run, const Run& neighbour) const {
    const bool left = neighbour.begin < run.begin;
    const Run gap = left ? Run{neighbour.end, run.begin} : Run{run.end, neighbour.begin};
    const Run whole{std::min(run.begin, neighbour.begin), std::max(run.end, neighbour.end)};
    const double small = kSmallGap * static_cast<double>(size_);
    const double ease =
        static_cast<double>(gap.size()) <= small && static_cast<double>(neighbour.size()) <= small ? 2 : 1;
    const double mean = moments_.mean(run.begin, run.end);
    const double scale = std::abs(mean);
    return moments_.deviation(whole.begin, whole.end) < ease * kMergeSpread * deviation_ &&
           std::abs(moments_.mean(whole.begin, whole.end) - mean) < ease * kMergeShift * scale &&
           std::abs(moments_.mean(gap.begin, gap.end) - mean) < ease * kMergeGap * scale;
  }

  std::size_t size_;
  Moments moments_;
  double deviation_;
};

}  // namespace

std::vector<std::size_t> group_borders(std::span<const double> window) {
  std::vector<std::size_t> borders{0};
  if (window.size() > 1) {
    for (const Run& run : Grouping(window).merged(runs_inside(densest_band(window), window))) {
      borders.push_back(run.begin);
      borders.push_back(run.end);
    }
  }
  borders.push_back(window.size());
  std::ranges::sort(borders);
  const auto repeated = std::unique(borders.begin(), borders.end());
  borders.erase(repeated, borders.end());
  return borders;
}

}  // namespace rubato::progress::gpoeo
