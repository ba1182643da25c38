#include "progress/period/lag_profile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

Band band_of(double period_s, double noise_w) {
  const Samples samples =
      samples_of(readings(40, 0.1, noise_w, [&](double t) { return three_levels(t, period_s); }));
  return search_band(resample(samples, 0, 40, 0.1, varying_columns(samples, 0, 40)), 0.1, 0.2, 6.4);
}

TEST(LagProfile, ThePeriodIsAmongTheCandidates) {
  const Band band = band_of(1.7, 5);
  const bool found = std::any_of(band.candidates.begin(), band.candidates.end(),
                                 [](const Candidate& c) { return std::abs(c.period_s - 1.7) < 0.02; });
  EXPECT_TRUE(found);
}

TEST(LagProfile, MultiplesMakeThePeriodExact) {
  const Band band = band_of(1.73, 2);
  EXPECT_NEAR(refined_period(band.profile, 1.75), 1.73, 0.004);
}

TEST(LagProfile, TooShortATraceHasNoCandidates) {
  const Samples samples = samples_of(readings(1, 0.1, 5, [](double) { return 200.0; }));
  EXPECT_TRUE(search_band(resample(samples, 0, 1, 0.1, varying_columns(samples, 0, 1)), 0.1, 0.2, 6.4)
                  .candidates.empty());
}

}  // namespace
}  // namespace rubato::progress
