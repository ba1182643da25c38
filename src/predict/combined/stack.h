// Weights of members by their errors on groups left out, and the mixture they make.
#pragma once

#include <Eigen/Core>
#include <array>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "predict/model.h"

namespace rubato::predict::combined {

struct Member {
  std::string name;
  std::unique_ptr<Model> model;
};

/// What is chosen by nested validation, apart for no probe, one, and more.
inline constexpr std::size_t kLevels = 3;
/// Up to so many groups, each is left out by itself; more share folds.
inline constexpr std::size_t kMostFolds = 6;
struct Trust {
  Eigen::VectorXd time;  // weights of the members, adding up to one
  Eigen::VectorXd energy;
  double time_scale = 1;  // of all deviations
  double energy_scale = 1;
  double far_scale = 1;  // of all deviations besides, where a workload is wholly unlike
};
using Trusts = std::array<Trust, kLevels>;

/// Intervals that groups left out allow to be narrowed are so for workloads like those that were learnt from.
/// `unlike` (0 to 1, Likeness) takes it back, and brings far_scale in, the less the more settings were
/// probed.
[[nodiscard]] Trust for_unlike(Trust trust, double unlike, std::size_t probes);

/// These weights, made to add up to one, of time and of energy alike.
[[nodiscard]] Trust trust_of(const Eigen::VectorXd& shares);

/// Members that have no answer are left out and the others' weights raised. The answer at a probe is what was
/// measured there.
[[nodiscard]] Result<Prediction> mix(const std::vector<std::optional<Prediction>>& answers,
                                     const Trust& trust, const Known& known);

/// Members are learned anew on parts of `curves` and judged on the groups that were left out. `before`: the
/// weight of each where nothing is known, which stays where there is only one group. Where the mixture does
/// not beat the mean curve there, the mean curve has half of the weight.
[[nodiscard]] Result<Trusts> weigh(std::span<const Curve> curves, std::span<const Knob> knobs,
                                   const std::vector<const Learner*>& learners,
                                   const Eigen::VectorXd& before);

[[nodiscard]] nlohmann::json state_of(const Trusts& trusts);
[[nodiscard]] Result<Trusts> read_trusts(const nlohmann::json& state, std::size_t members);

}  // namespace rubato::predict::combined
