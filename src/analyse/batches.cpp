#include "analyse/batches.h"

#include <algorithm>
#include <cmath>

#include "analyse/energy_between.h"
#include "base/text.h"

namespace rubato::analyse {
namespace {

// More batches narrow the interval little and make neighbours depend on each other.
constexpr std::size_t kMostBatches = 30;
// Below this many updates of the sensor an energy is apportioned, not measured (docs/design.md).
constexpr double kUpdatesPerBatch = 50.0;
constexpr Seconds kUsualUpdatePeriod{0.1};

struct Observation {
  double value = 0.0;   // per iteration
  double weight = 0.0;  // iterations
};

struct Observations {
  std::vector<Observation> energy;
  std::vector<Observation> time;
};

Seconds slowest_update(const record::RunRecord& run) {
  Seconds slowest;
  for (const record::DeviceRecord& device : run.devices)
    slowest = std::max(slowest, device.info.sensor.update_period.value_or(kUsualUpdatePeriod));
  return slowest > Seconds(0) ? slowest : kUsualUpdatePeriod;
}

std::optional<Joules> energy_of_all(const record::RunRecord& run, const Stretch& stretch, TimePoint begin,
                                    TimePoint end, Seconds reach) {
  Joules sum;
  for (const record::Block* block : stretch.blocks) {
    const auto device = std::ranges::find_if(
        run.devices, [&](const record::DeviceRecord& d) { return d.info.identity.id == block->gpu; });
    if (device == run.devices.end()) return std::nullopt;
    const auto part = energy_between(device->fast, begin, end, reach);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

void add_batches(const record::RunRecord& run, const Stretch& stretch, Seconds update, Observations& out) {
  const auto first = std::ranges::lower_bound(run.iterations, stretch.begin, {}, &Iteration::begin);
  auto last = first;
  while (last != run.iterations.end() && last->end <= stretch.end) ++last;
  const std::vector<Iteration> inside(first, last);
  const double longest = stretch.duration().value() / (kUpdatesPerBatch * update.value());
  const std::size_t batches =
      std::min({kMostBatches, inside.size(), static_cast<std::size_t>(std::max(0.0, longest))});
  for (std::size_t b = 0; b < batches; ++b) {
    const std::size_t from = b * inside.size() / batches;
    const std::size_t to = (b + 1) * inside.size() / batches;
    // To the next batch's beginning, so that pauses between iterations belong to somebody.
    const TimePoint end = to < inside.size() ? inside[to].begin : inside.back().end;
    const auto count = static_cast<double>(to - from);
    out.time.push_back({(end - inside[from].begin).value() / count, count});
    const auto energy = energy_of_all(run, stretch, inside[from].begin, end, 2 * update);
    if (energy) out.energy.push_back({energy->value() / count, count});
  }
}

double weighted_mean(const std::vector<Observation>& all) {
  double sum = 0.0;
  double weight = 0.0;
  for (const Observation& o : all) {
    sum += o.value * o.weight;
    weight += o.weight;
  }
  return sum / weight;
}

// Squared relative standard error of the mean. What neighbours still share (a slow drift) makes n
// observations worth fewer: n (1 - r) / (1 + r), with r their lag-one correlation, the rule for a first-order
// process.
double squared_error(const std::vector<Observation>& all) {
  const double mean = weighted_mean(all);
  const auto n = static_cast<double>(all.size());
  double squares = 0.0;
  double products = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double d = all[i].value - mean;
    squares += d * d;
    if (i > 0) products += d * (all[i - 1].value - mean);
  }
  const double correlation = squares > 0 ? std::clamp(products / squares, 0.0, 0.9) : 0.0;
  const double variance = squares / (n - 1) / n * (1 + correlation) / (1 - correlation);
  return variance / (mean * mean);
}

Mean mean_of(double value, const std::vector<Observation>& batches, const std::vector<Observation>& blocks) {
  Mean mean{.value = value};
  const std::size_t most = std::max(batches.size(), blocks.size());
  if (most < kFewestObservations) {
    mean.why_no_error = cat("only ", most, " independent stretches were seen, at least ", kFewestObservations,
                            " are needed for an interval");
    return mean;
  }
  double worst = -1.0;
  for (const auto* observations : {&batches, &blocks}) {
    if (observations->size() < kFewestObservations) continue;
    const double error = squared_error(*observations);
    if (error <= worst) continue;
    worst = error;
    mean.degrees = static_cast<double>(observations->size() - 1);
  }
  mean.relative_error = std::sqrt(worst);
  return mean;
}

}  // namespace

CostPerIteration cost_per_iteration(const record::RunRecord& run, const std::vector<Stretch>& stretches) {
  const Seconds update = slowest_update(run);
  Observations batches;
  Observations blocks;
  Joules energy;
  Seconds time;
  double sampling = 0.0;
  CostPerIteration cost;
  for (const Stretch& stretch : stretches) {
    const auto n = static_cast<double>(stretch.iterations);
    add_batches(run, stretch, update, batches);
    blocks.energy.push_back({stretch.energy->value() / n, n});
    blocks.time.push_back({stretch.duration().value() / n, n});
    energy += *stretch.energy;
    time += stretch.duration();
    sampling += std::pow(stretch.band_sampling.value(), 2);
    cost.iterations += stretch.iterations;
  }
  const auto n = static_cast<double>(cost.iterations);
  cost.energy = mean_of(energy.value() / n, batches.energy, blocks.energy);
  cost.time = mean_of(time.value() / n, batches.time, blocks.time);
  // A half width of which nothing more is known is a rectangular distribution: variance a²/3 (JCGM
  // 100, 4.3.7).
  if (cost.energy.relative_error)
    cost.energy.relative_error =
        std::sqrt(std::pow(*cost.energy.relative_error, 2) + sampling / 3 / std::pow(energy.value(), 2));
  return cost;
}

}  // namespace rubato::analyse
