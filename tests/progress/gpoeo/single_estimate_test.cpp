#include "progress/gpoeo/single_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace rubato::progress::gpoeo {
namespace {

using Kind = SingleEstimate::Kind;

/// High for 60 % of `period` seconds, sampled every 0.1 s.
std::vector<double> square(double period, double seconds) {
  std::vector<double> trace;
  for (int i = 0; i < static_cast<int>(seconds * 10); ++i)
    trace.push_back(std::fmod(i * 0.1 + 1e-9, period) < 0.6 * period ? 90 : 20);
  return trace;
}

TEST(GpoeoEstimate, FindsASquareWave) {
  const SingleEstimate estimate = estimate_once(square(2, 25), 15);
  EXPECT_EQ(estimate.kind, Kind::found);
  // Windows are whole samples: 2.08 s is cut as 2.0 s is.
  EXPECT_NEAR(estimate.period, 2, 0.1);
  EXPECT_LT(estimate.error, 5);
}

TEST(GpoeoEstimate, FewerThanTwoOfTheLongestCandidateIsTooShort) {
  const SingleEstimate estimate = estimate_once(square(12, 20), 15);
  EXPECT_EQ(estimate.kind, Kind::too_short);
  EXPECT_NEAR(estimate.period, 12, 1.5);
}

TEST(GpoeoEstimate, AFlatTraceHasNothingToChooseFrom) {
  const SingleEstimate estimate = estimate_once(std::vector<double>(250, 0.0), 15);
  EXPECT_EQ(estimate.kind, Kind::no_peak);
  EXPECT_EQ(estimate.period, 15);
  EXPECT_EQ(estimate_once({}, 15).kind, Kind::no_peak);
}

TEST(GpoeoEstimate, WhatIsShorterThanFourSamplesIsToldAsAMultiple) {
  const SingleEstimate estimate = estimate_once(square(0.25, 25), 15);
  EXPECT_EQ(estimate.kind, Kind::found);
  EXPECT_NEAR(estimate.period, 0.5, 0.02);
}

TEST(GpoeoEstimate, NoiseOfAnyLengthIsSurvived) {
  Random random(3);
  for (std::size_t length = 1; length < 300; length += 7) {
    std::vector<double> trace(length);
    for (double& value : trace) value = 50 + 10 * random.normal();
    EXPECT_GT(estimate_once(trace, 15).period, 0) << length;
  }
}

}  // namespace
}  // namespace rubato::progress::gpoeo
