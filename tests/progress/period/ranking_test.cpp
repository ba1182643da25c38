#include "progress/period/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "progress/period/analysis.h"
#include "progress/period/candidates.h"
#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

TEST(Ranking, IsAChanceWhateverTheTraits) {
  for (const float value : {-1e30F, -1.0F, 0.0F, 0.5F, 1e30F, std::nanf("")}) {
    Traits traits;
    traits.fill(value);
    const double chance = chance_of_candidate(traits);
    EXPECT_GT(chance, 0);
    EXPECT_LT(chance, 1);
  }
}

TEST(Ranking, EveryTraitHasItsOwnName) {
  const auto names = trait_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(names[i], names[j]);
  EXPECT_FALSE(names.back().empty());
}

TEST(Candidates, HoldTheIterationItsHalfAndItsDoubleOnceEach) {
  constexpr double kPeriod = 1.3;
  const auto samples = samples_of(readings(40, 0.05, 3, [](double t) { return three_levels(t, kPeriod); }));
  const Span span = span_of(samples, {}, samples.begin_s(), samples.end_s());
  const auto bands = bands_of(samples, span);
  const auto all = candidates_of(samples, bands, span);
  for (const double wanted : {kPeriod / 2, kPeriod, 2 * kPeriod}) {
    const auto count = std::count_if(all.begin(), all.end(), [&](const Judged& j) {
      return std::abs(j.candidate.period_s / wanted - 1) < 0.01;
    });
    EXPECT_EQ(count, 1) << wanted;
  }
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Judged& a, const Judged& b) {
    return a.candidate.period_s < b.candidate.period_s;
  }));
}

TEST(Ranking, BelievesTheIterationMoreThanItsMultiples) {
  constexpr double kPeriod = 1.3;
  const auto samples = samples_of(readings(40, 0.05, 3, [](double t) { return three_levels(t, kPeriod); }));
  const Span span = span_of(samples, {}, samples.begin_s(), samples.end_s());
  const Analysis found = analyse(samples, span);
  ASSERT_TRUE(found.finding.has_value());
  EXPECT_NEAR(found.finding->period_s, kPeriod, 0.02);
  EXPECT_GT(found.finding->chance, 0.9);
}

TEST(Ranking, BelievesNoneInNoise) {
  const auto samples = samples_of(readings(40, 0.05, 10, [](double) { return 200.0; }));
  const Analysis found = analyse(samples, span_of(samples, {}, samples.begin_s(), samples.end_s()));
  EXPECT_FALSE(found.finding.has_value());
}

}  // namespace
}  // namespace rubato::progress
