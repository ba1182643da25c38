#include "govern/reference/reference_entries.h"

#include <gmock/gmock.h>

#include "govern/reference/made_curves.h"

namespace rubato::govern {
namespace {

using testing::HasSubstr;

StrategyRequest on(plan::KnobSpace space) {
  StrategyRequest out;
  out.space = std::move(space);
  return out;
}

TEST(ReferenceEntries, EachHasASameGoalAndAMixingVariantOnAnySingleKnob) {
  for (const std::string name : {"gpoeo", "odpp", "mf-gpoeo", "depo", "bisection", "static-sweep"}) {
    for (const plan::KnobSpace& space : {limits(100, 250, 1), clocks(300, 1500, 15)}) {
      for (const std::string variant : {"", "+mix"}) {
        const auto strategy = make_strategy(name + variant, on(space));
        ASSERT_TRUE(strategy) << name;
        EXPECT_EQ((*strategy)->name(), name + variant);
      }
    }
  }
}

TEST(ReferenceEntries, AsPublishedItIsRefusedWhereItsKnobIsMissing) {
  for (const std::string name : {"gpoeo@published", "odpp@published", "mf-gpoeo@published"}) {
    EXPECT_TRUE(make_strategy(name, on(clocks(300, 1500, 15))));
    const auto refused = make_strategy(name, on(limits(100, 250, 1)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(refused.error().what, name + ": needs the knob sm-clock; here is only power-limit");
  }
  EXPECT_TRUE(make_strategy("depo@published", on(limits(100, 250, 1))));
  EXPECT_FALSE(make_strategy("depo@published", on(clocks(300, 1500, 15))));
}

TEST(ReferenceEntries, WhatNobodyPublishedHasNoPublishedVariant) {
  for (const std::string name : {"bisection@published", "static-sweep@published"})
    EXPECT_EQ(make_strategy(name, on(limits(100, 250, 1))).error().code, ErrorCode::not_found);
}

TEST(ReferenceEntries, WithoutAKnobThereIsNothingToSearch) {
  for (const std::string name : {"gpoeo", "odpp", "mf-gpoeo", "depo", "bisection", "static-sweep"}) {
    const auto refused = make_strategy(name, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace rubato::govern
