// "shared-curve": one curve for all workloads, bent by what is known of each at the default and moved by its
// probes.
#pragma once

#include "predict/model.h"
#include "predict/shared_curve/knob_basis.h"
#include "predict/shared_curve/pooled_regression.h"
#include "predict/shared_curve/residual_spread.h"

namespace rubato::predict {

[[nodiscard]] const Learner& shared_curve_learner();

namespace shared_curve {

/// The curves as a basis sees them, without their default rows.
[[nodiscard]] Result<std::vector<CurveRows>> rows_of(const KnobBasis& basis, std::span<const Curve> curves);

/// Time and energy of a curve predicted at some settings become beliefs: spread, and pulled to the probes. At
/// a probed setting the answer is what was measured. `centre` and `at_probes` hold predicted log time and log
/// energy.
struct Centre {
  Eigen::VectorXd log_time;
  Eigen::VectorXd log_energy;
};
[[nodiscard]] Result<Prediction> believed(const KnobBasis& basis, const ResidualSpread& time,
                                          const ResidualSpread& energy, const Known& known,
                                          std::span<const KnobPoint> at, const Centre& centre,
                                          const Centre& at_probes);

}  // namespace shared_curve
}  // namespace rubato::predict
