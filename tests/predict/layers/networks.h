// Small networks for the tests of layers, written in a line each.
#pragma once

#include <string>

#include "base/text.h"
#include "predict/layers/demands.h"

namespace rubato::predict::test {

/// `layers`: JSON objects with commas between.
inline Result<Network> network_of(const std::string& layers, const std::string& input = "[3, 8, 8]") {
  return parse_network(cat(R"({"schema": "rubato.network/1", "name": "small", "source": "a test", "input": )",
                           input, R"(, "layers": [)", layers, "]}"));
}

inline Result<Demanded> demands(const std::string& layers, const std::string& input = "[3, 8, 8]",
                                DemandOptions how = {.batch = 1}) {
  const auto network = network_of(layers, input);
  if (!network) return fail(network.error());
  return demands_of(*network, how);
}

/// Null: no such row.
inline const LayerDemand* find(const Demanded& what, const std::string& layer,
                               LayerPass pass = LayerPass::forward) {
  for (const LayerDemand& demand : what.demands.layers)
    if (demand.layer == layer && demand.pass == pass) return &demand;
  return nullptr;
}

/// Of one pass, what `of` is in sum.
template <class Of>
double sum(const NetworkDemands& demands, LayerPass pass, Of of) {
  double out = 0;
  for (const LayerDemand& layer : demands.layers)
    if (layer.pass == pass) out += of(layer);
  return out;
}

}  // namespace rubato::predict::test
