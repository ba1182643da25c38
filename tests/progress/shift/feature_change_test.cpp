#include "progress/shift/feature_change.h"

#include <gtest/gtest.h>

#include <array>

namespace rubato::progress {
namespace {

FeatureVector window(double tensor, double instructions, double pcie = 0) {
  FeatureVector w;
  w[Feature::tensor_active] = tensor;
  w[Feature::instructions_per_second] = instructions;
  w[Feature::pcie_tx_bytes_per_s] = pcie;
  return w;
}

TEST(FeatureChange, FractionsAreComparedByDifferenceAndRatesByRatio) {
  const auto changes = feature_changes(window(0.4, 1e12), window(0.3, 2e12));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].feature, Feature::instructions_per_second);
  EXPECT_NEAR(changes[0].by, 1, 1e-5);
  EXPECT_EQ(changes[1].feature, Feature::tensor_active);
  EXPECT_NEAR(changes[1].by, -0.1, 1e-9);
}

TEST(FeatureChange, SmallDifferencesAndPollingAreNone) {
  EXPECT_TRUE(feature_changes(window(0.40, 1e12, 0), window(0.44, 1.04e12, 3e5)).empty());
  EXPECT_EQ(feature_changes(window(0.4, 1e12, 0), window(0.4, 1e12, 5e9)).size(), 1U);
}

TEST(FeatureChange, WhatWasNotCountedBothTimesIsNoChange) {
  FeatureVector before = window(0.4, 1e12);
  before[Feature::tensor_active].reset();
  EXPECT_TRUE(feature_changes(before, window(0.9, 1e12)).empty());
}

TEST(FeatureChange, OnlyWhatShowsInEveryWindowLasts) {
  const FeatureVector before = window(0.4, 1e12);
  // The tensor cores stay busier; instructions doubled in the first window alone.
  const std::array<FeatureVector, 2> after{window(0.6, 2e12), window(0.6, 1e12)};
  const auto lasting = lasting_changes(before, after);
  ASSERT_EQ(lasting.size(), 1U);
  EXPECT_EQ(lasting[0].feature, Feature::tensor_active);
  // Up and then down is no lasting change.
  const std::array<FeatureVector, 2> wavering{window(0.6, 1e12), window(0.2, 1e12)};
  EXPECT_TRUE(lasting_changes(before, wavering).empty());
  EXPECT_TRUE(lasting_changes(before, {}).empty());
}

}  // namespace
}  // namespace rubato::progress
