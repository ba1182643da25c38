#include "predict/layers/demands.h"

#include <gmock/gmock.h>

#include "networks.h"

namespace rubato::predict {
namespace {

using test::demands;
using test::find;
using test::sum;

constexpr auto kOperations = [](const LayerDemand& layer) { return layer.operations; };

TEST(LayerDemands, a_convolution_by_hand) {
  // 2 images of 3x8x8 to 4x6x6 through 3x3: 4*36 places of 27 multiply-adds, 108 weights and 4 biases.
  const auto what = demands(R"({"name": "r", "kind": "batchnorm"},
                               {"name": "c", "kind": "conv", "channels": 4, "kernel": 3})",
                            "[3, 8, 8]", {.batch = 2, .optimizer = Optimizer::sgd});
  ASSERT_TRUE(what) << what.error().what;
  const LayerDemand& forward = *find(*what, "c");
  EXPECT_EQ(forward.operations, 2 * 2 * 144 * 27);
  EXPECT_EQ(forward.parameters, 112);
  EXPECT_EQ(forward.bytes_read, 4 * (2 * 192 + 112));
  EXPECT_EQ(forward.bytes_written, 4 * 2 * 144);
  EXPECT_TRUE(forward.dense);
  const LayerDemand& backward = *find(*what, "c", LayerPass::backward);
  EXPECT_EQ(backward.operations, 2 * forward.operations);
  EXPECT_EQ(backward.bytes_read, 4 * (2 * 144 + 112 + 2 * 144 + 2 * 192)) << "for the input, for the weights";
  EXPECT_EQ(backward.bytes_written, 4 * (2 * 192 + 112));
  EXPECT_EQ(backward.kernels, 2U);
  const LayerDemand& update = *find(*what, "c", LayerPass::optimizer);
  EXPECT_EQ(update.bytes_read, 112 * 8) << "parameter and gradient";
  EXPECT_EQ(update.bytes_written, 112 * 4);
  EXPECT_EQ(update.operations, 112 * 2);
}

TEST(LayerDemands, the_first_layer_owes_nobody_a_gradient_of_its_input) {
  const auto what = demands(R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3})");
  EXPECT_EQ(find(*what, "c", LayerPass::backward)->operations, find(*what, "c")->operations);
  EXPECT_EQ(find(*what, "c", LayerPass::backward)->kernels, 1U);
}

TEST(LayerDemands, frozen_layers_cost_no_update_and_what_stands_before_them_no_backward_pass) {
  const auto what = demands(R"({"name": "a", "kind": "conv", "channels": 4, "kernel": 3, "trainable": false},
                               {"name": "r", "kind": "relu"},
                               {"name": "b", "kind": "conv", "channels": 4, "kernel": 3},
                               {"name": "c", "kind": "conv", "channels": 4, "kernel": 3,
                                "trainable": false})");
  EXPECT_EQ(find(*what, "a", LayerPass::backward), nullptr);
  EXPECT_EQ(find(*what, "r", LayerPass::backward), nullptr);
  EXPECT_EQ(find(*what, "b", LayerPass::backward)->kernels, 1U) << "weights only";
  EXPECT_EQ(find(*what, "c", LayerPass::backward)->kernels, 1U) << "input only";
  EXPECT_EQ(find(*what, "c", LayerPass::optimizer), nullptr);
}

TEST(LayerDemands, gradients_that_meet_in_one_tensor_are_summed) {
  const std::string head =
      R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 1}, {"name": "r", "kind": "relu"},
                              {"name": "d", "kind": "conv", "channels": 4, "kernel": 1})";
  const auto chain = demands(head);
  const auto residual = demands(head + R"(, {"name": "+", "kind": "add", "inputs": ["d", "r"]})");
  const LayerDemand& alone = *find(*chain, "r", LayerPass::backward);
  const LayerDemand& summed = *find(*residual, "r", LayerPass::backward);
  const double tensor = 4 * 4 * 64;
  EXPECT_EQ(summed.bytes_read - alone.bytes_read, 2 * tensor);
  EXPECT_EQ(summed.bytes_written - alone.bytes_written, tensor);
  EXPECT_EQ(summed.kernels, alone.kernels + 1);
  EXPECT_EQ(find(*residual, "+", LayerPass::backward), nullptr) << "it passes the gradient on as it is";
}

TEST(LayerDemands, of_a_tracing_without_wiring_gradients_are_summed_where_branches_meet) {
  const auto what = demands(R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 1},
                               {"name": "+", "kind": "add", "input_shapes": [[4, 8, 8], [4, 8, 8]]})");
  const LayerDemand* met = find(*what, "+", LayerPass::backward);
  ASSERT_NE(met, nullptr);
  EXPECT_EQ(met->bytes(), 3 * 4 * 4 * 64) << "two read, one written";
}

