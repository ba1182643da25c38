#include "predict/layers/network.h"

#include <gmock/gmock.h>

#include <utility>

#include "networks.h"

namespace rubato::predict {
namespace {

using test::demands;
using test::network_of;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kConv = R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3})";

std::string wrong(const std::string& layers, const std::string& input = "[3, 8, 8]") {
  const auto found = demands(layers, input);
  return found ? "taken" : found.error().what;
}

TEST(NetworkDescription, says_which_layer_and_field_is_wrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name": "c", "kind": "conv", "channels": 4})",
       "layer \"c\" has no \"kernel\" where a number or a list"},
      {R"({"name": "c", "kind": "conv", "channels": 0, "kernel": 3})",
       "\"channels\" is 0 where a whole number above 0"},
      {R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 2.5})", "\"kernel\" is 2.5 where"},
      {R"({"name": "c", "kind": "conv", "channels": 4, "kernel": [3, 3, 3, 3]})", "a list of one to three"},
      {R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3, "strid": 2})", "does not take \"strid\""},
      {R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 9})", "smaller than its kernel"},
      {R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3, "groups": 2})",
       "2 groups do not divide its 3 and 4"},
      {R"({"name": "f", "kind": "foo"})", "the kind \"foo\" is not known"},
      {R"({"name": "f", "kind": "relu", "inputs": ["later"]})", "there is no layer \"later\" before it"},
      {R"({"name": "r", "kind": "reshape", "shape": [5]})", "does not hold the elements of 3x8x8"},
      {R"({"name": "c", "kind": "maxpool", "kernel": 3, "stride": 4294967295})",

       "\"stride\" is 4294967295 where a number up to"},
      {R"({"kind": "relu"})", "layer 1 has no \"name\""},
      {R"(7)", "layer 1: 7 where an object is needed"},
  };
  for (const auto& [layers, what] : cases) EXPECT_THAT(wrong(layers), HasSubstr(what)) << layers;
  EXPECT_THAT(wrong(""), HasSubstr("\"layers\" is [] where"));
  EXPECT_THAT(wrong(kConv, "7"), HasSubstr("\"input\" is 7 where a list"));
  EXPECT_THAT(wrong(kConv, "[8]"), HasSubstr("is not channels and one to three spatial dimensions"));
  EXPECT_THAT(wrong(cat(kConv, ",", kConv)), HasSubstr("layer 2: the name \"c\" is taken"));
  EXPECT_FALSE(parse_network("{"));
  EXPECT_FALSE(parse_network(R"({"schema": "rubato.network/9"})"));
}

TEST(NetworkDescription, branches_must_agree_where_they_meet) {
  const std::string other =
      R"({"name": "d", "kind": "conv", "channels": 4, "kernel": 5, "inputs": ["input"]})";
  EXPECT_THAT(wrong(cat(kConv, ",", other, R"(, {"name": "+", "kind": "add", "inputs": ["c", "d"]})")),
              HasSubstr("layer \"+\": its inputs do not agree: 4x6x6 and 4x4x4"));
  EXPECT_THAT(wrong(cat(kConv, ",", other, R"(, {"name": "|", "kind": "concat", "inputs": ["c", "d"]})")),
              HasSubstr("layer \"|\": its inputs do not agree"));
  EXPECT_THAT(wrong(cat(kConv, R"(, {"name": "+", "kind": "add"})")), HasSubstr("two or more inputs, not 1"));
}

TEST(NetworkDescription, shapes_that_were_traced_must_be_what_the_fields_give) {
  EXPECT_THAT(wrong(R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3, "input_shapes": [[3, 8, 8]],
                        "output_shape": [4, 8, 8]})"),
              HasSubstr("its output was 4x8x8, and a conv of these fields gives 4x6x6"));
  EXPECT_THAT(wrong(R"({"name": "c", "kind": "conv", "channels": 4, "kernel": 3, "parameters": 7})"),
              HasSubstr("it says 7 parameters, and a conv of these fields has 112"));
  EXPECT_THAT(wrong(R"({"name": "c", "kind": "relu", "inputs": ["input"], "input_shapes": [[3, 9, 9]]})"),
              HasSubstr("its input was 3x9x9, and the network's input gives 3x8x8"));
}

