#include "experiment/calibrate/result.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "experiment/sweep_grid.h"

namespace rubato::experiment {
namespace {

template <class Value>
double mean_of(std::span<const CalibrationPoint> points, Value value) {
  double sum = 0;
  for (const CalibrationPoint& point : points) sum += value(point);
  return sum / static_cast<double>(points.size());
}

template <class Value>
std::optional<double> scatter_of(std::span<const CalibrationPoint> points, Value value) {
  if (points.size() < 2) return std::nullopt;
  const double mean = mean_of(points, value);
  double squares = 0;
  for (const CalibrationPoint& point : points) squares += std::pow(value(point) - mean, 2);
  return std::sqrt(squares / static_cast<double>(points.size() - 1)) / mean;
}

std::map<std::string, double> mean_features_of(std::span<const CalibrationPoint> points) {
  std::map<std::string, std::pair<double, unsigned>> sums;
  for (const CalibrationPoint& point : points)
    for (const auto& [name, value] : point.features) {
      sums[name].first += value;
      ++sums[name].second;
    }
  std::map<std::string, double> out;
  for (const auto& [name, mean] : sums) out.emplace(name, mean.first / mean.second);
  return out;
}

/// Benchmarks that differ in one figure only would tell each other's answer.
std::string group_of(const Benchmark& benchmark) {
  const std::string_view name = benchmark.name;
  return std::string(name.substr(0, name.find('-')));
}

}  // namespace

std::optional<double> Ceilings::ridge(predict::Pipe pipe) const {
  const auto rate = operations_per_s.find(pipe);
  if (rate == operations_per_s.end() || !bytes_per_s) return std::nullopt;
  return rate->second / *bytes_per_s;
}

CalibratedBenchmark summarise_benchmark(const Benchmark& benchmark, const UnitWork& work,
                                        std::span<const CalibrationPoint> points,
                                        const std::optional<predict::Clocks>& at,
                                        const std::optional<predict::PeakRates>& rates) {
  const auto seconds = [](const CalibrationPoint& p) { return p.at_default.time.value(); };
  const auto joules = [](const CalibrationPoint& p) { return p.at_default.energy.value(); };
  std::vector<CalibrationPoint> steady;
  std::copy_if(points.begin(), points.end(), std::back_inserter(steady),
               [](const CalibrationPoint& p) { return p.disturbed.empty(); });
  CalibratedBenchmark out{.benchmark = &benchmark, .work = work};
  out.runs = static_cast<unsigned>(steady.size());
  out.time = Seconds(mean_of(steady, seconds));
  out.energy = Joules(mean_of(steady, joules));
  out.time_scatter = scatter_of(steady, seconds);
  out.energy_scatter = scatter_of(steady, joules);
  out.features = mean_features_of(steady);
  if (at && rates && benchmark.pipe && benchmark.operations_per_byte)
    out.position = predict::position_of(*benchmark.pipe, *benchmark.operations_per_byte, *at, *rates);
  else if (at)
    out.position = predict::position_of(out.features, *at, rates);
  for (const CalibrationPoint& p : points) {
    if (p.at == predict::KnobPoint{}) continue;
    if (!p.at_setting) {
      out.lost.push_back({p.at, p.not_used});
      continue;
    }
    out.settings.push_back({p.at, out.time * (p.at_setting->time / p.at_default.time),
                            out.energy * (p.at_setting->energy / p.at_default.energy), p.reached, p.notes});
  }
  std::sort(out.settings.begin(), out.settings.end(),
            [](const CalibratedSetting& a, const CalibratedSetting& b) { return a.at < b.at; });
  return out;
}

Ceilings ceilings_of(std::span<const CalibratedBenchmark> benchmarks) {
  Ceilings out;
  for (const CalibratedBenchmark& b : benchmarks) {
    const bool one_roof = !b.benchmark->operations_per_byte || *b.benchmark->operations_per_byte == 0;
    if (!one_roof || !b.benchmark->pipe) continue;
    if (b.work.bytes > 0 && b.work.operations == 0) out.bytes_per_s = b.work.bytes / b.time.value();
    if (b.work.operations > 0 && b.work.bytes == 0) {
      double& best = out.operations_per_s[*b.benchmark->pipe];
      best = std::max(best, b.work.operations / b.time.value());
    }
  }
  return out;
}

SweepTable table_of(std::span<const CalibratedBenchmark> benchmarks, const CalibrationNames& names,
                    const std::optional<Watts>& found_limit) {
  SweepTable table;
  table.comments = names.comments;
  for (std::string& comment : table.comments)
    std::replace_if(
        comment.begin(), comment.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  std::vector<std::map<std::string, double>> features;
  for (const CalibratedBenchmark& b : benchmarks) {
    features.push_back(b.features);
    for (const auto& [name, value] : predict::roofline_features(b.features))
      features.back().emplace(name, value);
  }
  const auto in_all = [&features](const std::string& name) {
    return std::all_of(features.begin(), features.end(), [&](const auto& f) { return f.contains(name); });
  };
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    const CalibratedBenchmark& b = benchmarks[i];
    SweepRow row{
        .gpu = names.gpu, .workload = std::string(b.benchmark->name), .group = group_of(*b.benchmark)};
    for (const auto& [name, value] : features[i])
      if (in_all(name)) row.features.emplace(name, value);
    const auto add = [&table, &row, &found_limit](const predict::KnobPoint& at, Seconds time, Joules energy) {
      row.power_limit = at.power_limit ? at.power_limit : found_limit;
      row.sm_clock = at.sm_clock;
      row.memory_clock = at.memory_clock;
      row.time = time;
      row.energy = energy;
      row.power = energy / time;
      row.is_default = at == predict::KnobPoint{};
      table.rows.push_back(row);
    };
    add({}, b.time, b.energy);
    for (const CalibratedSetting& setting : b.settings) add(setting.at, setting.time, setting.energy);
  }
  return table;
}

}  // namespace rubato::experiment
