#include "predict/layers/layer_demands.h"

namespace rubato::predict {

LayerDemand forward_of(const NetworkLayer& layer, const ShapedLayer& shaped, const PassConditions& how) {
  const double width = bytes_of(how.precision);
  double in = 0;
  for (const Shape& shape : shaped.in) in += elements_of(shape);
  const double input = in * how.batch * width;
  const double output = elements_of(shaped.out) * how.batch * width;
  LayerDemand out{.layer = layer.name, .kind = layer.kind_name, .pass = LayerPass::forward};
  out.operations = shaped.operations * how.batch;
  out.parameters = layer.shares ? 0 : shaped.parameters;
  out.bytes_read = input + shaped.parameters * width;
  out.bytes_written = output;
  switch (layer.kind.family) {
    case LayerFamily::conv:
    case LayerFamily::convtranspose:
      // One input channel to an output is no matrix product: such kernels run on the ordinary pipes.
      out.dense = shaped.group_inputs > 1;
      break;
    case LayerFamily::linear:
    case LayerFamily::product:
      out.dense = true;
      break;
    case LayerFamily::norm:
      // Nothing can be normalised before the whole batch was read for its mean and variance.
      out.bytes_read += input;
      out.kernels = 2;
      break;
    case LayerFamily::embedding:
      out.bytes_read = output + in * how.batch * sizeof(std::int64_t);
      break;
    case LayerFamily::dropout:
      out.bytes_written += elements_of(shaped.out) * how.batch;
      break;  // its mask
    case LayerFamily::adaptivepool:
      if (shaped.in.front() != shaped.out) break;
      [[fallthrough]];
    case LayerFamily::view:
    case LayerFamily::reshape:
      out.bytes_read = out.bytes_written = 0;
      out.kernels = 0;
      break;
    default:
      break;
  }
  return out;
}

}  // namespace rubato::predict
