#include "plan/layers/layer_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/layers/tables.h"

namespace rubato::plan {
namespace {

LayerPlan random_plan(Random& random) {
  LayerPlan plan{.board = "NVIDIA RTX A4000",
                 .uuid = {},
                 .network = cat("net\"", random.index(100)),
                 .batch = static_cast<unsigned>(1 + random.index(512)),
                 .parameters = {},
                 .input = "3x224x224",
                 .precision = static_cast<Precision>(random.index(4)),
                 .only = {},
                 .strategy = "phase",
                 .max_slowdown = random.uniform(0, 0.5),
                 .kind = static_cast<Kind>(random.index(5)),
                 .memory_clock = random.index(2) == 0,
                 .single = {Megahertz(random.uniform(200, 2000)), 7001_MHz},
                 .at_default = {Seconds(random.uniform()), Joules(random.uniform(1, 100))},
                 .at_single = {Seconds(random.uniform()), Joules(random.uniform(1, 100))},
                 .planned = {0_s, Joules(random.uniform(1, 100))},
                 .switching_delay = Seconds(random.uniform()),
                 .dwell = Seconds(random.uniform()),
                 .phases = {}};
  if (random.index(2) == 0) plan.parameters = std::floor(random.uniform(0, 1e12));
  if (random.index(2) == 0) plan.only = static_cast<LayerPass>(random.index(3));
  if (random.index(2) == 0) plan.uuid = cat("GPU-", random.index(1000));
  const auto phases = 1 + random.index(5);
  for (std::size_t i = 0; i < phases; ++i) {
    plan.phases.push_back({.first = cat("layer", i),
                           .last = cat("layer", i, ".relu"),
                           .pass = static_cast<LayerPass>(random.index(3)),
                           .clocks = {Megahertz(random.uniform(200, 2000)), 5001_MHz},
                           .duration = Seconds(random.uniform(0.001, 1)),
                           .energy = Joules(random.uniform(0, 100))});
    plan.planned.time += plan.phases.back().duration;
  }
  return plan;
}

TEST(LayerPlan, ReadsBackWhatWasWritten) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const LayerPlan plan = random_plan(random);
    const std::string text = write_layer_plan(plan);
    const auto read = read_layer_plan(text);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(write_layer_plan(*read), text);
    EXPECT_EQ(read->phases.size(), plan.phases.size());
    EXPECT_EQ(read->phases.back().clocks, plan.phases.back().clocks);
    EXPECT_EQ(read->uuid, plan.uuid);
    EXPECT_EQ(read->parameters, plan.parameters);
    EXPECT_EQ(read->only, plan.only);
    EXPECT_EQ(read->planned.time, plan.planned.time);
  }
}

std::string refusal(void (*spoil)(nlohmann::json&)) {
  Random random(2);
  auto document = nlohmann::json::parse(write_layer_plan(random_plan(random)));
  spoil(document);
  const auto read = read_layer_plan(document.dump());
  return read ? "none" : read.error().what;
}

TEST(LayerPlan, SaysWhichFieldIsWrongWhatItIsAndWhatIsNeeded) {
  using nlohmann::json;
  EXPECT_EQ(refusal([](json&) {}), "none");
  EXPECT_EQ(refusal([](json& j) { j["max_slowdown"] = -1; }),
            "the plan: \"max_slowdown\" is -1 where a number from 0 to 10 is needed");
  EXPECT_EQ(refusal([](json& j) { j["phases"] = json::array(); }),
            "the plan: \"phases\" has 0 entries where a list of 1 to 100000 is needed");
  EXPECT_EQ(refusal([](json& j) { j["surprise"] = 1; }), "the plan does not take \"surprise\"");
  EXPECT_EQ(refusal([](json& j) { j["schema"] = "rubato.layer-plan/2"; }),
            "the plan: \"schema\" is \"rubato.layer-plan/2\" where \"rubato.layer-plan/1\" is needed");
  EXPECT_EQ(refusal([](json& j) { j["batch"] = 1e30; }),
            "the plan: \"batch\" is 1e+30 where a whole number is needed");
  EXPECT_NE(refusal([](json& j) { j["precision"] = "fp8"; }).find("fp8"), std::string::npos);
  EXPECT_NE(refusal([](json& j) { j["phases"][0]["duration_s"] = 99.0; }).find("last"), std::string::npos);
  EXPECT_EQ(refusal([](json& j) { j["phases"][0]["sm_clock_mhz"] = "fast"; }),
            "phase 1: \"sm_clock_mhz\" is \"fast\" where a number from 1 to 1e+05 is needed");
  EXPECT_EQ(refusal([](json& j) { j["at_single"] = 3; }), "at_single: 3 where an object is needed");
  EXPECT_EQ(read_layer_plan("{").error().what, "no JSON, from byte 2");
  EXPECT_FALSE(read_layer_plan("[]"));
}

