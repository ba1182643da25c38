// The model rubato brings along: physical curves by data sheets and literature, fitted on no measurement.
// What its advice is worth on GPUs was measured afterwards: docs/evidence/built-in-advice.md.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "experiment/advise/advise.h"
#include "predict/model.h"

namespace rubato::experiment {

[[nodiscard]] Result<std::unique_ptr<predict::Model>> built_in_model(std::span<const Knob> knobs);
[[nodiscard]] ModelFacts built_in_facts();

}  // namespace rubato::experiment
