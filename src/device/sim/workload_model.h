// Which model a simulated workload stands for: what its trainer tells of itself, as hooks do in a real job.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/trained_model.h"

namespace rubato::device::sim {

/// The member "model" of a workload's text; nothing where it has none.
[[nodiscard]] Result<std::optional<TrainedModel>> parse_workload_model(std::string_view json);
/// Of one of the trainings that travel along; nothing where it stands for no model, or there is none of that
/// name.
[[nodiscard]] std::optional<TrainedModel> model_of_workload(std::string_view name);

}  // namespace rubato::device::sim
