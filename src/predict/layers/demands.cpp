#include "predict/layers/demands.h"

#include <algorithm>

#include "base/text.h"
#include "predict/layers/layer_demands.h"
#include "predict/layers/shapes.h"

namespace rubato::predict {
namespace {

/// By place in Network::layers.
struct Wiring {
  std::vector<bool> gradient;       // of its output is wanted: something trainable stands at or before it
  std::vector<unsigned> consumers;  // layers that send a gradient back to it
};

Wiring wiring_of(const Network& network, const ShapedNetwork& shaped) {
  std::vector<const ShapedLayer*> shape_of(network.layers.size(), nullptr);
  for (const ShapedLayer& layer : shaped.layers) shape_of[layer.index] = &layer;
  Wiring out{std::vector<bool>(network.layers.size(), false),
             std::vector<unsigned>(network.layers.size(), 0)};
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    // Of one that is left out nothing is known; it may well be trained.
    out.gradient[i] = shape_of[i] == nullptr || (layer.trainable && shape_of[i]->parameters > 0);
    for (const std::size_t from : layer.inputs) {
      if (from == kNetworkInput || !out.gradient[from]) continue;
      out.gradient[i] = true;
      if (shape_of[i] != nullptr) ++out.consumers[from];
    }
  }
  return out;
}

bool input_wants(const Wiring& wiring, const NetworkLayer& layer) {
  return std::any_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](std::size_t from) { return from != kNetworkInput && wiring.gradient[from]; });
}

/// Where branches meet they parted before, and one gradient more reached the tensor they parted from. Of a
/// tracing that does not tell the wiring it is counted here, with the shape of the meeting.
unsigned untold_sums(const NetworkLayer& layer, const ShapedLayer& shaped) {
  const LayerFamily family = layer.kind.family;
  const bool joins =
      family == LayerFamily::add || family == LayerFamily::mul || family == LayerFamily::concat;
  return joins && !layer.inputs_told ? static_cast<unsigned>(shaped.in.size()) - 1 : 0;
}

void add_backward(const Network& network, const ShapedNetwork& shaped, const PassConditions& how,
                  std::vector<LayerDemand>& out) {
  const Wiring wiring = wiring_of(network, shaped);
  for (auto at = shaped.layers.rbegin(); at != shaped.layers.rend(); ++at) {
    const NetworkLayer& layer = network.layers[at->index];
    if (!wiring.gradient[at->index]) continue;
    const GradientWanted wanted{
        .of_input = input_wants(wiring, layer),
        .of_parameters = layer.trainable && at->parameters > 0,
        .summed = std::max(1U, wiring.consumers[at->index]) + untold_sums(layer, *at)};
    if (const auto demand = backward_of(layer, *at, how, wanted)) out.push_back(*demand);
  }
}

}  // namespace

Result<Demanded> demands_of(const Network& network, const DemandOptions& options) {
  const std::optional<unsigned> batch = options.batch ? options.batch : network.batch;
  if (!batch || *batch == 0)
    return fail(ErrorCode::invalid_argument,
                cat("network \"", network.name, "\": how many samples are in a batch is not told"),
                "--batch 64");
  const auto shaped = shapes_of(network, options.image, options.skip_dynamic);
  if (!shaped) return fail(shaped.error());

  Demanded out;
  out.optimizer = options.optimizer.value_or(network.optimizer.value_or(Optimizer::momentum));
  out.left_out = shaped->left_out;
  out.notes = network.notes;
  NetworkDemands& demands = out.demands;
  demands.network = network.name;
  demands.batch = *batch;
  demands.input = text_of(shaped->input);
  demands.precision = options.precision.value_or(network.precision.value_or(Precision::fp32));
  demands.source = network.source;

  const PassConditions how{static_cast<double>(*batch), demands.precision};
  for (const ShapedLayer& layer : shaped->layers) {
    const NetworkLayer& told = network.layers[layer.index];
    if (told.kind.family == LayerFamily::unknown) out.unknown.push_back(told.name);
    if (LayerDemand demand = forward_of(told, layer, how); demand.kernels > 0)
      demands.layers.push_back(demand);
  }
  add_backward(network, *shaped, how, demands.layers);
  for (const ShapedLayer& layer : shaped->layers) {
    const NetworkLayer& told = network.layers[layer.index];
    if (told.trainable && !told.shares && layer.parameters > 0)
      demands.layers.push_back(update_of(told.name, layer.parameters, out.optimizer, demands.precision));
  }
  if (demands.layers.empty())
    return fail(ErrorCode::invalid_argument,
                cat("network \"", network.name, "\": no layer is left to count"));
  return out;
}

double macs_per_sample(const NetworkDemands& demands) {
  double operations = 0;
  for (const LayerDemand& layer : demands.layers)
    if (layer.pass == LayerPass::forward &&
        (layer.dense || layer.kind == "conv" || layer.kind == "convtranspose"))
      operations += layer.operations;
  return operations / 2 / demands.batch;
}

namespace {

double parameters_in(const NetworkDemands& demands, LayerPass pass) {
  double out = 0;
  for (const LayerDemand& layer : demands.layers)
    if (layer.pass == pass) out += layer.parameters;
  return out;
}

}  // namespace

double parameters_of(const NetworkDemands& demands) {
  return parameters_in(demands, LayerPass::forward);
}

double trained_parameters_of(const NetworkDemands& demands) {
  return parameters_in(demands, LayerPass::optimizer);
}

}  // namespace rubato::predict
