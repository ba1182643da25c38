#include "progress/period/recall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace rubato::progress {
namespace {

float told(const RecallTraits& traits, std::string_view name) {
  const auto names = recall_trait_names();
  const auto at = std::find(names.begin(), names.end(), name);
  EXPECT_NE(at, names.end()) << name;
  return at == names.end() ? std::nanf("") : traits[static_cast<std::size_t>(at - names.begin())];
}

TEST(Recall, OfNoLookTellsOnlyOfThisOne) {
  const Recall nothing;
  EXPECT_TRUE(nothing.lengths_s().empty());
  const auto traits = nothing.traits_of({{2, 0.7}, {1, 0.4}}, 30);
  ASSERT_EQ(traits.size(), 2U);
  EXPECT_FLOAT_EQ(told(traits[0], "now"), 0.7F);
  EXPECT_FLOAT_EQ(told(traits[0], "now_other"), 0.4F);
  EXPECT_FLOAT_EQ(told(traits[0], "now_over_other"), std::log(2.0F));
  EXPECT_LT(told(traits[0], "before"), 0) << "no chance is below 0";
  EXPECT_LT(told(traits[0], "recalled"), 0);
  EXPECT_EQ(told(traits[0], "looks"), 0);
}

TEST(Recall, TellsHowFirmlyALengthWasBelievedBefore) {
  Recall recall;
  recall.add(10, {{2, 0.9}, {1, 0.2}});
  recall.add(20, {{1.02, 0.5}, {2.04, 0.3}});
  const auto traits = recall.traits_of({{2, 0.4}}, 40);
  ASSERT_EQ(traits.size(), 1U);
  EXPECT_FLOAT_EQ(told(traits[0], "before"), 0.3F) << "the same within some percent";
  EXPECT_FLOAT_EQ(told(traits[0], "before_lead"), -0.2F);
  EXPECT_FLOAT_EQ(told(traits[0], "before_ago"), std::log(2.0F));
  EXPECT_FLOAT_EQ(told(traits[0], "before2"), 0.9F);
  EXPECT_FLOAT_EQ(told(traits[0], "recalled"), 0.6F);
  EXPECT_FLOAT_EQ(told(traits[0], "recalled_first"), 0.5F);
  EXPECT_FLOAT_EQ(told(traits[0], "other_recalled"), 0.35F);
  EXPECT_NEAR(told(traits[0], "over_other_recalled"), std::log(2.0), 0.03);
}

TEST(Recall, AsksAgainAboutTheLengthsBelievedMostEachOnce) {
  Recall recall;
  recall.add(10, {{2, 0.9}, {1, 0.2}, {7, 0.05}});
  recall.add(20, {{2.02, 0.9}, {1, 0.3}, {5, 0.6}});
  const auto lengths = recall.lengths_s();
  ASSERT_EQ(lengths.size(), 2U);
  EXPECT_DOUBLE_EQ(lengths[0], 2.02) << "as it was last";
  EXPECT_DOUBLE_EQ(lengths[1], 5);
}

TEST(Recall, ForgetsWhatIsLongAgo) {
  Recall recall;
  recall.add(10, {{2, 1.0}});
  for (int look = 1; look <= 5; ++look) recall.add(10 + look, {{3, 0.5}});
  EXPECT_FLOAT_EQ(told(recall.traits_of({{2, 0.4}}, 40)[0], "recalled"), 0);
  EXPECT_EQ(recall.lengths_s(), std::vector<double>{3});
}

TEST(Recall, EveryTraitHasItsOwnName) {
  const auto names = recall_trait_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_FALSE(names[i].empty());
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  }
}

}  // namespace
}  // namespace rubato::progress
