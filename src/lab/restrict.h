// A job of which only some knobs may be set.
#pragma once

#include <span>

#include "base/result.h"
#include "lab/job.h"

namespace rubato::lab {

/// The others stay where they were found. invalid_argument where the job lacks a knob.
[[nodiscard]] Result<Job> restricted(const Job& job, std::span<const Knob> knobs);

}  // namespace rubato::lab
