#include "period_truth/truth.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numbers>

namespace rubato::period_truth {
namespace {

constexpr int kHarmonics = 64;
constexpr double kSharpEnough = 0.01;
constexpr double kLeastRank = 0.04;

double quantile(const std::vector<double>& sorted, double rank) {
  const double place = std::clamp(rank, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

/// The lengths that the median cannot be told from: by its own standard error, and at least 0.04 in rank.
std::vector<double> possible_medians(const std::vector<double>& sorted) {
  const double rank = std::max(kLeastRank, 0.5 / std::sqrt(static_cast<double>(sorted.size())));
  const double low = quantile(sorted, 0.5 - rank);
  const double high = quantile(sorted, 0.5 + rank);
  std::vector<double> lengths{low, high};
  std::copy_if(sorted.begin(), sorted.end(), std::back_inserter(lengths),
               [&](double length) { return low <= length && length <= high; });
  return lengths;
}

bool is_sharp(const std::vector<double>& medians, double median) {
  return medians[0] > median * (1 - kSharpEnough) && medians[1] < median * (1 + kSharpEnough);
}

/// An update inside an iteration: its place in the cycle and its value above the slow course.
struct Folded {
  double phase = 0;
  double value = 0;
};

/// The updates of all steps without stalls, each less the line through the means of its step's neighbours.
std::vector<Folded> fold(const std::vector<Step>& steps, const std::vector<Tick>& ticks) {
  std::vector<Folded> folded;
  auto tick = ticks.begin();
  std::vector<Folded> one;
  for (const Step& step : steps) {
    while (tick != ticks.end() && tick->at_s < step.begin_s) ++tick;
    one.clear();
    double sum = 0;
    for (; tick != ticks.end() && tick->at_s < step.end_s; ++tick) {
      one.push_back({(tick->at_s - step.begin_s) / (step.end_s - step.begin_s), tick->clean_w});
      sum += tick->clean_w;
    }
    if (step.lost_s > 0 || one.empty()) continue;
    for (const Folded& f : one) folded.push_back({f.phase, f.value - sum / static_cast<double>(one.size())});
  }
  return folded;
}

struct Wave {
  std::vector<double> energy;  // of the harmonics 1, 2, ...: mean squares
  double rest = 0;             // mean square of what does not repeat
};

/// A few updates per step alias above their own rate: no harmonic beyond it is asked for.
Wave folded_wave(const std::vector<Folded>& folded, double updates_per_step) {
  const int harmonics = std::clamp(static_cast<int>(updates_per_step / 2), 1, kHarmonics);
  std::vector<std::complex<double>> sums(static_cast<std::size_t>(harmonics));
  double total = 0;
  for (const Folded& f : folded) {
    total += f.value * f.value;
    const std::complex<double> turn = std::polar(1.0, -2 * std::numbers::pi * f.phase);
    std::complex<double> now(f.value, 0);
    for (auto& sum : sums) sum += (now *= turn);
  }
  const auto count = static_cast<double>(folded.size());
  Wave wave;
  wave.rest = total / count;
  for (const auto& sum : sums) {
    wave.energy.push_back(2 * std::norm(sum / count));
    wave.rest -= wave.energy.back();
  }
  wave.rest = std::max(wave.rest, 0.0);
  // What does not repeat leaves a little in each harmonic too.
  for (double& energy : wave.energy) energy = std::max(0.0, energy - 2 * wave.rest / count);
  return wave;
}

/// The least energy over k = 2, 3, 5, ... in harmonics that k does not divide.
double distinctive(const Wave& wave) {
  double least = 0;
  bool first = true;
  for (std::size_t k = 2; k <= wave.energy.size() + 1; ++k) {
    bool prime = true;
    for (std::size_t d = 2; d * d <= k; ++d) prime = prime && k % d != 0;
    if (!prime) continue;
    double sum = 0;
    for (std::size_t h = 1; h <= wave.energy.size(); ++h)
      if (h % k != 0) sum += wave.energy[h - 1];
    least = first ? sum : std::min(least, sum);
    first = false;
  }
  return least;
}

std::vector<Step> parts_of(const std::vector<Step>& steps, int parts) {
  std::vector<Step> all;
  for (const Step& step : steps) {
    if (step.lost_s > 0) continue;
    const double length = (step.end_s - step.begin_s) / parts;
    for (int i = 0; i < parts; ++i)
      all.push_back({step.begin_s + i * length, step.begin_s + (i + 1) * length, 0});
  }
  return all;
}

std::optional<double> epoch_of(const Program& program) {
  const auto every = static_cast<std::size_t>(program.epoch_steps);
  std::vector<double> lengths;
  for (std::size_t i = every; every > 0 && i < program.steps.size(); i += every)
    lengths.push_back(program.steps[i].begin_s - program.steps[i - every].begin_s);
  if (lengths.empty()) return std::nullopt;
  std::sort(lengths.begin(), lengths.end());
  return quantile(lengths, 0.5);
}

double evidence_of(const std::vector<Step>& steps, const Sensor& sensor, const std::vector<Tick>& ticks,
                   double step_s, double reading_s) {
  const std::vector<Folded> folded = fold(steps, ticks);
  if (folded.empty()) return 0;
  const Wave wave = folded_wave(folded, step_s / sensor.update_s);
  const double noise = sensor.noise_w * sensor.noise_w + sensor.grain_w * sensor.grain_w / 12 + wave.rest;
  const double seen = step_s / std::max(sensor.update_s, reading_s);
  return distinctive(wave) / noise * seen * static_cast<double>(kLeastSteps);
}

}  // namespace

Truth truth_of(const Program& program, const Sensor& sensor, const std::vector<Tick>& ticks,
               double reading_s) {
  Truth truth;
  truth.update_s = sensor.update_s;
  truth.reading_s = reading_s;
  truth.marks = program.steps;
  truth.steps = program.steps.size();
  if (program.steps.empty()) return truth;
  truth.begin_s = program.steps.front().begin_s;
  std::vector<double> lengths;
  for (const Step& step : program.steps) lengths.push_back(step.seconds());
  std::sort(lengths.begin(), lengths.end());
  const double median = quantile(lengths, 0.5);
  truth.median_s = median;
  const std::vector<double> medians = possible_medians(lengths);
  const bool sharp = is_sharp(medians, median);
  if (!sharp) truth.medians_s = medians;
  truth.evidence = evidence_of(program.steps, sensor, ticks, median, reading_s);
  truth.observable = truth.steps >= kLeastSteps && median >= 3 * sensor.update_s && median >= 3 * reading_s &&
                     sharp && truth.evidence >= kLeastEvidence;
  if (truth.evidence >= kLeastEvidence) return truth;
  truth.epoch_s = epoch_of(program);
  if (program.parts > 1) {
    const double part = median / program.parts;
    if (part >= 3 * std::max(sensor.update_s, reading_s) &&
        evidence_of(parts_of(program.steps, program.parts), sensor, ticks, part, reading_s) >= kLeastEvidence)
      truth.parts = program.parts;
  }
  return truth;
}

std::optional<double> local_median(const Truth& truth, double at_s) {
  constexpr std::ptrdiff_t kAround = 4;
  if (truth.marks.empty()) return std::nullopt;
  const auto after = std::upper_bound(truth.marks.begin(), truth.marks.end(), at_s,
                                      [](double t, const Step& step) { return t < step.begin_s; });
  const auto begin = after - std::min(kAround, after - truth.marks.begin());
  const auto end = after + std::min(kAround, truth.marks.end() - after);
  std::vector<double> lengths;
  for (auto step = begin; step != end; ++step) lengths.push_back(step->seconds());
  std::sort(lengths.begin(), lengths.end());
  return quantile(lengths, 0.5);
}

}  // namespace rubato::period_truth
