#include "predict/trees/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "predict/trees/booster.h"

namespace rubato::predict::trees {
namespace {

using nlohmann::json;

/// x < 2: 1, else 3; not known: to the left.
json one_split() {
  return {{"learner",
           {{"learner_model_param", {{"base_score", "5E-1"}}},
            {"gradient_booster",
             {{"model",
               {{"trees",
                 {{{"left_children", {1, -1, -1}},
                   {"right_children", {2, -1, -1}},
                   {"split_indices", {0, 0, 0}},
                   {"split_conditions", {2.0, 1.0, 3.0}},
                   {"default_left", {1, 0, 0}}}}}}}}}}}};
}

TEST(Forest, WalksTheTreeAndAddsTheBaseScore) {
  const auto forest = Forest::read(one_split(), 1);
  ASSERT_TRUE(forest) << forest.error().what;
  const float below = 1.9F;
  const float at = 2.0F;
  const float unknown = std::nanf("");
  EXPECT_EQ(forest->predict(&below), 1.5);
  EXPECT_EQ(forest->predict(&at), 3.5);
  EXPECT_EQ(forest->predict(&unknown), 1.5);
}

TEST(Forest, ReadsTheBaseScoreOfXgboost3) {
  json saved = one_split();
  saved["learner"]["learner_model_param"]["base_score"] = "[1E0]";
  const auto forest = Forest::read(saved, 1);
  ASSERT_TRUE(forest) << forest.error().what;
  const float above = 5;
  EXPECT_EQ(forest->predict(&above), 4);
}

TEST(Forest, RefusesWhatCouldNotBeWalked) {
  const auto with = [](const char* list, json value) {
    json saved = one_split();
    saved["learner"]["gradient_booster"]["model"]["trees"][0][list] = std::move(value);
    return saved;
  };
  EXPECT_FALSE(Forest::read(with("left_children", {0, -1, -1}), 1)) << "a circle";
  EXPECT_FALSE(Forest::read(with("right_children", {9, -1, -1}), 1)) << "beyond the end";
  EXPECT_FALSE(Forest::read(with("split_indices", {1, 0, 0}), 1)) << "a column too many";
  EXPECT_FALSE(Forest::read(with("split_conditions", {2.0, 1.0}), 1)) << "lists of different lengths";
  EXPECT_FALSE(Forest::read(with("default_left", {"a", 0, 0}), 1)) << "no number";
  EXPECT_FALSE(Forest::read(json::object(), 1));
  EXPECT_EQ(Forest::read(json::array(), 1).error().code, ErrorCode::corrupt);
}

TEST(Forest, SaysWhatXgboostSays) {
  if (!xgboost_library()) GTEST_SKIP() << xgboost_library().error().what;
  Random random(3);
  Features features{.columns = 3, .values = {}};
  std::vector<float> targets;
  for (int i = 0; i < 300; ++i) {
    for (int c = 0; c < 3; ++c)
      features.values.push_back(c == 2 && i % 7 == 0 ? std::nanf("") : static_cast<float>(random.uniform()));
    const float* row = features.row(static_cast<std::size_t>(i));
    targets.push_back(row[0] * row[1] + 0.1F * static_cast<float>(random.normal()));
  }
  const auto booster = Booster::train(features, targets, {}, {.max_depth = 4, .eta = 0.3, .rounds = 40});
  ASSERT_TRUE(booster) << booster.error().what;
  const auto saved = booster->json();
  ASSERT_TRUE(saved);
  const auto forest = Forest::read(*saved, 3);
  ASSERT_TRUE(forest) << forest.error().what;
  EXPECT_EQ(forest->trees(), 40U);
  const unsigned all = 40;
  const auto theirs = booster->predict(features, {&all, 1});
  ASSERT_TRUE(theirs);
  for (std::size_t i = 0; i < features.rows(); ++i)
    EXPECT_NEAR(forest->predict(features.row(i)), (*theirs)[0][i], 1e-6);
}

TEST(Booster, EarlierRoundsAreThoseOfAShorterTraining) {
  if (!xgboost_library()) GTEST_SKIP() << xgboost_library().error().what;
  Features features{.columns = 1, .values = {}};
  std::vector<float> targets;
  for (int i = 0; i < 50; ++i) {
    features.values.push_back(static_cast<float>(i));
    targets.push_back(static_cast<float>(i * i));
  }
  const auto longer = Booster::train(features, targets, {}, {.rounds = 30});
  const auto shorter = Booster::train(features, targets, {}, {.rounds = 10});
  const unsigned ten = 10;
  EXPECT_EQ(*longer->predict(features, {&ten, 1}), *shorter->predict(features, {&ten, 1}));
}

TEST(Booster, KeepsToAMonotoneConstraint) {
  if (!xgboost_library()) GTEST_SKIP() << xgboost_library().error().what;
  Random random(5);
  Features features{.columns = 1, .values = {}};
  std::vector<float> targets;
  for (int i = 0; i < 200; ++i) {
    features.values.push_back(static_cast<float>(i));
    targets.push_back(static_cast<float>(-i / 100.0 + random.normal()));
  }
  const auto spread = [&](std::vector<int> monotone) {
    const auto booster =
        Booster::train(features, targets, {}, {.eta = 0.3, .rounds = 50, .monotone = std::move(monotone)});
    const unsigned all = 50;
    const auto values = booster->predict(features, {&all, 1})->front();
    int rises = 0;
    for (std::size_t i = 1; i < values.size(); ++i) rises += values[i] > values[i - 1] + 1e-6 ? 1 : 0;
    return rises;
  };
  EXPECT_EQ(spread({-1}), 0);
  EXPECT_GT(spread({}), 0);
}

}  // namespace
}  // namespace rubato::predict::trees
