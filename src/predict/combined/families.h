// Groups that hold the same workloads under two names: leaving out one of them would leave nothing out.
#pragma once

#include <span>
#include <vector>

#include "predict/curve.h"

namespace rubato::predict::combined {

/// The curves, with groups merged where a quarter of their workloads, and three of each, have a twin in the
/// other: curves within 1 % (root mean square of log time and log energy at the same settings) and defaults
/// within 0.2 standard scores (log power, features). Unchanged where fewer than three groups would be left.
[[nodiscard]] std::vector<Curve> by_family(std::span<const Curve> curves);

}  // namespace rubato::predict::combined
