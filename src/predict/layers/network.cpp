#include "predict/layers/network.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "predict/layers/embedded_networks.h"

namespace rubato::predict {
namespace {

constexpr std::array<std::string_view, 3> kOptimizers = {"sgd", "momentum", "adam"};

const std::vector<Network>& embedded() {
  static const std::vector<Network> kAll = [] {
    std::vector<Network> out;
    for (const std::string_view text : embedded_networks()) out.push_back(parse_network(text).value());
    return out;
  }();
  return kAll;
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::string out;
  for (const std::uint32_t dimension : shape) out += cat(out.empty() ? "" : "x", dimension);
  return out;
}

double elements_of(const Shape& shape) {
  double out = 1;
  for (const std::uint32_t dimension : shape) out *= dimension;
  return out;
}

std::string_view name_of(Optimizer optimizer) {
  return kOptimizers[static_cast<std::size_t>(optimizer)];
}

Result<Optimizer> parse_optimizer(std::string_view name) {
  const auto* found = std::find(kOptimizers.begin(), kOptimizers.end(), name);
  if (found == kOptimizers.end())
    return fail(ErrorCode::invalid_argument,
                cat("there is no optimizer \"", name, "\"; there are sgd, momentum, adam"));
  return static_cast<Optimizer>(found - kOptimizers.begin());
}

Result<const Network*> find_network(std::string_view name) {
  std::string known;
  for (const Network& network : embedded()) {
    if (network.name == name) return &network;
    known += cat(known.empty() ? "" : ", ", network.name);
  }
  return fail(ErrorCode::not_found, cat("there is no network \"", name, "\"; there are ", known),
              "a file of your own model: rubato layers trace -o network.json -- python train.py");
}

std::vector<std::string> list_networks() {
  std::vector<std::string> out;
  for (const Network& network : embedded()) out.push_back(network.name);
  return out;
}

}  // namespace rubato::predict
