#include "experiment/noise_floor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "experiment/monotone_fit.h"

namespace rubato::experiment {
namespace {

using predict::Curve;
using predict::Known;
using predict::Observed;
using Coordinates = std::array<double, 3>;  // of the three knobs; zero where a table does not vary one

template <class Unit>
double coordinate(const std::optional<Unit>& value, const std::optional<Unit>& highest) {
  if (value) return value->value();
  return highest ? highest->value() : 0;
}

Coordinates coordinates(const Observed& row, const Known& known) {
  return {coordinate(row.at.power_limit, known.highest.power_limit),
          coordinate(row.at.sm_clock, known.highest.sm_clock),
          coordinate(row.at.memory_clock, known.highest.memory_clock)};
}

struct Guess {
  double log_time = 0;
  double log_power = 0;
  bool between = false;
};

/// From the rows that differ from row `left_out` in this knob alone.
std::optional<Guess> along(const std::vector<Coordinates>& at, const std::vector<Observed>& rows,
                           std::size_t left_out, std::size_t knob) {
  std::vector<MonotoneFit::Point> times;
  std::vector<MonotoneFit::Point> powers;
  const double x = std::log(at[left_out][knob]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Coordinates moved = at[i];
    moved[knob] = at[left_out][knob];
    if (i == left_out || moved != at[left_out]) continue;
    times.push_back({std::log(at[i][knob]), std::log(rows[i].time.value())});
    powers.push_back({std::log(at[i][knob]), std::log(rows[i].power().value())});
  }
  const auto [least, most] =
      std::minmax_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  if (times.empty() || least->x == most->x) return std::nullopt;
  const bool between = least->x <= x && x <= most->x;
  return Guess{MonotoneFit(times, false)(x), MonotoneFit(powers, true)(x), between};
}

std::optional<Guess> from_others(const std::vector<Coordinates>& at, const std::vector<Observed>& rows,
                                 std::size_t left_out) {
  std::vector<Guess> guesses;
  for (std::size_t knob = 0; knob < Coordinates{}.size(); ++knob)
    if (const auto guess = along(at, rows, left_out, knob)) guesses.push_back(*guess);
  if (guesses.empty()) return std::nullopt;
  const bool between = std::any_of(guesses.begin(), guesses.end(), [](const Guess& g) { return g.between; });
  Guess mean{.between = between};
  double n = 0;
  for (const Guess& g : guesses) {
    if (g.between != between) continue;
    mean.log_time += g.log_time;
    mean.log_power += g.log_power;
    ++n;
  }
  mean.log_time /= n;
  mean.log_power /= n;
  return mean;
}

struct Sums {
  double time = 0;
  double energy = 0;
  std::size_t n = 0;
  void add(double time_error, double energy_error) {
    time += time_error;
    energy += energy_error;
    ++n;
  }
  [[nodiscard]] std::optional<double> mean(double sum) const {
    if (n == 0) return std::nullopt;
    return sum / static_cast<double>(n);
  }
};

}  // namespace

std::vector<std::optional<FloorGuess>> floor_guesses(const Curve& curve) {
  std::vector<Coordinates> at;
  for (const Observed& row : curve.rows) at.push_back(coordinates(row, curve.known));
  const Observed& base = curve.known.at_default;
  std::vector<std::optional<FloorGuess>> out(curve.rows.size());
  for (std::size_t i = 0; i < curve.rows.size(); ++i) {
    if (curve.rows[i].at == base.at) continue;
    const auto guess = from_others(at, curve.rows, i);
    if (!guess) continue;
    const double log_time = guess->log_time - std::log(base.time.value());
    const double log_power = guess->log_power - std::log(base.power().value());
    out[i] = FloorGuess{log_time, log_time + log_power, guess->between};
  }
  return out;
}

NoiseFloor noise_floor(std::span<const Curve> curves) {
  Sums all;
  Sums between;
  for (const Curve& curve : curves) {
    const Observed& base = curve.known.at_default;
    const auto guesses = floor_guesses(curve);
    for (std::size_t i = 0; i < curve.rows.size(); ++i) {
      if (!guesses[i]) continue;
      const Observed& row = curve.rows[i];
      const double time_error = std::abs(std::exp(guesses[i]->log_time) * (base.time / row.time) - 1);
      const double energy_error = std::abs(std::exp(guesses[i]->log_energy) * (base.energy / row.energy) - 1);
      all.add(time_error, energy_error);
      if (guesses[i]->between) between.add(time_error, energy_error);
    }
  }
  return {all.mean(all.time), all.mean(all.energy), between.mean(between.time), between.mean(between.energy)};
}

}  // namespace rubato::experiment
