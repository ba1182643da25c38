#include "measure/counter_diff.h"

#include <gtest/gtest.h>

namespace rubato::measure {
namespace {

TEST(CounterDiff, TheFirstValueIsNoEnergy) {
  CounterDiff diff;
  EXPECT_TRUE(std::holds_alternative<CounterFirst>(diff.update(5000_J)));
}

TEST(CounterDiff, AHigherValueAdvancesByTheDifference) {
  CounterDiff diff;
  diff.update(5000_J);
  const CounterStep step = diff.update(5030_J);
  ASSERT_TRUE(std::holds_alternative<CounterAdvance>(step));
  EXPECT_DOUBLE_EQ(std::get<CounterAdvance>(step).by.value(), 30);
}

TEST(CounterDiff, AnUnchangedValueAdvancesByNothing) {
  CounterDiff diff;
  diff.update(5000_J);
  EXPECT_EQ(std::get<CounterAdvance>(diff.update(5000_J)).by, 0_J);
}

TEST(CounterDiff, ALowerValueIsAResetAndCountingGoesOnFromIt) {
  CounterDiff diff;
  diff.update(5000_J);
  EXPECT_TRUE(std::holds_alternative<CounterReset>(diff.update(10_J)));
  EXPECT_EQ(std::get<CounterAdvance>(diff.update(14_J)).by, 4_J);
}

}  // namespace
}  // namespace rubato::measure
