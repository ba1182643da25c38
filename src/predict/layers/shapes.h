// The shapes that pass through a network, worked out layer by layer or taken as they were traced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/layers/network.h"

namespace rubato::predict {

struct ShapedLayer {
  std::size_t index = 0;  // in Network::layers
  std::vector<Shape> in;
  Shape out;
  double parameters = 0;           // read by its kernels, whoever owns them
  double operations = 0;           // forward, of one sample
  std::uint32_t group_inputs = 0;  // of convolutions: input channels one output sees
};

struct ShapedNetwork {
  Shape input;
  std::vector<ShapedLayer> layers;    // without those left out
  std::vector<std::string> left_out;  // dynamic, or after one that is
};

[[nodiscard]] Result<ShapedNetwork> shapes_of(const Network& network, std::optional<unsigned> image,
                                              bool skip_dynamic);

}  // namespace rubato::predict
