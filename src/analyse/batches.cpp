#include "analyse/batches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"

namespace rubato::analyse {
namespace {

// More batches narrow the interval little and make neighbours depend on each other.
constexpr std::size_t kMostBatches = 30;
constexpr Seconds kUsualUpdatePeriod{0.1};

struct Observation {
  double value = 0.0;       // per iteration
  double weight = 0.0;      // iterations
  std::size_t setting = 0;  // which of the settings it was made at
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

using Boards = std::vector<const EnergyCurve*>;

/// Of the GPUs of a stretch; empty where one of them has no readings.
Boards boards_of(const record::RunRecord& run, const std::vector<EnergySource>& sources,
                 const Stretch& stretch) {
  Boards boards;
  for (const record::Block* block : stretch.blocks) {
    const auto device = std::ranges::find_if(
        run.devices, [&](const record::DeviceRecord& d) { return d.info.identity.id == block->gpu; });
    const EnergySource* source = board(sources, static_cast<std::size_t>(device - run.devices.begin()));
    if (source == nullptr || source->curve.empty()) return {};
    boards.push_back(&source->curve);
  }
  return boards;
}

std::optional<Joules> energy_of(const Boards& boards, TimePoint begin, TimePoint end) {
  if (boards.empty()) return std::nullopt;
  Joules sum;
  for (const EnergyCurve* board : boards) {
    const auto part = board->between(begin, end);
    if (!part) return std::nullopt;
    sum += part->energy;
  }
  return sum;
}

void add_batches(const record::RunRecord& run, const Boards& boards, const Stretch& stretch,
                 std::size_t setting, Seconds update, Observations& out) {
  const auto first = std::ranges::lower_bound(run.iterations, stretch.begin, {}, &Iteration::begin);
  auto last = first;
  while (last != run.iterations.end() && last->end <= stretch.end) ++last;
  const std::vector<Iteration> inside(first, last);
  const double longest = stretch.duration().value() / (kUpdatesToMeasure * update.value());
  const std::size_t batches =
      std::min({kMostBatches, inside.size(), static_cast<std::size_t>(std::max(0.0, longest))});
  for (std::size_t b = 0; b < batches; ++b) {
    const std::size_t from = b * inside.size() / batches;
    const std::size_t to = (b + 1) * inside.size() / batches;
    // To the next batch's beginning, so that pauses between iterations belong to somebody.
    const TimePoint end = to < inside.size() ? inside[to].begin : inside.back().end;
    const auto count = static_cast<double>(to - from);
    out.time.push_back({(end - inside[from].begin).value() / count, count, setting});
    const auto energy = energy_of(boards, inside[from].begin, end);
    if (energy) out.energy.push_back({energy->value() / count, count, setting});
  }
}

struct Scatter {
  double variance = 0.0;  // of the mean
  double degrees = 0.0;   // of freedom
};

// About the mean of its own setting: that settings differ is no error of what they cost together. What
// neighbours still share (a slow drift) makes n observations worth fewer: n (1 - r) / (1 + r), with r their
// lag-one correlation, the rule for a first-order process. Seen about means of the same few observations r is
// too low by about (1 + 4 r) / n for each mean (Marriott and Pope, Biometrika 41, 1954; Kendall, ibid.).
// How often the intervals then hold: docs/numbers.md. One degree of freedom in the place of two would widen
// one interval in ten of six independent observations to several times what it should be.
constexpr double kFewestDegrees = 2.0;

Scatter scatter_of(const std::vector<Observation>& all) {
  struct Sum {
    double value = 0.0;
    double weight = 0.0;
  };
  std::map<std::size_t, Sum> settings;
  for (const Observation& o : all) {
    Sum& sum = settings[o.setting];
    sum.value += o.value * o.weight;
    sum.weight += o.weight;
  }
  double squares = 0.0;
  double products = 0.0;
  double before = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Sum& sum = settings[all[i].setting];
    const double d = all[i].value - sum.value / sum.weight;
    squares += d * d;
    if (i > 0) products += d * before;
    before = d;
  }
  const double n = static_cast<double>(all.size());
  const double means = static_cast<double>(settings.size());
  const double seen = squares > 0 ? products / squares : 0.0;
  const double r = std::clamp(seen + means * (1 + 4 * seen) / n, 0.0, 1.0);
  const double worth = std::max(means + 1, n * (1 - r) / (1 + r));
  return {squares / (n - means) / worth, std::max(kFewestDegrees, worth - means)};
}

/// As many as tell a scatter: the first of each setting but one tells of that setting alone.
std::size_t independent(const std::vector<Observation>& all) {
  std::set<std::size_t> settings;
  for (const Observation& o : all) settings.insert(o.setting);
  return all.empty() ? 0 : all.size() - settings.size() + 1;
}

Mean mean_of(double value, const std::vector<Observation>& batches, const std::vector<Observation>& blocks) {
  Mean mean{.value = value};
  const std::size_t most = std::max(independent(batches), independent(blocks));
  if (most < kFewestObservations) {
    mean.why_no_error =
        cat("only ", most, most == 1 ? " independent stretch was" : " independent stretches were",
            " seen, at least ", kFewestObservations, " are needed for an interval");
    return mean;
  }
  double worst = -1.0;
  for (const auto* observations : {&batches, &blocks}) {
    if (independent(*observations) < kFewestObservations) continue;
    const Scatter scatter = scatter_of(*observations);
    if (scatter.variance <= worst) continue;
    worst = scatter.variance;
    mean.degrees = scatter.degrees;
  }
  mean.relative_error = std::sqrt(worst) / value;
  return mean;
}

}  // namespace

CostPerIteration cost_per_iteration(const record::RunRecord& run, const std::vector<EnergySource>& sources,
                                    const std::vector<Stretch>& stretches) {
  const Seconds update = slowest_update(run);
  Observations batches;
  Observations blocks;
  Joules energy;
  Seconds time;
  double sampling = 0.0;
  CostPerIteration cost;
  std::vector<Setting> settings;
  for (const Stretch& stretch : stretches) {
    const auto n = static_cast<double>(stretch.iterations);
    const auto known = std::ranges::find(settings, stretch.setting);
    const auto setting = static_cast<std::size_t>(known - settings.begin());
    if (known == settings.end()) settings.push_back(stretch.setting);
    add_batches(run, boards_of(run, sources, stretch), stretch, setting, update, batches);
    blocks.energy.push_back({stretch.energy->value() / n, n, setting});
    blocks.time.push_back({stretch.duration().value() / n, n, setting});
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

Mean energy_delay(const CostPerIteration& cost, int exponent) {
  Mean product{.value = cost.energy.value * std::pow(cost.time.value, exponent)};
  if (cost.energy.relative_error && cost.time.relative_error) {
    product.relative_error = *cost.energy.relative_error + exponent * *cost.time.relative_error;
    product.degrees = std::min(cost.energy.degrees, cost.time.degrees);
  } else {
    product.why_no_error = cost.energy.relative_error ? cost.time.why_no_error : cost.energy.why_no_error;
  }
  return product;
}

}  // namespace rubato::analyse
