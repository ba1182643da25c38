// How far off predictions are by distance from the default.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"

namespace rubato::predict::trees {

inline constexpr double kLeastDeviation = 1e-4;  // relative; below any measurement's

/// Standard deviation: never falls with distance, linear between its points, in proportion beyond the last.
class Spread {
 public:
  struct Seen {
    double distance;
    double squared;  // error
  };
  /// Root mean squares in equally full bins; `at_default`: the mean square at distance 0.
  [[nodiscard]] static Spread fit(std::vector<Seen> seen, double at_default);
  [[nodiscard]] static Result<Spread> read(const nlohmann::json& state);
  [[nodiscard]] nlohmann::json state() const;

  [[nodiscard]] double at(double distance) const;
  /// Share of the variance that a setting has alone.
  [[nodiscard]] double noise() const { return noise_; }
  /// Relative standard deviation of one measured row.
  [[nodiscard]] double row_noise() const;
  void set_noise(double share) { noise_ = share; }
  void stretch(double by);

 private:
  std::vector<double> distance_ = {0};
  std::vector<double> deviation_ = {kLeastDeviation};
  double noise_ = 0.3;
};

}  // namespace rubato::predict::trees
