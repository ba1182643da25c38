#include "device/replay/steps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rubato::device::replay {
namespace {

// Ampere and later step by 15 MHz; Volta and Turing by 7.5 MHz, which the driver tells in whole MHz, cut off
// (`nvidia-smi -q -d SUPPORTED_CLOCKS`: 135, 142, 150, 157).
constexpr double kCoarse = 15.0;
constexpr double kFine = 7.5;

double exactly(double clock) {
  return clock;
}
double cut_off(double clock) {
  return std::floor(clock);
}

/// The grid between the ends of `measured`, if every one of them lies on it.
std::vector<Megahertz> grid(std::span<const double> measured, double step, double (*written)(double)) {
  const auto index_of = [step](double clock) { return std::ceil(clock / step); };
  for (const double clock : measured)
    if (written(index_of(clock) * step) != clock) return {};
  std::vector<Megahertz> out;
  const auto last = static_cast<std::int64_t>(index_of(measured.back()));
  for (auto i = static_cast<std::int64_t>(index_of(measured.front())); i <= last; ++i)
    out.emplace_back(written(static_cast<double>(i) * step));
  return out;
}

}  // namespace

std::vector<Megahertz> clock_steps(std::span<const double> measured) {
  // No clock of a GPU comes near; and a table with such a one must not ask for a list without end.
  constexpr double kHighest = 1e5;
  std::vector<Megahertz> out;
  if (measured.back() <= kHighest) {
    out = grid(measured, kCoarse, &exactly);
    if (out.empty()) out = grid(measured, kFine, &cut_off);
    if (out.empty()) out = grid(measured, kFine, &exactly);
  }
  if (out.empty())
    for (const double clock : measured) out.emplace_back(clock);
  return out;
}

bool is_limit_step(std::span<const double> measured, Watts limit) {
  return limit.value() == std::floor(limit.value()) ||
         std::binary_search(measured.begin(), measured.end(), limit.value());
}

}  // namespace rubato::device::replay