TEST(LayerDemands, a_batch_is_read_twice_to_normalise_it) {
  const auto what = demands(
      R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 1}, {"name": "n", "kind": "batchnorm"})");
  const double tensor = 4 * 4 * 64;
  EXPECT_EQ(find(*what, "n")->bytes_read, 2 * tensor + 4 * 8);
  EXPECT_EQ(find(*what, "n")->bytes_written, tensor);
  EXPECT_EQ(find(*what, "n", LayerPass::backward)->bytes_read, 4 * tensor + 4 * 8)
      << "input and gradient, twice";
}

TEST(LayerDemands, views_move_nothing) {
  const auto what =
      demands(R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 1}, {"name": "f", "kind": "flatten"},
                               {"name": "same", "kind": "reshape", "shape": [16, 16]})");
  EXPECT_EQ(find(*what, "f"), nullptr);
  EXPECT_EQ(find(*what, "same"), nullptr);
  EXPECT_EQ(find(*what, "f", LayerPass::backward), nullptr);
}

TEST(LayerDemands, half_precision_halves_the_bytes_of_tensors_and_keeps_single_precision_weights) {
  const std::string layers = R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3})";
  const auto single = demands(layers);
  const auto half = demands(layers, "[3, 8, 8]", {.batch = 1, .precision = Precision::bf16});
  EXPECT_EQ(2 * find(*half, "c")->bytes(), find(*single, "c")->bytes());
  EXPECT_EQ(find(*half, "c")->operations, find(*single, "c")->operations);
  const LayerDemand& update = *find(*half, "c", LayerPass::optimizer);
  EXPECT_EQ(update.bytes_read, 112 * (2 + 4 + 4)) << "gradient, master weight, momentum";
  EXPECT_EQ(update.bytes_written, 112 * (4 + 4 + 2)) << "master weight, momentum, the layers' copy";
}

TEST(LayerDemands, a_depthwise_convolution_is_no_matrix_product) {
  const auto what =
      demands(R"({"name": "d", "kind": "conv", "channels": 3, "kernel": 3, "groups": 3, "bias": false})");
  EXPECT_FALSE(find(*what, "d")->dense);
  EXPECT_EQ(find(*what, "d")->operations, 2 * 3 * 36 * 9);
  EXPECT_EQ(macs_per_sample(what->demands), 3 * 36 * 9);
}

TEST(LayerDemands, a_module_called_twice_is_read_twice_and_updated_once) {
  const auto what = demands(R"({"name": "f", "kind": "linear", "features": 8},
                               {"name": "f#2", "kind": "linear", "features": 8, "shares": "f"})",
                            "[8]");
  EXPECT_EQ(parameters_of(what->demands), 72);
  EXPECT_EQ(find(*what, "f#2")->bytes_read, find(*what, "f")->bytes_read);
  EXPECT_EQ(find(*what, "f#2", LayerPass::optimizer), nullptr);
}

TEST(LayerDemands, kinds_nobody_knows_count_as_element_wise_and_are_named) {
  const auto what =
      demands(R"({"name": "x", "kind": "MyOp", "input_shapes": [[3, 8, 8]], "output_shape": [6, 4, 4],
                                "parameters": 10, "anything": 1})");
  EXPECT_FALSE(what) << "unknown fields stay unknown";
  const auto taken =
      demands(R"({"name": "x", "kind": "MyOp", "input_shapes": [[3, 8, 8]], "output_shape": [6, 4, 4],
                                 "parameters": 10},
                                {"name": "y", "kind": "MyOp", "input_shapes": [[6, 4, 4]],
                                 "output_shape": [1],
                                 "operations": 1000})");
  ASSERT_TRUE(taken) << taken.error().what;
  EXPECT_THAT(taken->unknown, testing::ElementsAre("x", "y"));
  EXPECT_EQ(find(*taken, "x")->operations, 96);
  EXPECT_EQ(find(*taken, "x")->bytes_read, 4 * (192 + 10));
  EXPECT_EQ(find(*taken, "y")->operations, 1000);
}

// A trainable layer before each, so that a gradient of its input is owed.
constexpr const char* kBefore = R"({"name": "f", "kind": "linear", "features": 8, "bias": false},)";

