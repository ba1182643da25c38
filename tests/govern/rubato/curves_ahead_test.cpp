#include "govern/rubato/curves_ahead.h"

#include <gtest/gtest.h>

#include <vector>

#include "predict/known_drawing.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kCurves = 32;

const std::vector<predict::KnobPoint> kLimits = {
    {.power_limit = 150_W}, {.power_limit = 200_W}, {.power_limit = 250_W}, {.power_limit = 300_W}};

using predict::drawing;

/// After so many moments of the baseline.
CurvesAhead begun(const predict::Known& known, int moments) {
  CurvesAhead ahead;
  Random random(1);
  for (int i = 0; i < moments; ++i) ahead.draw(known, kLimits, kCurves, random);
  return ahead;
}

TEST(CurvesAhead, AreThoseThatWouldHaveBeenDrawnAtOnceHoweverManyMomentsThereWere) {
  Random random(1);
  const auto at_once = predict::draw_physical(drawing(250), kLimits, kCurves, random);
  ASSERT_TRUE(at_once);
  for (const int moments : {1, 2, 3, 100}) {
    const auto drawn = begun(drawing(250), moments).take(drawing(250));
    ASSERT_TRUE(drawn) << moments;
    EXPECT_EQ(drawn->log_time, at_once->log_time) << moments;
    EXPECT_EQ(drawn->log_power, at_once->log_power) << moments;
  }
}

TEST(CurvesAhead, ServeABaselineThatDrawsNearlyWhatItsFirstHalfDid) {
  EXPECT_TRUE(begun(drawing(250), 3).take(drawing(251)));
  EXPECT_FALSE(begun(drawing(250), 3).take(drawing(255)));
  EXPECT_FALSE(begun(drawing(250), 3).take(drawing(245)));
}

TEST(CurvesAhead, CountersReadMeanwhileAreNotIgnored) {
  predict::Known counted = drawing(250);
  counted.features = {{"sm_utilisation", 0.5}};
  EXPECT_FALSE(begun(drawing(250), 3).take(counted));
  EXPECT_TRUE(begun(counted, 3).take(counted));
}

TEST(CurvesAhead, AreTakenOnce) {
  CurvesAhead ahead = begun(drawing(250), 3);
  EXPECT_TRUE(ahead.take(drawing(250)));
  EXPECT_FALSE(ahead.take(drawing(250)));
  ahead = begun(drawing(250), 3);
  ahead.forget();
  EXPECT_FALSE(ahead.take(drawing(250)));
}

TEST(CurvesAhead, WhatCannotBeDrawnIsNotThere) {
  EXPECT_FALSE(begun(drawing(0), 3).take(drawing(250)));
}

}  // namespace
}  // namespace rubato::govern