TEST(LayerPlan, NamesEveryFieldThatIsMissing) {
  Random random(2);
  LayerPlan plan = random_plan(random);
  plan.parameters.reset();  // plans of before had none
  plan.only.reset();        // of a whole iteration
  const auto whole = nlohmann::json::parse(write_layer_plan(plan));
  for (const auto& [key, value] : whole.items()) {
    auto without = whole;
    without.erase(key);
    const auto read = read_layer_plan(without.dump());
    ASSERT_FALSE(read) << key;
    EXPECT_TRUE(read.error().what.starts_with(cat("the plan has no \"", key, "\" where ")))
        << read.error().what;
  }
}

TEST(LayerPlan, NestedWithoutEndIsRefusedAndNotPrinted) {
  const auto read = read_layer_plan(std::string(1'000'000, '['));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().what, "nested deeper than 64 levels, at byte 65");
}

TEST(LayerPhases, FollowEachOtherAndAddUpToTheIteration) {
  // Fast, slow, slow, fast: a tail of 0.4 s each time.
  const SegmentTable table =
      table_of(2, {{1, 100}, {2, 80}, {1, 100}, {2, 80}, {1, 100}, {2, 80}, {1, 100}, {2, 80}});
  const Switching switching = same_for_all(2, Seconds(0.4), 0_s, 0_s);
  const SegmentPlan plan{"by hand", {0, 1, 1, 0}, {}, {}, 0, {}, {}};
  const auto phases = phases_of(table, switching, plan);
  ASSERT_TRUE(phases);
  ASSERT_EQ(phases->size(), 3U);
  EXPECT_EQ((*phases)[0].clocks.sm, 1000_MHz);
  EXPECT_EQ((*phases)[1].first, "layer1");
  EXPECT_EQ((*phases)[1].last, "layer2");
  EXPECT_TRUE((*phases)[0].begins_pass);
  EXPECT_FALSE((*phases)[1].begins_pass) << "all of it is one pass";
  EXPECT_NEAR((*phases)[0].duration.value(), 1, 1e-12);
  EXPECT_NEAR((*phases)[1].duration.value(), 0.4 + 1.2 + 2, 1e-12);
  const SegmentCost whole = cost_of(table, switching, plan.setting);
  Seconds time;
  Joules energy;
  for (const PlannedPhase& phase : *phases) {
    time += phase.duration;
    energy += phase.energy;
  }
  EXPECT_NEAR(time.value(), whole.time.value(), 1e-12);
  EXPECT_NEAR(energy.value(), whole.energy.value(), 1e-12);
}

TEST(LayerPhases, OfIterationsThatDifferAreRefused) {
  const SegmentTable table = table_of(2, {{1, 100}, {2, 80}, {1, 100}, {2, 80}});
  const auto phases =
      phases_of(table, same_for_all(2, 0_s, 0_s, 10_s), {"by hand", {0, 1}, {}, {}, 0, {}, {}});
  ASSERT_FALSE(phases);
  EXPECT_EQ(phases.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace rubato::plan
