#include "feature/cupti/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rubato::feature::cupti {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

TEST(CuptiMetrics, every_quantity_is_wanted_once) {
  std::set<Quantity> seen;
  for (const Wanted& one : wanted()) {
    EXPECT_FALSE(one.ways.empty());
    EXPECT_TRUE(seen.insert(one.quantity).second);
  }
  EXPECT_EQ(seen.size(), kQuantityCount);
}

TEST(CuptiMetrics, none_expands_into_many_as_throughputs_do) {
  for (const Wanted& one : wanted()) {
    for (const Way& way : one.ways) {
      for (const char* metric : {way.metric, way.second}) {
        if (metric == nullptr) continue;
        EXPECT_EQ(std::string(metric).find("throughput"), std::string::npos) << metric;
      }
    }
  }
}

TEST(CuptiMetrics, a_quantity_of_two_metrics_is_their_mean) {
  Means means({{Quantity::fp32_active, 0.01, {"heavy", "lite"}}, {Quantity::sm_active, 0.01, {"active"}}});
  const double values[] = {20, 40, 90};
  means.add(values, 1);
  FeatureVector out;
  means.fill(out);
  EXPECT_THAT(out[Feature::fp32_active], Optional(DoubleEq(0.3)));
  EXPECT_THAT(out[Feature::sm_active], Optional(DoubleEq(0.9)));
}

TEST(CuptiMetrics, fewer_values_than_metrics_tell_nothing) {
  Means means({{Quantity::fp32_active, 0.01, {"heavy", "lite"}}});
  const double values[] = {20};
  means.add(values, 1);
  FeatureVector out;
  means.fill(out);
  EXPECT_EQ(out[Feature::fp32_active], std::nullopt);
  EXPECT_EQ(means.seconds(), 0);
}

TEST(CuptiMetrics, features_made_of_two_counts_need_both) {
  const Counted instructions{Quantity::instructions, 1, {"i"}};
  const Counted cycles{Quantity::sm_cycles, 1, {"c"}};
  EXPECT_THAT(features_of(std::vector{instructions}),
              ::testing::ElementsAre(Feature::instructions_per_second));
  EXPECT_THAT(features_of(std::vector{cycles}), ::testing::ElementsAre());
  EXPECT_THAT(features_of(std::vector{instructions, cycles}),
              ::testing::ElementsAre(Feature::instructions_per_second, Feature::instructions_per_cycle));
}

}  // namespace
}  // namespace rubato::feature::cupti
