// The kinds of layers that are known: what describes one of them, and what it does to each element.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rubato::predict {

enum class LayerFamily {
  conv,
  convtranspose,
  linear,
  product,  // of tensors whose shapes and operations are given outright
  embedding,
  norm,        // statistics over the batch or a sample's plane, then one more sweep
  layernorm,   // statistics over one vector: one sweep
  activation,  // its gradient needs its output
  pool,
  adaptivepool,
  globalpool,
  add,
  mul,
  concat,
  view,  // moves nothing
  reshape,
  softmax,
  dropout,
  unknown
};

/// Operations are for each element of the output (of the input, where a pool reduces), an addition, product,
/// comparison being one and what needs an exponential or a division counted as its several instructions. Of
/// family `product`, `backward` is how many times those of the forward pass.
struct LayerKind {
  std::string_view name;
  LayerFamily family = LayerFamily::unknown;
  double forward = 0;
  double backward = 0;
  std::span<const std::string_view> fields = {};  // of rubato.network/1 that it takes besides the common ones
};

[[nodiscard]] const LayerKind* find_layer_kind(std::string_view name);

/// As the file gives them; a list holds one number for all spatial dimensions, or one for each.
struct LayerFields {
  std::optional<std::uint32_t> channels;
  std::optional<std::uint32_t> features;
  std::optional<std::uint32_t> rows;
  std::uint32_t groups = 1;
  std::vector<std::uint32_t> kernel;
  std::vector<std::uint32_t> stride;
  std::vector<std::uint32_t> padding;
  std::vector<std::uint32_t> output_padding;
  std::vector<std::uint32_t> dilation;
  std::vector<std::uint32_t> size;
  std::vector<std::uint32_t> shape;
  bool same = false;  // "padding": "same"
  bool bias = true;
  bool affine = true;
  bool ceil = false;
};

}  // namespace rubato::predict
