#include "predict/layers/shapes.h"

#include <algorithm>

#include "base/text.h"
#include "predict/layers/layer_shape.h"

namespace rubato::predict {
namespace {

std::string text_of(const DeclaredShape& shape) {
  std::string out;
  for (const auto& dimension : shape)
    out += cat(out.empty() ? "" : "x", dimension ? std::to_string(*dimension) : "?");
  return out;
}

bool is_dynamic(const DeclaredShape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const auto& dimension) { return !dimension; });
}

Shape fixed(const DeclaredShape& shape) {
  Shape out;
  for (const auto& dimension : shape) out.push_back(dimension.value());
  return out;
}

/// Why its shapes cannot be told, or nothing.
std::string dynamic_words(const NetworkLayer& layer) {
  if (!layer.dynamic.empty()) {
    std::string seen;
    for (const std::string& shape : layer.dynamic) seen += cat(seen.empty() ? "" : ", ", shape);
    return cat("its output was ", seen);
  }
  for (const DeclaredShape& shape : layer.input_shapes.value_or(std::vector<DeclaredShape>{}))
    if (is_dynamic(shape)) return cat("its input is ", text_of(shape));
  if (layer.output_shape && is_dynamic(*layer.output_shape))
    return cat("its output is ", text_of(*layer.output_shape));
  return {};
}

Result<Shape> input_of(const Network& network, std::optional<unsigned> image) {
  DeclaredShape shape = network.input;
  if (image) {
    if (shape.size() < 2)
      return fail(ErrorCode::invalid_argument,
                  cat("network \"", network.name, "\": its input ", text_of(shape),
                      " has no image size to change to ", *image));
    std::fill(shape.begin() + 1, shape.end(), *image);
  }
  if (is_dynamic(shape))
    return fail(ErrorCode::invalid_argument,
                cat("network \"", network.name, "\": its input ", text_of(shape), " is dynamic"),
                shape[0] ? "--image N gives the size" : "write the size into the file's \"input\"");
  return fixed(shape);
}

class Walk {
 public:
  Walk(const Network& network, Shape input) : network_(network), place_(network.layers.size()) {
    out_.input = std::move(input);
  }

  Status layer(std::size_t index, bool skip_dynamic) {
    const NetworkLayer& layer = network_.layers[index];
    if (std::string why = dynamic_words(layer); !why.empty()) {
      if (!skip_dynamic)
        return fail(ErrorCode::invalid_argument,
                    cat("layer \"", layer.name, "\" (", layer.kind_name, ") has a dynamic shape: ", why),
                    "--skip-dynamic counts the other layers alone");
      return left_out(layer);
    }
    std::vector<Shape> in;
    if (layer.input_shapes) {
      for (const DeclaredShape& shape : *layer.input_shapes) in.push_back(fixed(shape));
      if (layer.inputs_told)
        if (Status agree = same_as_wired(layer, in); !agree) return agree;
    } else {
      for (const std::size_t from : layer.inputs) {
        const Shape* shape = given_by(from);
        if (shape == nullptr) return left_out(layer);
        in.push_back(*shape);
      }
    }
    return take(index, in);
  }

  ShapedNetwork done() && { return std::move(out_); }

 private:
  Status left_out(const NetworkLayer& layer) {
    out_.left_out.push_back(layer.name);
    return {};
  }
  /// Null where it was left out.
  [[nodiscard]] const Shape* given_by(std::size_t from) const {
    if (from == kNetworkInput) return &out_.input;
    return place_[from] ? &out_.layers[*place_[from]].out : nullptr;
  }
  [[nodiscard]] Status same_as_wired(const NetworkLayer& layer, const std::vector<Shape>& in) const {
    if (in.size() != layer.inputs.size())
      return fail(ErrorCode::invalid_argument, cat("layer \"", layer.name, "\": ", in.size(),
                                                   " input_shapes for ", layer.inputs.size(), " inputs"));
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Shape* wired = given_by(layer.inputs[i]);
      if (wired != nullptr && *wired != in[i])
        return fail(ErrorCode::invalid_argument,
                    cat("layer \"", layer.name, "\": its input was ", predict::text_of(in[i]), ", and ",
                        layer.inputs[i] == kNetworkInput ? "the network's input"
                                                         : network_.layers[layer.inputs[i]].name,
                        " gives ", predict::text_of(*wired)));
    }
    return {};
  }

  Status take(std::size_t index, const std::vector<Shape>& in) {
    const NetworkLayer& layer = network_.layers[index];
    ShapedLayer shaped;
    if (layer.kind.family == LayerFamily::unknown || layer.kind.family == LayerFamily::product) {
      shaped.in = in;
      shaped.out = fixed(*layer.output_shape);
      shaped.operations = elements_of(shaped.out);
    } else {
      auto worked_out = shape_of(layer, in);
      if (!worked_out) return fail(worked_out.error());
      shaped = std::move(*worked_out);
      if (layer.output_shape && fixed(*layer.output_shape) != shaped.out)
        return fail(
            ErrorCode::invalid_argument,
            cat("layer \"", layer.name, "\": its output was ", text_of(*layer.output_shape), ", and a ",
                layer.kind_name, " of these fields gives ", predict::text_of(shaped.out)));
      if (layer.parameters && *layer.parameters != shaped.parameters)
        return fail(ErrorCode::invalid_argument,
                    cat("layer \"", layer.name, "\": it says ", *layer.parameters, " parameters, and a ",
                        layer.kind_name, " of these fields has ", shaped.parameters));
    }
    shaped.index = index;
    shaped.parameters = layer.parameters.value_or(shaped.parameters);
    shaped.operations = layer.operations.value_or(shaped.operations);
    place_[index] = out_.layers.size();
    out_.layers.push_back(std::move(shaped));
    return {};
  }

  const Network& network_;
  std::vector<std::optional<std::size_t>> place_;  // in out_.layers
  ShapedNetwork out_;
};

}  // namespace

Result<ShapedNetwork> shapes_of(const Network& network, std::optional<unsigned> image, bool skip_dynamic) {
  auto input = input_of(network, image);
  if (!input) return fail(input.error());
  const auto traced = std::find_if(network.layers.begin(), network.layers.end(),
                                   [](const NetworkLayer& layer) { return layer.input_shapes.has_value(); });
  const bool changed = image && (is_dynamic(network.input) || fixed(network.input) != *input);
  if (changed && traced != network.layers.end())
    return fail(ErrorCode::invalid_argument,
                cat("layer \"", traced->name, "\": its shapes were traced with input ",
                    text_of(network.input), " and do not follow --image ", *image),
                "trace it again with images of that size: rubato layers trace");
  Walk walk(network, std::move(*input));
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (Status taken = walk.layer(i, skip_dynamic); !taken) return fail(taken.error());
  return std::move(walk).done();
}

}  // namespace rubato::predict
