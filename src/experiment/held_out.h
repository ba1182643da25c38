// One held-out workload: probing it, predicting the rest, choosing, and comparing with what was measured.
#pragma once

#include "experiment/validation.h"

namespace rubato::experiment {

/// The model sees the default, and the probes that it asked for; never the other rows before it is judged.
[[nodiscard]] Result<JudgedWorkload> judge(const predict::Model& model, const predict::Curve& held_out,
                                           const ValidationOptions& options);

}  // namespace rubato::experiment
