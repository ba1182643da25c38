// What is believed of a workload's parameters before any curve of its GPU was measured. docs/priors.md says
// where each figure comes from and what it saw.
#pragma once

#include "predict/physical/shape.h"

namespace rubato::predict::physical {

struct Prior {
  Parameters mean;
  Parameters deviation;
};

/// Physics and data sheets only: fitted on no table.
[[nodiscard]] const Prior& starting_prior();

}  // namespace rubato::predict::physical
