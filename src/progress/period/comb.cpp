#include "progress/period/comb.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rubato::progress {

namespace {

constexpr std::size_t kTeeth = 6;       // whose gaps are asked for
constexpr std::size_t kMostTeeth = 24;  // for multiples
constexpr std::size_t kMostTimes = 8;

/// A mean of differences, and how sure it is.
struct Contrast {
  double sum = 0;
  double squares = 0;
  double count = 0;
  void add(double difference) {
    sum += difference;
    squares += difference * difference;
    count += 1;
  }
  [[nodiscard]] double mean() const { return count > 0 ? sum / count : 0; }
  /// `noise`: variance of one correlation, so that two like differences are not certainty.
  [[nodiscard]] double z(double noise) const {
    if (count == 0) return 0;
    const double variance = std::max(0.0, squares / count - mean() * mean()) + noise;
    return mean() / std::sqrt(variance / count);
  }
};

}  // namespace

Comb comb_of(const LagProfile& profile, double period_s) {
  Comb out;
  const double reach_s = (static_cast<double>(profile.correlation.size()) - 2) * profile.step_s;
  const double whole = std::floor(reach_s / period_s);
  if (!(whole >= 1)) return out;
  const std::size_t count = std::min(kMostTeeth, static_cast<std::size_t>(whole));
  std::array<double, kMostTeeth + 1> tooth{};
  for (std::size_t k = 1; k <= count; ++k) tooth[k] = value_at(profile, static_cast<double>(k) * period_s);
  const double known_s = static_cast<double>(profile.size) * profile.step_s;
  const double noise = std::max(profile.update_s, profile.step_s) / std::max(known_s, profile.step_s);

  const std::size_t near = std::min(count, kTeeth);
  for (std::size_t k = 1; k <= near; ++k) out.teeth += tooth[k] / static_cast<double>(near);
  const auto between = [&](std::size_t parts) {
    Contrast contrast;
    for (std::size_t k = 1; k <= near; ++k) {
      double gap = 0;
      for (std::size_t i = 1; i < parts; ++i)
        gap +=
            value_at(profile, (static_cast<double>(k) - static_cast<double>(i) / static_cast<double>(parts)) *
                                  period_s);
      contrast.add(tooth[k] - gap / static_cast<double>(parts - 1));
    }
    return contrast;
  };
  const Contrast halves = between(2);
  const Contrast thirds = between(3);
  out.halves = halves.mean();
  out.halves_z = halves.z(noise);
  out.thirds = thirds.mean();
  out.thirds_z = thirds.z(noise);
  out.least_z = std::min({out.halves_z, out.thirds_z, between(5).z(noise)});

  out.multiple_z = -std::numeric_limits<double>::infinity();
  for (std::size_t times = 2; times <= kMostTimes && times <= count; ++times) {
    Contrast contrast;
    for (std::size_t k = times; k <= count; k += times) {
      double others = 0;
      for (std::size_t i = 1; i < times; ++i) others += tooth[k - i];
      contrast.add(tooth[k] - others / static_cast<double>(times - 1));
    }
    const double z = contrast.z(noise);
    out.multiple_z = std::max(out.multiple_z, z);
    if (times == 2) {
      out.doubles = contrast.mean();
      out.doubles_z = z;
    } else if (times == 3) {
      out.triples = contrast.mean();
      out.triples_z = z;
    }
  }
  if (std::isinf(out.multiple_z)) out.multiple_z = 0;
  return out;
}

}  // namespace rubato::progress
