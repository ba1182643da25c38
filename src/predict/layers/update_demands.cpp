#include "predict/layers/layer_demands.h"

namespace rubato::predict {
namespace {

struct Step {
  double states;      // numbers kept for each parameter besides itself
  double operations;  // for each parameter
};

// SGD: one multiply-add. Momentum: one for the velocity and one for the parameter. Adam (Kingma, Ba, 2015,
// algorithm 1): 3 for the mean, 4 for the mean square, 5 for the step with its root and quotient.
Step step_of(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::sgd:
      return {0, 2};
    case Optimizer::momentum:
      return {1, 4};
    case Optimizer::adam:
      break;
  }
  return {2, 12};
}

}  // namespace

LayerDemand update_of(const std::string& layer, double parameters, Optimizer optimizer, Precision precision) {
  const Step step = step_of(optimizer);
  const double width = bytes_of(precision);
  LayerDemand out{.layer = layer, .kind = "update", .pass = LayerPass::optimizer};
  out.operations = step.operations * parameters;
  // Parameter and states in single precision, whatever the layers compute in (mixed precision: Micikevicius
  // et al., ICLR 2018, section 3.1); the layers' own copy is written as well where it is another.
  out.bytes_read = (4 * (1 + step.states) + width) * parameters;
  out.bytes_written = (4 * (1 + step.states) + (width < 4 ? width : 0)) * parameters;
  out.parameters = parameters;
  return out;
}

}  // namespace rubato::predict
