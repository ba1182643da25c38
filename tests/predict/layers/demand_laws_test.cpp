#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "networks.h"

namespace rubato::predict {
namespace {

using test::demands;
using test::sum;

/// A chain of one to six layers that fit any 4-channel image of 16x16.
std::string any_chain() {
  static const std::vector<std::string> kLayers = {
      R"("kind": "conv", "channels": 4, "kernel": 3, "padding": 1)",
      R"("kind": "conv", "channels": 4, "kernel": 1, "groups": 4)",
      R"("kind": "batchnorm")",
      R"("kind": "layernorm")",
      R"("kind": "relu")",
      R"("kind": "gelu")",
      R"("kind": "maxpool", "kernel": 3, "stride": 1, "padding": 1)",
      R"("kind": "dropout")",
      R"("kind": "softmax")"};
  const auto chosen =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kLayers)));
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(chosen.size(), 6); ++i)
    out += cat(i == 0 ? "" : ", ", "{\"name\": \"l", i, "\", ", chosen[i], "}");
  return out;
}

RC_GTEST_PROP(DemandLaws, operations_grow_with_the_batch_and_so_do_bytes_but_for_weights, ()) {
  const std::string layers = any_chain();
  const auto one = demands(layers, "[4, 16, 16]", {.batch = 1});
  const auto two = demands(layers, "[4, 16, 16]", {.batch = 2});
  const auto three = demands(layers, "[4, 16, 16]", {.batch = 3});
  RC_ASSERT(one && two && three);
  for (std::size_t i = 0; i < one->demands.layers.size(); ++i) {
    const LayerDemand& a = one->demands.layers[i];
    const LayerDemand& b = two->demands.layers[i];
    const LayerDemand& c = three->demands.layers[i];
    const double more = a.pass == LayerPass::optimizer ? a.operations : 2 * a.operations;
    RC_ASSERT(b.operations == more);
    RC_ASSERT(b.bytes() - a.bytes() == c.bytes() - b.bytes());
    RC_ASSERT(a.bytes() <= b.bytes());
    RC_ASSERT(a.kernels >= 1U);
  }
}

RC_GTEST_PROP(DemandLaws, an_image_twice_as_wide_and_high_asks_for_four_times_as_much, ()) {
  const std::string layers = any_chain();
  const auto small = demands(layers, "[4, 16, 16]");
  const auto large = demands(layers, "[4, 16, 16]", {.batch = 1, .image = 32});
  RC_ASSERT(small && large);
  const auto operations = [](const LayerDemand& layer) { return layer.operations; };
  for (const LayerPass pass : {LayerPass::forward, LayerPass::backward})
    RC_ASSERT(sum(large->demands, pass, operations) == 4 * sum(small->demands, pass, operations));
}

RC_GTEST_PROP(DemandLaws, a_better_optimizer_moves_more_and_changes_nothing_else, ()) {
  const std::string layers = any_chain();
  double before = -1;
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam}) {
    const auto what = demands(layers, "[4, 16, 16]", {.batch = 1, .optimizer = optimizer});
    RC_ASSERT(what);
    const auto bytes = [](const LayerDemand& layer) { return layer.bytes(); };
    const double moved = sum(what->demands, LayerPass::optimizer, bytes);
    RC_ASSERT(moved > before || moved == 0);
    before = moved;
  }
}

}  // namespace
}  // namespace rubato::predict
