#include "progress/period/cycle_fold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

namespace rubato::progress {

namespace {

constexpr std::size_t kMostCycles = 96;
constexpr std::size_t kLeastCycles = 3;
constexpr double kMostPhases = 24;  // of a cycle, in which it is compared
constexpr double kLeastPhases = 4;
constexpr std::size_t kMostApart = 12;
constexpr std::size_t kLeastPairs = 2;
constexpr double kJudged = 8;  // cycles, of which `shown` is asked

/// One cycle after the other, each with the same number of values.
struct Laid {
  std::size_t phases = 0;  // of each column
  std::size_t width = 0;   // values of a cycle
  std::vector<double> values;
  std::vector<char> joined;  // to the cycle before
  [[nodiscard]] std::size_t count() const { return joined.size(); }
  [[nodiscard]] const double* cycle(std::size_t i) const { return values.data() + i * width; }
};

double value_in(const std::vector<double>& x, double where) {
  const double at = std::clamp(where, 0.0, static_cast<double>(x.size() - 1));
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, x.size() - 1);
  return x[low] + (at - static_cast<double>(low)) * (x[high] - x[low]);
}

Laid lay(const Series& level, const std::vector<Cycle>& cycles, std::size_t first, std::size_t last,
         std::size_t phases) {
  Laid out{phases, phases * (last - first), {}, {}};
  const std::size_t from = cycles.size() - std::min(cycles.size(), kMostCycles);
  out.values.reserve((cycles.size() - from) * out.width);
  for (std::size_t i = from; i < cycles.size(); ++i) {
    const double step = cycles[i].length_s() / level.step_s / static_cast<double>(phases);
    const double begin = (cycles[i].begin_s - level.begin_s) / level.step_s - 0.5;
    for (std::size_t c = first; c < last; ++c)
      for (std::size_t p = 0; p < phases; ++p)
        out.values.push_back(value_in(level.columns[c], begin + (static_cast<double>(p) + 0.5) * step));
    out.joined.push_back(i > from && cycles[i].begin_s - cycles[i - 1].end_s < 1e-6 ? 1 : 0);
  }
  return out;
}

double squares_between(const Laid& laid, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t k = 0; k < laid.width; ++k) {
    const double off = laid.cycle(i)[k] - laid.cycle(j)[k];
    sum += off * off;
  }
  return sum;
}

/// Squares between neighbours less those between cycles `apart`: of all that nothing interrupts.
void compare_apart(const Laid& laid, const std::vector<double>& next, std::size_t apart, double& share,
                   double& z) {
  double sum = 0;
  double squares = 0;
  double near = 0;
  double count = 0;
  std::size_t run = 0;  // joined cycles up to this one
  for (std::size_t i = 0; i < laid.count(); ++i) {
    run = laid.joined[i] != 0 ? run + 1 : 0;
    if (run < apart) continue;
    const double here = 0.5 * (next[i] + next[i - apart + 1]);
    const double gain = here - squares_between(laid, i, i - apart);
    near += here;
    sum += gain;
    squares += gain * gain;
    count += 1;
  }
  if (count < kLeastPairs || near <= 0) return;
  share = sum / near;
  const double mean = sum / count;
  // A tenth of what neighbours differ by: few pairs that happen to agree are no certainty.
  const double variance = std::max(0.0, squares / count - mean * mean) + 0.01 * near * near / count / count;
  z = mean / std::sqrt(variance / count);
}

/// The least energy, over the divisors, of harmonics of the mean cycle that a divisor leaves; mean squares.
std::array<double, 3> left_by_divisors(const std::vector<double>& mean, std::size_t phases) {
  constexpr std::array<std::size_t, 3> kDivisors = {2, 3, 5};
  std::array<double, 3> out{};
  const auto n = static_cast<double>(phases);
  std::vector<std::complex<double>> turn(phases);
  for (std::size_t p = 0; p < phases; ++p)
    turn[p] = std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(p) / n);
  for (std::size_t base = 0; base < mean.size(); base += phases) {
    for (std::size_t h = 1; 2 * h <= phases; ++h) {
      std::complex<double> sum = 0;
      for (std::size_t p = 0; p < phases; ++p) sum += mean[base + p] * turn[(h * p) % phases];
      const double energy = (2 * h == phases ? 1.0 : 2.0) * std::norm(sum) / (n * n);
      for (std::size_t d = 0; d < kDivisors.size(); ++d)
        if (h % kDivisors[d] != 0) out[d] += energy;
    }
  }
  return out;
}

}  // namespace

CycleFold fold_cycles(const Series& level, const std::vector<Cycle>& cycles, std::size_t first,
                      std::size_t last, double update_s) {
  CycleFold out;
  if (cycles.size() < kLeastCycles || last <= first || level.size == 0) return out;
  const double length_s = cycles[cycles.size() / 2].length_s();
  const double finest = std::max(update_s, level.step_s);
  const auto phases =
      static_cast<std::size_t>(std::clamp(std::floor(length_s / finest), kLeastPhases, kMostPhases));
  const Laid laid = lay(level, cycles, first, last, phases);
  const auto n = static_cast<double>(laid.count());

  std::vector<double> mean(laid.width, 0.0);
  double all = 0;
  for (std::size_t i = 0; i < laid.count(); ++i)
    for (std::size_t k = 0; k < laid.width; ++k) {
      mean[k] += laid.cycle(i)[k] / n;
      all += laid.cycle(i)[k] * laid.cycle(i)[k];
    }
  double held = 0;
  for (const double m : mean) held += m * m * n;
  if (all <= 0) return out;
  const double noise = std::max((all - held) / (n - 1), 1e-6 * all / n);  // of one cycle, all its values
  out.explained = 1 - noise * n / all;

  const std::array<double, 3> left = left_by_divisors(mean, phases);
  // Of the mean's noise each harmonic holds its part: about half of it the odd ones, and so on.
  const double in_mean = noise / n / static_cast<double>(phases);  // mean squares, as `left`
  const auto over = [&](double energy, double chance) {
    return std::log1p(std::max(0.0, energy - chance) / in_mean);
  };
  out.no_half = over(left[0], 0.5 * in_mean);
  out.no_third = over(left[1], 0.67 * in_mean);
  out.no_part = std::min({out.no_half, out.no_third, over(left[2], 0.8 * in_mean)});
  const double least = std::max(0.0, std::min({left[0], left[1], left[2]}) - 0.5 * in_mean);
  out.shown = std::log1p(least / (noise / static_cast<double>(phases)) * kJudged * length_s / finest);

  std::vector<double> next(laid.count(), 0.0);
  for (std::size_t i = 1; i < laid.count(); ++i)
    if (laid.joined[i] != 0) next[i] = squares_between(laid, i, i - 1);
  compare_apart(laid, next, 2, out.by_twos, out.by_twos_z);
  compare_apart(laid, next, 3, out.by_threes, out.by_threes_z);
  for (std::size_t apart = 4; apart <= kMostApart; ++apart) {
    double share = 0;
    double z = 0;
    compare_apart(laid, next, apart, share, z);
    out.by_more_z = std::max(out.by_more_z, z);
  }
  return out;
}

}  // namespace rubato::progress
