// What each layer of a network asks of a GPU in one training iteration, whoever worked it out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rubato {

enum class LayerPass { forward, backward, optimizer };
[[nodiscard]] std::string_view name_of(LayerPass pass);
[[nodiscard]] Result<LayerPass> parse_layer_pass(std::string_view name);

/// Of activations and weights. tf32 moves four bytes and multiplies on the tensor cores.
enum class Precision { fp32, tf32, fp16, bf16 };
[[nodiscard]] std::string_view name_of(Precision precision);
[[nodiscard]] Result<Precision> parse_precision(std::string_view name);
[[nodiscard]] unsigned bytes_of(Precision precision);

/// One layer in one pass. A multiply-add counts as two operations.
struct LayerDemand {
  std::string layer;  // "layer1.0.conv2", the framework's own name where it was traced
  std::string kind;   // "conv", "linear", "batchnorm", "relu", "pool", "add", "softmax", "update", ...
  LayerPass pass = LayerPass::forward;
  double operations = 0;  // floating point
  bool dense = false;     // matrix products that tensor cores take; else element by element
  double bytes_read = 0;
  double bytes_written = 0;
  double parameters = 0;  // of this layer; told in every pass
  unsigned kernels = 1;   // launches

  [[nodiscard]] double bytes() const { return bytes_read + bytes_written; }
  /// Operations for each byte; 0 where nothing is computed, infinite where nothing is moved.
  [[nodiscard]] double intensity() const { return operations / bytes(); }
};

/// One iteration, in the order of execution: forward, backward, optimizer.
struct NetworkDemands {
  std::string network;  // "resnet50"
  unsigned batch = 0;
  std::string input;  // "3x224x224"
  Precision precision = Precision::fp32;
  std::string source;  // "workloads/networks/resnet50.json", "traced: PyTorch 2.1"
  std::vector<LayerDemand> layers;
};

}  // namespace rubato
