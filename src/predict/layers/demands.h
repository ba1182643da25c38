// What the layers of a network ask of a GPU in one training iteration: operations and bytes, counted from
// their shapes. docs/layers.md states the conventions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/layer_demand.h"
#include "predict/layers/network.h"

namespace rubato::predict {

/// What is absent is as the network was traced; else fp32 and SGD with momentum, and a batch must be told.
struct DemandOptions {
  std::optional<unsigned> batch;
  std::optional<unsigned> image;  // every spatial dimension of the input
  std::optional<Precision> precision;
  std::optional<Optimizer> optimizer;
  bool skip_dynamic = false;
};

struct Demanded {
  NetworkDemands demands;
  Optimizer optimizer = Optimizer::momentum;
  std::vector<std::string> unknown;   // layers of kinds nobody here knows: counted as element-wise
  std::vector<std::string> left_out;  // dynamic layers, by name
  std::vector<std::string> notes;     // the network's own
};

/// invalid_argument names the layer, the value found and the value needed.
[[nodiscard]] Result<Demanded> demands_of(const Network& network, const DemandOptions& options);

/// Multiply-adds of one sample's forward pass in matrix products and convolutions: what papers publish.
[[nodiscard]] double macs_per_sample(const NetworkDemands& demands);
/// Each counted once.
[[nodiscard]] double parameters_of(const NetworkDemands& demands);
/// Those alone that an iteration updates.
[[nodiscard]] double trained_parameters_of(const NetworkDemands& demands);

}  // namespace rubato::predict
