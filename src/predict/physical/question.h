// What a predictor may know of a workload, in the terms of the physical curve.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/curve.h"
#include "predict/physical/pattern.h"

namespace rubato::predict::physical {

struct Asked {
  std::vector<Place> places;
  std::vector<Situation> situations;
};

/// invalid_argument: a knob whose highest value nobody knows, a default without power or time.
[[nodiscard]] Result<Asked> asked(const Known& known, std::span<const KnobPoint> at);

/// Which covariates the training curves offered: power at the default (over the highest limit where there is
/// one) and features, by name.
struct Schema {
  bool by_limit = false;
  std::vector<std::string> features;
};
[[nodiscard]] Schema schema_of(std::span<const Curve> curves);
/// A feature that is absent, or a limit, stands at `otherwise` (the mean of those seen).
[[nodiscard]] Eigen::VectorXd covariates_of(const Known& known, const Schema& schema,
                                            const Eigen::VectorXd& otherwise);

}  // namespace rubato::predict::physical
