#include "progress/stats.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace rubato::progress {
namespace {

TEST(Stats, NoValuesHaveNoMeanNoVarianceAndNoMedian) {
  EXPECT_FALSE(mean({}));
  EXPECT_FALSE(variance({}));
  EXPECT_FALSE(median({}));
  EXPECT_FALSE(batch_means({}, 4));
}

TEST(Stats, OneValueHasAMeanButNoVariance) {
  const std::array values{3.0};
  EXPECT_EQ(mean(values), 3.0);
  EXPECT_FALSE(variance(values));
  EXPECT_EQ(median(values), 3.0);
  const auto batches = batch_means(values, 4);
  ASSERT_TRUE(batches);
  EXPECT_EQ(batches->mean, 3.0);
  EXPECT_FALSE(batches->standard_error);
}

TEST(Stats, VarianceIsOfTheSample) {
  const std::array values{1.0, 2.0, 3.0, 4.0};
  EXPECT_DOUBLE_EQ(*mean(values), 2.5);
  EXPECT_DOUBLE_EQ(*variance(values), 5.0 / 3.0);
  EXPECT_DOUBLE_EQ(*median(values), 2.5);
}

TEST(Stats, LargeValuesWithSmallDifferencesKeepTheirVariance) {
  const std::array values{1e9 + 1, 1e9 + 2, 1e9 + 3};
  EXPECT_NEAR(*variance(values), 1.0, 1e-6);
}

TEST(Stats, BatchMeansSeeThatNeighboursMoveTogether) {
  std::vector<double> values;
  for (int i = 0; i < 80; ++i) values.push_back(i % 40 < 20 ? 1.0 : 3.0);
  const auto by_batch = batch_means(values, 4);
  const auto by_value = batch_means(values, 80);
  EXPECT_DOUBLE_EQ(by_batch->mean, 2.0);
  EXPECT_GT(*by_batch->standard_error, 4 * *by_value->standard_error);
}

TEST(Stats, WhatDoesNotFillABatchIsLeftOutAtTheFront) {
  const std::array values{100.0, 1.0, 2.0, 3.0, 4.0};
  const auto batches = batch_means(values, 2);
  EXPECT_EQ(batches->values, 4U);
  EXPECT_DOUBLE_EQ(batches->mean, 2.5);
}

TEST(Stats, MoreBatchesThanValuesMeansOneValueEach) {
  const std::array values{1.0, 3.0};
  EXPECT_EQ(batch_means(values, 10)->batches, 2U);
  EXPECT_DOUBLE_EQ(*batch_means(values, 10)->standard_error, 1.0);
}

}  // namespace
}  // namespace rubato::progress
