// What a learner's choices save on GPUs it never saw.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"
#include "experiment/advise/advise.h"
#include "experiment/validation.h"
#include "predict/model.h"

namespace rubato::experiment {

/// With the sign it has: what breaks the bound saves nothing, and what costs more counts as a loss.
[[nodiscard]] double signed_saving(const JudgedWorkload& judged);

/// 90 % interval of the mean over GPUs (Student's t: a GPU's workloads are no independent witnesses). Nothing
/// with fewer than three GPUs.
[[nodiscard]] std::optional<SavingInterval> interval_over_gpus(
    const std::map<std::string, std::vector<double>>& savings);

/// Leaves the GPUs out one by one and takes the 90 % interval of their mean energy savings (Student's t over
/// GPUs, whose workloads are no independent witnesses) by choices of that caution. Nothing with fewer than
/// three GPUs, or where learning fails.
[[nodiscard]] std::optional<SavingInterval> saving_on_unseen_gpus(std::span<const predict::Curve> curves,
                                                                  const predict::Learner& learner,
                                                                  std::span<const Knob> knobs,
                                                                  const Goal& goal,
                                                                  const plan::Caution& caution);

}  // namespace rubato::experiment
