// Beliefs over power limits, from curves made by hand.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "plan/curve_belief.h"

namespace rubato::plan {

struct Point {
  double time = 1;  // over the found setting's
  double energy = 1;
};
using MadeCurve = std::vector<Point>;  // the last is the found setting

/// Limits 100 W apart would be far; these lie 20 W apart and end at 300 W, which is found.
inline CurveBelief belief_of(const std::vector<MadeCurve>& curves) {
  const std::size_t n = curves.front().size();
  std::vector<predict::KnobPoint> at;
  for (std::size_t i = 0; i < n; ++i)
    at.push_back({.power_limit = Watts(300 - 20 * static_cast<double>(n - 1 - i))});
  predict::Draws draws;
  draws.log_time.resize(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(curves.size()));
  draws.log_power = draws.log_time;
  for (std::size_t c = 0; c < curves.size(); ++c)
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const auto column = static_cast<Eigen::Index>(c);
      draws.log_time(row, column) = std::log(curves[c][i].time);
      draws.log_power(row, column) = std::log(curves[c][i].energy / curves[c][i].time);
    }
  return CurveBelief(std::move(at), n - 1, std::move(draws));
}

/// Of a job that takes 0.1 s and 200 W at the found setting, known to a thousandth.
inline MeasuredStretch measured(std::size_t at, double when_s, double time = 1, double energy = 1,
                                int era = 0) {
  return {.at = at,
          .span = 10_s,
          .when = Seconds(when_s),
          .era = era,
          .work = 100,
          .log_time = std::log(0.1 * time),
          .time_variance = 1e-6,
          .log_power = std::log(200 * energy / time),
          .power_variance = 1e-6};
}

}  // namespace rubato::plan
