#include "feature/slow_means.h"

#include <gtest/gtest.h>

namespace rubato::feature {
namespace {

constexpr TimePoint kBegin{1'000'000'000'000};

FeatureVector filled(const SlowMeans& means) {
  FeatureVector out;
  means.fill(out);
  return out;
}

SlowReading reading(Seconds after, std::optional<double> sm, std::optional<Megahertz> clock) {
  return {.at = kBegin + after, .sm_clock = clock, .sm_utilisation = sm};
}

TEST(SlowMeans, AreMeansOfWhatWasSeen) {
  SlowMeans means(1000_MHz);
  means.begin(kBegin);
  means.see(reading(2_s, 0.5, 500_MHz));
  means.see(reading(3_s, 1.0, 1000_MHz));
  EXPECT_EQ(filled(means)[Feature::sm_utilisation], 0.75);
  EXPECT_EQ(filled(means)[Feature::sm_clock_fraction], 0.75);
  EXPECT_FALSE(filled(means)[Feature::memory_utilisation]) << "never read";
}

TEST(SlowMeans, AUtilisationThatReachesBackBeforeTheWindowIsLeftOut) {
  SlowMeans means(1000_MHz);
  means.begin(kBegin);
  means.see(reading(0.5_s, 0.0, 500_MHz));
  EXPECT_FALSE(filled(means)[Feature::sm_utilisation]);
  EXPECT_EQ(filled(means)[Feature::sm_clock_fraction], 0.5) << "a clock is of its moment";
  means.see(reading(1_s, 0.8, 500_MHz));
  EXPECT_EQ(filled(means)[Feature::sm_utilisation], 0.8);
}

TEST(SlowMeans, AReadingOfBeforeTheWindowIsLeftOut) {
  SlowMeans means(1000_MHz);
  means.begin(kBegin);
  means.see(reading(-1_s, 0.2, 500_MHz));
  EXPECT_FALSE(filled(means)[Feature::sm_clock_fraction]);
}

TEST(SlowMeans, BeginningAgainForgets) {
  SlowMeans means(1000_MHz);
  means.begin(kBegin);
  means.see(reading(2_s, 0.2, 500_MHz));
  means.begin(kBegin + 3_s);
  EXPECT_FALSE(filled(means)[Feature::sm_utilisation]);
}

TEST(SlowMeans, WithoutTheHighestClockThereIsNoFractionOfIt) {
  SlowMeans means(std::nullopt);
  means.begin(kBegin);
  means.see(reading(2_s, 0.2, 500_MHz));
  EXPECT_FALSE(filled(means)[Feature::sm_clock_fraction]);
  EXPECT_EQ(filled(means)[Feature::sm_utilisation], 0.2);
}

}  // namespace
}  // namespace rubato::feature
