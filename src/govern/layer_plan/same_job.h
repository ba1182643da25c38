// Whether the job is the one a plan was made for, by what the job tells of its model. Pure.
#pragma once

#include <string>

#include "core/trained_model.h"
#include "plan/layers/layer_plan.h"

namespace rubato::govern {

/// Why the plan is for another job; empty: nothing that both sides tell speaks against it. Names are not
/// compared: each framework has its own. fp32 and tf32 count as one, for a framework's type is the same. A
/// plan of one pass is for no job that trains.
[[nodiscard]] std::string another_job(const plan::LayerPlan& plan, const TrainedModel& job);

/// "25557032 parameters, batch 128, fp32"; empty: the job told nothing.
[[nodiscard]] std::string in_words(const TrainedModel& job);

}  // namespace rubato::govern
