#include "feature/gpoeo_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace rubato::feature::gpoeo {
namespace {

TEST(GpoeoMetrics, AreTwentyTwoInFourGroupsEachUnderItsOwnName) {
  std::set<std::string_view> names;
  std::array<int, 4> in_group{};
  for (const MetricRow& row : metric_rows()) {
    names.insert(row.name);
    ++in_group.at(row.group);
    EXPECT_EQ(&row - metric_rows().data(), static_cast<std::ptrdiff_t>(row.metric));
    EXPECT_EQ(find_metric(row.name), row.metric);
  }
  EXPECT_EQ(names.size(), 22U);
  EXPECT_EQ(in_group, (std::array<int, 4>{10, 4, 4, 4}));
  EXPECT_FALSE(find_metric("dram__cycles_active.avg")) << "a set that GPOEO rejected";
  EXPECT_EQ(find_metric("sm__inst_executed_pipe_fp16.sum.pct_of_peak_sustained_active"), Metric::fp16_pct);
}

RawMetrics counted() {
  RawMetrics raw;
  raw[Metric::instructions] = 1000;
  raw[Metric::instructions_pct] = 25;
  raw[Metric::instructions_per_second] = 2e9;
  raw[Metric::sm_cycles_active] = 80;
  raw[Metric::sm_cycles_elapsed] = 100;
  raw[Metric::l1_hits] = 30;
  raw[Metric::l1_misses] = 10;
  raw[Metric::l2_hits] = 6;
  raw[Metric::l2_misses] = 4;
  raw[Metric::tensor_pct] = 50;
  raw[Metric::lsu_pct] = 100;
  return raw;
}

TEST(GpoeoMetrics, BecomeFeaturesByTheirFormulas) {
  const FeatureVector features = features_of(counted());
  EXPECT_EQ(features[Feature::sm_active], 0.8);
  EXPECT_EQ(features[Feature::instructions_per_cycle], 1.0) << "a quarter of four";
  EXPECT_EQ(features[Feature::instructions_per_second], 2e9);
  EXPECT_EQ(features[Feature::l1_hit_fraction], 0.75);
  EXPECT_EQ(features[Feature::l2_hit_fraction], 0.6);
  EXPECT_EQ(features[Feature::l1_misses_per_instruction], 0.01);
  EXPECT_EQ(features[Feature::l2_misses_per_instruction], 0.004);
  EXPECT_EQ(features[Feature::tensor_active], 0.5);
  EXPECT_EQ(features[Feature::load_store_active], 1.0);
}

TEST(GpoeoMetrics, EveryPipeFeedsItsOwnFeature) {
  for (const MetricRow& row : metric_rows()) {
    if (row.name.find("_pipe_") == std::string_view::npos) continue;
    RawMetrics raw;
    raw[row.metric] = 40;
    const FeatureVector features = features_of(raw);
    for (std::size_t i = 0; i < kFeatureCount; ++i)
      EXPECT_EQ(features.values.at(i).has_value(), kFeatureNames.at(i) == row.feeds)
          << row.name << " and " << kFeatureNames.at(i);
  }
}

TEST(GpoeoMetrics, WhatWasNotCountedOrDividesByNothingIsAbsent) {
  RawMetrics raw = counted();
  raw[Metric::instructions] = 0;
  raw[Metric::l2_hits].reset();
  const FeatureVector features = features_of(raw);
  EXPECT_FALSE(features[Feature::l1_misses_per_instruction]);
  EXPECT_FALSE(features[Feature::l2_hit_fraction]);
  EXPECT_FALSE(features[Feature::fp64_active]);
  for (const auto& value : features_of({}).values) EXPECT_FALSE(value);
}

std::optional<double> input(const RawMetrics& raw, std::string_view name) {
  const auto at = std::find(kInputNames.begin(), kInputNames.end(), name) - kInputNames.begin();
  return model_inputs(raw, 0.5).at(static_cast<std::size_t>(at));
}

TEST(GpoeoInputs, AreScaledAsGpoeoScalesThem) {
  EXPECT_EQ(input(counted(), "clock_ratio"), 0.5);
  EXPECT_EQ(input(counted(), "ipc_pct"), 30.0);
  EXPECT_EQ(input(counted(), "l1_miss_per_instruction"), 2.5);
  EXPECT_EQ(input(counted(), "l1_miss_pct"), 25.0);
  EXPECT_EQ(input(counted(), "l2_miss_per_instruction"), 1.0);
  EXPECT_EQ(input(counted(), "l2_miss_pct"), 40.0);
  EXPECT_EQ(input(counted(), "tensor"), 50.0);
}

TEST(GpoeoInputs, AreCappedBelowAHundred) {
  RawMetrics raw = counted();
  raw[Metric::instructions_pct] = 90;
  raw[Metric::l1_misses] = 1000;
  EXPECT_EQ(input(raw, "ipc_pct"), 99.99);
  EXPECT_EQ(input(raw, "l1_miss_per_instruction"), 99.99);
  EXPECT_EQ(input(raw, "lsu"), 99.99);
  EXPECT_FALSE(input(raw, "xu")) << "not counted";
}

}  // namespace
}  // namespace rubato::feature::gpoeo
