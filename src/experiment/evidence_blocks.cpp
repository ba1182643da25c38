#include "experiment/evidence_blocks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::experiment {
namespace {

constexpr std::size_t kCycle = 4;

BlockMean mean_of(const std::vector<double>& each, TQuantile quantile) {
  const auto n = static_cast<double>(each.size());
  BlockMean out{std::accumulate(each.begin(), each.end(), 0.0) / n, std::nullopt};
  if (each.size() < 2) return out;
  double squares = 0;
  for (const double x : each) squares += (x - out.value) * (x - out.value);
  out.half_width = quantile(0.975, n - 1) * std::sqrt(squares / (n - 1) / n);
  return out;
}

/// The figures of one kind over all cycles.
struct Series {
  std::vector<double> effect;
  std::vector<double> drift;

  void add(double found_before, double other_before, double other_after, double found_after) {
    effect.push_back((other_before + other_after) / (found_before + found_after) - 1);
    drift.push_back(found_after / found_before - 1);
  }
};

}  // namespace

std::optional<BlockEffect> effect_of(std::span<const SweepMeasurement> blocks, TQuantile quantile) {
  Series time;
  Series energy;
  for (std::size_t i = 0; i + kCycle <= blocks.size(); i += kCycle) {
    const auto cycle = blocks.subspan(i, kCycle);
    if (!std::all_of(cycle.begin(), cycle.end(), [](const SweepMeasurement& m) { return m.used(); }))
      continue;
    time.add(cycle[0].time.value(), cycle[1].time.value(), cycle[2].time.value(), cycle[3].time.value());
    energy.add(cycle[0].energy.value(), cycle[1].energy.value(), cycle[2].energy.value(),
               cycle[3].energy.value());
  }
  if (time.effect.empty()) return std::nullopt;
  return BlockEffect{time.effect.size(), mean_of(time.effect, quantile), mean_of(energy.effect, quantile),
                     mean_of(time.drift, quantile), mean_of(energy.drift, quantile)};
}

}  // namespace rubato::experiment
