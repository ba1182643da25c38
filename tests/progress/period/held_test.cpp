#include "progress/period/held.h"

#include <gtest/gtest.h>

namespace rubato::progress {
namespace {

IterationEstimate period(double seconds, double confidence) {
  IterationEstimate out;
  out.periodic = true;
  out.period = Seconds(seconds);
  out.confidence = confidence;
  return out;
}

IterationEstimate none() {
  IterationEstimate out;
  out.confidence = 0.85;
  return out;
}

/// Forty iterations of two seconds, in 90 s.
Held steady() {
  return {2.0, 0.7, 0, 40, 80, 0.95};
}

TEST(Held, IterationsFollowedOutweighALookThatFindsNothing) {
  EXPECT_TRUE(outweighs(steady(), none(), 90));
}

TEST(Held, WhatIsOfNoOneLengthDoesNot) {
  Held random = steady();
  random.regular = 0.5;
  EXPECT_FALSE(outweighs(random, none(), 90));
}

TEST(Held, AFewIterationsOrIterationsLongAgoDoNot) {
  Held few = steady();
  few.followed = 4;
  EXPECT_FALSE(outweighs(few, none(), 90));
  EXPECT_FALSE(outweighs(steady(), none(), 400));
}

TEST(Held, APartOfTheIterationIsNotBelieved) {
  EXPECT_TRUE(outweighs(steady(), period(0.37, 0.85), 90));
}

TEST(Held, HalfOfItIsBelievedForItMayHaveBeenADouble) {
  EXPECT_FALSE(outweighs(steady(), period(1.0, 0.5), 90));
  EXPECT_TRUE(outweighs(steady(), period(1.0, 0.1), 90));
}

TEST(Held, TheDoubleIsBelievedWhereMuchSpeaksForIt) {
  EXPECT_FALSE(outweighs(steady(), period(4.0, 0.6), 90));
  EXPECT_TRUE(outweighs(steady(), period(4.0, 0.4), 90));
  EXPECT_TRUE(outweighs(steady(), period(5.0, 0.6), 90));
}

TEST(Held, AMuchLongerPeriodAroundItIsBelievedIfAnythingSpeaksForIt) {
  EXPECT_FALSE(outweighs(steady(), period(20, 0.4), 90));
  EXPECT_TRUE(outweighs(steady(), period(20, 0.02), 90));
}

TEST(Held, AnotherClockIsTheSameIteration) {
  EXPECT_FALSE(outweighs(steady(), period(2.8, 0.1), 90));
}

}  // namespace
}  // namespace rubato::progress
