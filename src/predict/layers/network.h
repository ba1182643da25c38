// A network as its layers (rubato.network/1, docs/formats.md), and the shapes that pass between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/layer_demand.h"
#include "predict/layers/layer_kinds.h"

namespace rubato::predict {

/// Of one sample, without the batch, channels first.
using Shape = std::vector<std::uint32_t>;
[[nodiscard]] std::string text_of(const Shape& shape);  // "3x224x224"
[[nodiscard]] double elements_of(const Shape& shape);

/// A shape as a file gives it: a dimension may be dynamic.
using DeclaredShape = std::vector<std::optional<std::uint32_t>>;

enum class Optimizer { sgd, momentum, adam };
[[nodiscard]] std::string_view name_of(Optimizer optimizer);
[[nodiscard]] Result<Optimizer> parse_optimizer(std::string_view name);

/// The network's own input in NetworkLayer::inputs.
inline constexpr std::size_t kNetworkInput = static_cast<std::size_t>(-1);

struct NetworkLayer {
  std::string name;
  std::string kind_name;
  LayerKind kind;
  LayerFields fields;
  std::vector<std::size_t> inputs;  // earlier layers, or kNetworkInput
  bool inputs_told = false;         // else they are only assumed: the layer before
  std::optional<std::vector<DeclaredShape>> input_shapes;
  std::optional<DeclaredShape> output_shape;
  std::optional<double> parameters;
  std::optional<double> operations;  // forward, of one sample
  std::optional<std::size_t> shares;
  bool trainable = true;
  std::vector<std::string> dynamic;  // the shapes seen
};

struct PublishedFigure {
  double value = 0;
  std::string source;
};

struct Network {
  std::string name;
  std::string source;
  DeclaredShape input;
  std::optional<unsigned> batch;  // these three as traced
  std::optional<Precision> precision;
  std::optional<Optimizer> optimizer;
  std::optional<PublishedFigure> published_macs;  // forward, of one sample
  std::optional<PublishedFigure> published_parameters;
  std::vector<std::string> notes;
  std::vector<NetworkLayer> layers;
};

/// invalid_argument names the layer, the value found and the value needed.
[[nodiscard]] Result<Network> parse_network(std::string_view json);
/// Of workloads/networks/. not_found lists them.
[[nodiscard]] Result<const Network*> find_network(std::string_view name);
[[nodiscard]] std::vector<std::string> list_networks();

}  // namespace rubato::predict
