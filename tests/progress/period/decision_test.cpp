#include "progress/period/decision.h"

#include <gtest/gtest.h>

namespace rubato::progress {
namespace {

TEST(Decision, ThreeLooksThatAgreeAreEnough) {
  Decision decision;
  EXPECT_FALSE(decision.add(0.8, 0.6, 4.5));
  EXPECT_FALSE(decision.add(0.81, 0.6, 5.1));
  EXPECT_TRUE(decision.add(0.8, 0.6, 5.7));
}

TEST(Decision, LooksThatContradictEachOtherAreNot) {
  Decision decision;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(decision.add(i % 2 == 0 ? 0.8 : 1.6, 0.7, 9 + i));
}

TEST(Decision, OneLookMustBeSurer) {
  EXPECT_FALSE(Decision().add(0.8, 0.7, 8));
  EXPECT_TRUE(Decision().add(0.8, 0.85, 8));
}

TEST(Decision, TooFewCyclesAreNeverEnough) {
  Decision decision;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(decision.add(3, 0.95, 8 + i));
}

TEST(Decision, ThatThereIsNoneTakesLonger) {
  Decision decision;
  EXPECT_FALSE(decision.add(std::nullopt, 0.8, 20));
  EXPECT_TRUE(decision.add(std::nullopt, 0.8, 30));
}

}  // namespace
}  // namespace rubato::progress
