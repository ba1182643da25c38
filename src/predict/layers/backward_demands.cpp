#include "predict/layers/layer_demands.h"

namespace rubato::predict {
namespace {

/// Bytes of one layer's tensors; a gradient is as large as what it is of.
struct Tensors {
  double in = 0;
  double out = 0;
  double weights = 0;
};

class Backward {
 public:
  Backward(const NetworkLayer& layer, const ShapedLayer& shaped, const PassConditions& how,
           const GradientWanted& wanted)
      : layer_(layer), shaped_(shaped), how_(how), wanted_(wanted) {
    const double width = bytes_of(how.precision);
    for (const Shape& shape : shaped.in) tensors_.in += elements_of(shape) * how.batch * width;
    tensors_.out = elements_of(shaped.out) * how.batch * width;
    tensors_.weights = shaped.parameters * width;
    out_ = {.layer = layer.name, .kind = layer.kind_name, .pass = LayerPass::backward};
    out_.parameters = layer.shares ? 0 : shaped.parameters;
    out_.kernels = 0;
  }

  std::optional<LayerDemand> done() && {
    sum_of_gradients();
    gradients();
    // Gradients of parameters that are used again are added to those of the first use.
    if (layer_.shares && wanted_.of_parameters) out_.bytes_read += tensors_.weights;
    if (out_.kernels == 0) return {};
    return out_;
  }

 private:
  void kernel(double operations, double read, double written) {
    out_.operations += operations;
    out_.bytes_read += read;
    out_.bytes_written += written;
    ++out_.kernels;
  }
  [[nodiscard]] double each(double operations, const Shape& shape) const {
    return operations * elements_of(shape) * how_.batch;
  }

  void sum_of_gradients() {
    for (unsigned i = 1; i < wanted_.summed; ++i)
      kernel(each(1, shaped_.out), 2 * tensors_.out, tensors_.out);
  }

  void gradients() {
    const LayerFamily family = layer_.kind.family;
    const double backward = each(layer_.kind.backward, shaped_.out);
    const Tensors& t = tensors_;
    switch (family) {
      case LayerFamily::conv:
      case LayerFamily::convtranspose:
      case LayerFamily::linear:
        return products(shaped_.operations * how_.batch);
      case LayerFamily::product:
        return outright_products();
      case LayerFamily::norm:
      case LayerFamily::layernorm:
        // The sums over the batch come first; they are the gradients of the parameters.
        if (wanted_.of_input || wanted_.of_parameters)
          kernel(backward / 2, t.in + t.out, wanted_.of_parameters ? t.weights : 0);
        if (wanted_.of_input) kernel(backward / 2, t.in + t.out + t.weights, t.in);
        return;
      case LayerFamily::embedding:
        if (wanted_.of_parameters) kernel(backward, t.out, t.weights);
        return;
      case LayerFamily::view:
      case LayerFamily::reshape:
        return;
      case LayerFamily::add:
        return joined(0);
      case LayerFamily::mul:
        return joined(t.in);
      default:
        break;
    }
    if (family == LayerFamily::unknown && wanted_.of_parameters && shaped_.parameters > 0)
      kernel(backward, t.in + t.out, t.weights);
    if (!wanted_.of_input) return;
    const double width = bytes_of(how_.precision);
    switch (family) {
      case LayerFamily::activation:
      case LayerFamily::softmax:
        return kernel(backward, 2 * t.out, t.in);
      case LayerFamily::dropout:
        return kernel(backward, t.out + t.out / width, t.in);
      case LayerFamily::pool:
        // Where the largest was is found again from input and output, as cuDNN does.
        return kernel(shaped_.operations * how_.batch,
                      layer_.kind.name == "maxpool" ? 2 * t.out + t.in : t.out, t.in);
      case LayerFamily::adaptivepool:
        if (shaped_.in.front() == shaped_.out) return;
        [[fallthrough]];
      case LayerFamily::globalpool:
        return kernel(each(1, shaped_.in.front()), t.out, t.in);
      case LayerFamily::concat:
        return kernel(0, t.out, t.in);
      default:
        return kernel(backward, t.in + t.out + t.weights, t.in);
    }
  }

  void products(double each_gradient) {
    const LayerFamily family = layer_.kind.family;
    const bool slides = family == LayerFamily::conv || family == LayerFamily::convtranspose;
    out_.dense = !slides || shaped_.group_inputs > 1;
    const Tensors& t = tensors_;
    if (wanted_.of_input) kernel(each_gradient, t.out + t.weights, t.in);
    if (wanted_.of_parameters) kernel(each_gradient, t.out + t.in, t.weights);
  }

  void outright_products() {
    const double all = layer_.kind.backward * shaped_.operations * how_.batch;
    if (shaped_.parameters > 0) return products(all / 2);
    if (!wanted_.of_input) return;
    out_.dense = true;
    const Tensors& t = tensors_;
    // Fused: its inputs, its output and the gradient of that are read once.
    if (layer_.kind.name == "attention") return kernel(all, t.in + 2 * t.out, t.in);
    // One kernel for each of two factors, which reads the other one.
    for (int factor = 0; factor < 2; ++factor) kernel(all / 2, t.out + t.in / 2, t.in / 2);
  }

  /// A gradient passes an addition as it is; a repeated input's is summed over what it was repeated along,
  /// and a factor's needs the other factors.
  void joined(double factors) {
    if (!wanted_.of_input) return;
    const double width = bytes_of(how_.precision);
    for (const Shape& shape : shaped_.in) {
      if (factors == 0 && shape == shaped_.out) continue;
      const double own = elements_of(shape) * how_.batch * width;
      kernel(each(1, shaped_.out), tensors_.out + (factors == 0 ? 0 : factors - own), own);
    }
  }

  const NetworkLayer& layer_;
  const ShapedLayer& shaped_;
  const PassConditions& how_;
  const GradientWanted& wanted_;
  Tensors tensors_;
  LayerDemand out_;
};

}  // namespace

std::optional<LayerDemand> backward_of(const NetworkLayer& layer, const ShapedLayer& shaped,
                                       const PassConditions& how, const GradientWanted& wanted) {
  return Backward(layer, shaped, how, wanted).done();
}

}  // namespace rubato::predict
