// Small predictions made by hand.
#pragma once

#include <cmath>
#include <vector>

#include "core/objective.h"
#include "predict/prediction.h"

namespace rubato::plan {

struct At {
  double limit = 0;
  double time = 1;  // medians, over the default's
  double energy = 1;
  double time_own = 0;
  double energy_own = 0;
};

inline predict::Prediction believe(const std::vector<At>& settings, Eigen::Index factors = 0) {
  const auto n = static_cast<Eigen::Index>(settings.size());
  predict::Prediction out;
  out.log_time.resize(n);
  out.log_energy.resize(n);
  out.time_own.resize(n);
  out.energy_own.resize(n);
  out.time_factor = Eigen::MatrixXd::Zero(n, factors);
  out.energy_factor = Eigen::MatrixXd::Zero(n, factors);
  for (Eigen::Index i = 0; i < n; ++i) {
    const At& at = settings[static_cast<std::size_t>(i)];
    out.at.push_back({.power_limit = Watts(at.limit)});
    out.log_time[i] = std::log(at.time);
    out.log_energy[i] = std::log(at.energy);
    out.time_own[i] = at.time_own;
    out.energy_own[i] = at.energy_own;
  }
  return out;
}

inline Goal goal(Objective objective, double max_slowdown = 0.05) {
  return {.objective = objective, .max_slowdown = max_slowdown, .host_watts = {}};
}

}  // namespace rubato::plan