TEST(NetworkDescription, dynamic_layers_are_refused_by_name_or_left_out_with_what_hangs_on_them) {
  const std::string layers = R"(
      {"name": "a", "kind": "relu"},
      {"name": "b", "kind": "conv", "channels": 4, "kernel": 3, "dynamic": [[4, 6, 6], [4, 8, 8]]},
      {"name": "c", "kind": "relu"},
      {"name": "d", "kind": "linear", "features": 2, "input_shapes": [[5]]})";
  EXPECT_THAT(wrong(layers),
              HasSubstr("layer \"b\" (conv) has a dynamic shape: its output was 4x6x6, 4x8x8"));
  const auto rest = demands(layers, "[3, 8, 8]", {.batch = 1, .skip_dynamic = true});
  ASSERT_TRUE(rest) << rest.error().what;
  EXPECT_THAT(rest->left_out, ElementsAre("b", "c"));
  EXPECT_NE(test::find(*rest, "a"), nullptr);
  EXPECT_EQ(test::find(*rest, "b"), nullptr);
  EXPECT_EQ(test::find(*rest, "d")->parameters, 12);
  for (const char* what : {"null", "-1", "\"dynamic\""})
    EXPECT_THAT(
        wrong(cat(R"({"name": "u", "kind": "Custom", "input_shapes": [[3]], "output_shape": [)", what, "]}")),
        HasSubstr("layer \"u\" (Custom) has a dynamic shape: its output is ?"));
}

TEST(NetworkDescription, a_dynamic_image_takes_its_size_from_the_user) {
  EXPECT_THAT(wrong(kConv, "[3, null, null]"), HasSubstr("its input 3x?x? is dynamic"));
  const auto told = demands(kConv, "[3, null, null]", {.batch = 1, .image = 5});
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->demands.input, "3x5x5");
  const auto traced = demands(R"({"name": "r", "kind": "relu", "input_shapes": [[3, 8, 8]]})", "[3, 8, 8]",
                              {.batch = 1, .image = 5});
  ASSERT_FALSE(traced);
  EXPECT_THAT(traced.error().what, HasSubstr("do not follow --image 5"));
  EXPECT_FALSE(demands(R"({"name": "f", "kind": "linear", "features": 2})", "[8]", {.batch = 1, .image = 5}));
}

TEST(NetworkDescription, windows_slide_as_the_frameworks_slide_them) {
  const std::tuple<const char*, const char*, double> cases[] = {
      // layer, input, elements of its output
      {R"({"name": "l", "kind": "conv", "channels": 1, "kernel": 7, "stride": 2, "padding": 3})",
       "[3, 224, 224]", 112 * 112},
      {R"({"name": "l", "kind": "conv", "channels": 1, "kernel": 3, "stride": 2, "padding": "same"})",
       "[3, 7, 8]", 4 * 4},
      {R"({"name": "l", "kind": "conv", "channels": 1, "kernel": 3, "dilation": 2})", "[3, 8, 8]", 4 * 4},
      {R"({"name": "l", "kind": "conv", "channels": 1, "kernel": [1, 5]})", "[3, 8, 8]", 8 * 4},
      {R"({"name": "l", "kind": "conv", "channels": 2, "kernel": 3})", "[3, 10]", 2 * 8},
      {R"({"name": "l", "kind": "convtranspose", "channels": 1, "kernel": 4, "stride": 2, "padding": 1})",
       "[3, 8, 8]", 16 * 16},
      {R"({"name": "l", "kind": "maxpool", "kernel": 2})", "[1, 7, 7]", 3 * 3},
      {R"({"name": "l", "kind": "maxpool", "kernel": 2, "ceil": true})", "[1, 7, 7]", 4 * 4},
      // The fourth window would begin in the padding: PyTorch drops it.
      {R"({"name": "l", "kind": "maxpool", "kernel": 1, "stride": 3, "ceil": true})", "[1, 6, 6]", 2 * 2},
      {R"({"name": "l", "kind": "globalpool"})", "[5, 7, 7]", 5},
      {R"({"name": "l", "kind": "embedding", "rows": 9, "features": 4})", "[6]", 6 * 4},
  };
  for (const auto& [layer, input, elements] : cases) {
    const auto found = demands(layer, input);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->demands.layers.front().bytes_written, 4 * elements) << layer;
  }
}

TEST(NetworkDescription, the_networks_that_travel_along_are_found_by_name) {
  EXPECT_THAT(list_networks(), testing::UnorderedElementsAre("resnet50", "vgg16"));
  const auto missing = find_network("resnet51");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().what, HasSubstr("resnet50, vgg16"));
}

}  // namespace
}  // namespace rubato::predict