TEST(LayerDemands, products_that_are_given_outright_are_dense_in_both_passes) {
  const auto what = demands(cat(kBefore, R"({"name": "mm", "kind": "matmul", "input_shapes": [[5, 8], [8, 4]],
                                             "output_shape": [5, 4], "operations": 320})"),
                            "[5, 8]");
  ASSERT_TRUE(what) << what.error().what;
  EXPECT_THAT(what->unknown, testing::IsEmpty());
  const LayerDemand& forward = *find(*what, "mm");
  EXPECT_TRUE(forward.dense);
  EXPECT_EQ(forward.operations, 320);
  EXPECT_EQ(forward.bytes_read, 4 * (40 + 32));
  EXPECT_EQ(forward.bytes_written, 4 * 20);
  const LayerDemand& backward = *find(*what, "mm", LayerPass::backward);
  EXPECT_TRUE(backward.dense);
  EXPECT_EQ(backward.operations, 2 * 320);
  EXPECT_EQ(backward.bytes_read, 4 * (20 + 32 + 20 + 40)) << "each factor's gradient needs the other factor";
  EXPECT_EQ(backward.bytes_written, 4 * (40 + 32));
  EXPECT_EQ(macs_per_sample(what->demands), 160 + 5 * 64);
}

TEST(LayerDemands, attention_works_its_scores_out_again_and_recurrent_layers_have_weights) {
  const auto what = demands(cat(kBefore, R"({"name": "at", "kind": "attention",
                      "input_shapes": [[5, 8], [5, 8], [5, 8]], "output_shape": [5, 8], "operations": 800},
                     {"name": "rnn", "kind": "lstm", "input_shapes": [[5, 8]], "output_shape": [5, 3],
                      "parameters": 144, "operations": 1320})"),
                            "[5, 8]");
  ASSERT_TRUE(what) << what.error().what;
  EXPECT_TRUE(find(*what, "at")->dense);
  EXPECT_EQ(find(*what, "at", LayerPass::backward)->operations, 2.5 * 800);
  const LayerDemand& rnn = *find(*what, "rnn", LayerPass::backward);
  EXPECT_TRUE(rnn.dense);
  EXPECT_EQ(rnn.operations, 2 * 1320);
  EXPECT_EQ(rnn.kernels, 2U) << "of its input and of its parameters";
  EXPECT_EQ(rnn.bytes_written, 4 * (40 + 144));
  EXPECT_EQ(trained_parameters_of(what->demands), 64 + 144);
}

TEST(LayerDemands, a_product_without_operations_is_as_unknown_as_before) {
  const auto what = demands(R"({"name": "mm", "kind": "matmul", "input_shapes": [[5, 8], [8, 4]],
                                "output_shape": [5, 4]})");
  ASSERT_TRUE(what) << what.error().what;
  EXPECT_THAT(what->unknown, testing::ElementsAre("mm"));
  EXPECT_FALSE(find(*what, "mm")->dense);
  const auto none = demands(R"({"name": "mm", "kind": "matmul", "operations": 3})");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, testing::HasSubstr("input_shapes and output_shape"));
}

TEST(LayerDemands, without_a_batch_size_nothing_can_be_counted) {
  const auto none = demands(R"({"name": "r", "kind": "relu"})", "[3, 8, 8]", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().hint, "--batch 64");
}

TEST(PublishedNetworks, have_the_multiply_adds_and_parameters_that_are_published) {
  for (const std::string& name : list_networks()) {
    const Network& network = **find_network(name);
    const auto what = demands_of(network, {.batch = 3});
    ASSERT_TRUE(what) << what.error().what;
    EXPECT_NEAR(macs_per_sample(what->demands) / network.published_macs->value, 1, 0.01) << name;
    EXPECT_EQ(parameters_of(what->demands), network.published_parameters->value) << name;
    EXPECT_EQ(sum(what->demands, LayerPass::optimizer, [](const LayerDemand& l) { return l.parameters; }),
              network.published_parameters->value);
    EXPECT_TRUE(what->unknown.empty());
  }
}

TEST(PublishedNetworks, follow_the_size_of_the_image) {
  for (const std::string& name : list_networks()) {
    const auto small = demands_of(**find_network(name), {.batch = 1, .image = 128});
    const auto large = demands_of(**find_network(name), {.batch = 1, .image = 256});
    ASSERT_TRUE(small && large);
    EXPECT_EQ(parameters_of(small->demands), parameters_of(large->demands));
    const auto conv = [](const LayerDemand& layer) { return layer.kind == "conv" ? layer.operations : 0; };
    EXPECT_DOUBLE_EQ(sum(large->demands, LayerPass::forward, conv),
                     4 * sum(small->demands, LayerPass::forward, conv));
  }
}

TEST(PublishedNetworks, backward_is_twice_forward_in_products_of_inner_layers) {
  const auto what = demands_of(**find_network("resnet50"), {.batch = 2});
  for (const LayerDemand& layer : what->demands.layers) {
    if (layer.pass != LayerPass::forward || !layer.dense || layer.layer == "conv1") continue;
    EXPECT_EQ(find(*what, layer.layer, LayerPass::backward)->operations, 2 * layer.operations) << layer.layer;
  }
  EXPECT_GT(sum(what->demands, LayerPass::backward, kOperations), 0);
}

}  // namespace
}  // namespace rubato::predict
