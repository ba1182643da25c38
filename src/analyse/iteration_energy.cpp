#include "analyse/iteration_energy.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.h"
#include "progress/stats.h"

namespace rubato::analyse {
namespace {

using Series = std::span<const Iteration>;

Spread spread_of(const std::vector<double>& values) {
  return {progress::mean(values).value_or(0), progress::median(values).value_or(0),
          std::sqrt(progress::variance(values).value_or(0))};
}

// The value below which the fraction `part` lies; `values` are sorted.
double quantile(const std::vector<double>& values, double part) {
  return values[static_cast<std::size_t>(std::lround(part * static_cast<double>(values.size() - 1)))];
}

// A first iteration shorter than this, of the median, only queued work: a host runs ahead of its GPU.
constexpr double kQueued = 0.2;
// Of all iterations: more than this outside any group, and the mean of the groups is not that of all.
constexpr double kFewOutside = 0.05;

// Iterations of the stretches of the partition, which no gap interrupts, without those that only queued work.
std::vector<Series> series_of(const std::vector<Iteration>& iterations, const std::vector<Piece>& pieces) {
  std::vector<Series> all;
  std::vector<double> seconds;
  seconds.reserve(iterations.size());
  for (const Iteration& i : iterations) seconds.push_back(i.duration().value());
  const Seconds queued(kQueued * progress::median(seconds).value_or(0));
  for (const Piece& piece : pieces) {
    if (piece.label != kIterations) continue;
    auto first = std::ranges::lower_bound(iterations, piece.begin, {}, &Iteration::begin);
    const auto last = std::ranges::lower_bound(first, iterations.end(), piece.end, {}, &Iteration::begin);
    if (last - first > 1 && first->duration() < queued) ++first;
    if (first != last) all.emplace_back(first, last);
  }
  return all;
}

class Groups {
 public:
  explicit Groups(const EnergySource& source) : source_(source) {}

  void add(Series series) {
    const std::size_t known = per_iteration_.size();
    std::size_t from = 0;
    while (from < series.size()) {
      std::size_t to = from + 1;
      while (to < series.size() && !long_enough(source_, end_of(series, to) - series[from].begin)) ++to;
      // A rest too short to stand alone goes with the group before it.
      if (to < series.size() && !long_enough(source_, series.back().end - series[to].begin))
        to = series.size();
      const TimePoint end = end_of(series, to);
      if (long_enough(source_, end - series[from].begin))
        measure(series[from].begin, end, to - from);
      else
        leave(series[from].begin, end, to - from);
      from = to;
    }
    // Where one group ends the next begins: an error there takes from one what it gives to the other.
    if (per_iteration_.size() == known) return;
    if (const auto all = energy_over(source_, series.front().begin, series.back().end))
      squares_ += std::pow(all->band_sampling.value(), 2);
  }

  [[nodiscard]] bool empty() const { return per_iteration_.empty(); }

  [[nodiscard]] IterationEnergy result() const {
    return outside_ > kFewOutside * (iterations_ + outside_) ? of_all() : of_groups();
  }

 private:
  [[nodiscard]] IterationEnergy of_groups() const {
    IterationEnergy e;
    Spread spread = spread_of(per_iteration_);
    spread.mean = joules_ / iterations_;
    e.joules = spread;
    e.kind = source_.facts.kind;
    e.groups = static_cast<std::int64_t>(per_iteration_.size());
    e.iterations_per_group = iterations_ / static_cast<double>(per_iteration_.size());
    e.band_sampling = std::sqrt(squares_) / iterations_;
    e.band_calibration =
        calibration_band(source_.facts, Joules(joules_), Seconds(seconds_)).value() / iterations_;
    return e;
  }

  // Where groups leave many out, most of them in stretches too short to be measured: what was measured and
  // what is apportioned together.
  [[nodiscard]] IterationEnergy of_all() const {
    const double all = iterations_ + outside_;
    const double mean = (joules_ + outside_joules_) / all;
    IterationEnergy e;
    e.joules = Spread{mean, mean, 0};
    e.kind = std::max(source_.facts.kind, Kind::apportioned);
    e.apportioned = true;
    e.band_sampling = (std::sqrt(squares_) + outside_band_) / all;
    e.band_calibration = calibration_band(source_.facts, Joules(joules_ + outside_joules_),
                                          Seconds(seconds_ + outside_seconds_))
                             .value() /
                         all;
    return e;
  }

  void leave(TimePoint begin, TimePoint end, std::size_t iterations) {
    const auto part = energy_over(source_, begin, end);
    if (!part) return;
    outside_ += static_cast<double>(iterations);
    outside_joules_ += part->energy.value();
    outside_seconds_ += (end - begin).value();
    outside_band_ += part->band_sampling.value();
  }

  // To the next one's beginning, so that short pauses belong to somebody.
  static TimePoint end_of(Series series, std::size_t to) {
    return to < series.size() ? series[to].begin : series.back().end;
  }

  void measure(TimePoint begin, TimePoint end, std::size_t iterations) {
    const auto energy = source_.curve.between(begin, end);
    if (!energy) return;
    const auto n = static_cast<double>(iterations);
    per_iteration_.push_back(energy->energy.value() / n);
    joules_ += energy->energy.value();
    seconds_ += energy->over.value();
    iterations_ += n;
  }

  const EnergySource& source_;
  std::vector<double> per_iteration_;
  double joules_ = 0;
  double seconds_ = 0;
  double iterations_ = 0;
  double squares_ = 0;
  double outside_ = 0;  // iterations in no group, and what energy_over() gives them
  double outside_joules_ = 0;
  double outside_seconds_ = 0;
  double outside_band_ = 0;
};

IterationEnergy energy_of(const EnergySource& source, const std::vector<Series>& all, double mean_s) {
  Groups groups(source);
  if (!source.curve.empty())
    for (const Series series : all) groups.add(series);
  if (!groups.empty()) return groups.result();
  IterationEnergy e;
  e.kind = source.facts.kind;
  const TimePoint begin = all.front().front().begin;
  const TimePoint end = all.back().back().end;
  const auto around = energy_over(source, begin, end);
  if (!around) {
    e.why_not = "the source gave no readings while iterations ran";
    return e;
  }
  const double share = mean_s / (end - begin).value();
  e.joules = Spread{around->energy.value() * share, around->energy.value() * share, 0};
  e.kind = std::max(around->kind, Kind::apportioned);
  e.apportioned = true;
  e.band_sampling = around->band_sampling.value() * share;
  e.band_calibration = around->band_calibration.value() * share;
  return e;
}

}  // namespace

std::optional<IterationSummary> iteration_summary(const std::vector<Iteration>& iterations,
                                                  const std::vector<Piece>& pieces,
                                                  const std::vector<EnergySource>& sources) {
  const std::vector<Series> all = series_of(iterations, pieces);
  if (all.empty()) return std::nullopt;
  std::vector<double> seconds;
  seconds.reserve(iterations.size());
  for (const Series series : all)
    for (const Iteration& i : series) seconds.push_back(i.duration().value());
  IterationSummary summary;
  summary.count = static_cast<std::int64_t>(iterations.size());
  summary.seconds = spread_of(seconds);
  std::ranges::sort(seconds);
  summary.p05 = quantile(seconds, 0.05);
  summary.p95 = quantile(seconds, 0.95);
  for (const EnergySource& source : sources)
    summary.energy.push_back(energy_of(source, all, summary.seconds.mean));
  return summary;
}

}  // namespace rubato::analyse
