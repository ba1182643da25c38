#include "progress/period/overtones.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace rubato::progress {

namespace {

constexpr double kPeriods = 12;  // in a stretch: a line is then a sixth of the frequency wide
constexpr double kFewestPeriods = 6;
constexpr std::size_t kMostStretches = 8;
constexpr double kLeast = 1e-5;  // of the energy: less is rounding

constexpr std::array kHalves = {0.5, 1.5};
constexpr std::array kThirds = {1.0 / 3, 2.0 / 3};
constexpr std::array kWhole = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0};

std::complex<double> times(std::complex<double> a, std::complex<double> b) {  // as in fft.cpp
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

using Line = std::size_t;
constexpr std::size_t kLines = kHalves.size() + kThirds.size() + kWhole.size();

constexpr std::array<double, kLines> times_frequency() {
  std::array<double, kLines> out{};
  std::size_t at = 0;
  for (const double x : kHalves) out[at++] = x;
  for (const double x : kThirds) out[at++] = x;
  for (const double x : kWhole) out[at++] = x;
  return out;
}

/// A line's phases behind a Hann window: the same for every stretch and column.
struct Phases {
  std::vector<double> real;
  std::vector<double> imaginary;
};

std::array<Phases, kLines> phases_of(std::size_t size, double period) {
  constexpr auto kTimes = times_frequency();
  std::array<Phases, kLines> out;
  std::vector<double> window(size);
  const std::complex<double> arch = std::polar(1.0, 2 * std::numbers::pi / static_cast<double>(size));
  std::complex<double> place = 1;
  for (double& w : window) {
    w = 1 - place.real();
    place = times(place, arch);
  }
  for (Line line = 0; line < kLines; ++line) {
    if (kTimes[line] / period > 0.5) continue;  // more than the grid shows
    const std::complex<double> turn = std::polar(1.0, 2 * std::numbers::pi * kTimes[line] / period);
    std::complex<double> phase = 1;
    out[line].real.resize(size);
    out[line].imaginary.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      out[line].real[i] = window[i] * phase.real();
      out[line].imaginary[i] = window[i] * phase.imag();
      phase = times(phase, turn);
    }
  }
  return out;
}

/// Four sums at a time: one addition waits for the one before.
double product_of(const double* x, const std::vector<double>& y) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= y.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += x[i + k] * y[i + k];
  for (; i < y.size(); ++i) sums[0] += x[i] * y[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Of one stretch, all columns together.
std::array<double, kLines> energies(const Series& level, std::size_t first,
                                    const std::array<Phases, kLines>& phases) {
  std::array<double, kLines> out{};
  for (Line line = 0; line < kLines; ++line)
    for (const auto& x : level.columns) {
      const double real = product_of(x.data() + first, phases[line].real);
      const double imaginary = product_of(x.data() + first, phases[line].imaginary);
      out[line] += real * real + imaginary * imaginary;
    }
  return out;
}

double median_of(std::vector<double> x) {
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

}  // namespace

Overtones overtones_of(const Series& level, double period_s) {
  Overtones out;
  const double period = period_s / level.step_s;
  const auto size = std::min(level.size, static_cast<std::size_t>(kPeriods * period));
  if (static_cast<double>(size) < kFewestPeriods * period) return out;
  std::array<std::vector<double>, 4> logs;
  const std::size_t stride = std::max<std::size_t>(1, size / 2);
  const auto phases = phases_of(size, period);
  for (std::size_t k = 0; k < kMostStretches && size + k * stride <= level.size; ++k) {
    const auto e = energies(level, level.size - size - k * stride, phases);
    const double four = e[4] + e[5] + e[6] + e[7];
    const double six = four + e[8] + e[9];
    if (four <= 0) continue;
    const std::array<double, 4> shares = {(e[0] + e[1]) / four, (e[2] + e[3]) / four, (e[4] + e[6]) / six,
                                          (e[4] + e[5]) / six};
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i].push_back(std::log(kLeast + shares[i]));
  }
  if (logs[0].empty()) return out;
  return {median_of(logs[0]), median_of(logs[1]), median_of(logs[2]), median_of(logs[3])};
}

}  // namespace rubato::progress
