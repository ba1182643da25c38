#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "agent/governed_job.h"

namespace rubato::agent {
namespace {

// The longer jobs of docs/many-nodes.md.
const bool kFull = std::getenv("RUBATO_CHECK_FULL") != nullptr;
#ifdef NDEBUG
const std::uint64_t kSeeds = kFull ? 20 : 100;
const std::uint64_t kFewSeeds = kFull ? 20 : 30;
#else
constexpr std::uint64_t kSeeds = 4;  // the rest takes minutes without optimization
constexpr std::uint64_t kFewSeeds = 2;
#endif
const int kIterations = kFull ? 12'000 : 2400;
constexpr double kBound = 0.05;
// On the way there, as where all ranks have one clock (governed_test.cpp).
constexpr double kMoment = 0.003;

struct Outcome {
  double saving = 0;  // mean over the seeds
  double slowest = -1;
  int over = 0;  // runs over the bound at their end
  double worst = 0;
  govern::SlackTaker::Counts counts;
};

/// Its figures are in the output of --gtest_output=json:FILE (docs/many-nodes.md has them).
template <class Change>
Outcome outcome_of(const char* name, std::uint64_t seeds, bool own, const Change& change) {
  Outcome out;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    GovernedOptions options = drawn_job(seed);
    options.own_clocks = own;
    change(options);
    GovernedJob job(options);
    job.iterate(kIterations);
    out.saving += job.saving() / static_cast<double>(seeds);
    out.slowest = std::max(out.slowest, job.slowdown());
    out.worst = std::max(out.worst, job.worst_slowdown());
    out.over += job.slowdown() > kBound ? 1 : 0;
    if (!own) continue;
    out.counts.trials += job.taker().counts().trials;
    out.counts.given += job.taker().counts().given;
    out.counts.withdrawn += job.taker().counts().withdrawn;
  }
  const auto tell = [&](const char* what, double value) {
    testing::Test::RecordProperty(cat(name, own ? "_own_" : "_same_", what), std::to_string(value));
  };
  tell("saving", out.saving);
  tell("slowest", out.slowest);
  tell("worst", out.worst);
  tell("trials", out.counts.trials);
  tell("given", out.counts.given);
  tell("withdrawn", out.counts.withdrawn);
  return out;
}

// Boards of one kind differ, and whoever is faster waits: the bound holds, trials and all, and more is saved.
TEST(RankClocks, SaveMoreWhereBoardsDiffer) {
  const auto as_it_is = [](GovernedOptions&) {};
  const Outcome same = outcome_of("boards", kSeeds, false, as_it_is);
  const Outcome own = outcome_of("boards", kSeeds, true, as_it_is);
  EXPECT_EQ(own.over, 0);
  EXPECT_LE(own.worst, kBound + kMoment);
  EXPECT_GE(own.saving, same.saving + 0.012);
  EXPECT_GT(own.counts.given, static_cast<int>(kSeeds));
}

TEST(RankClocks, SaveMoreWhereOneRankHasMoreWork) {
  const auto straggles = [](GovernedOptions& o) { o.straggling = 0.15; };
  const Outcome same = outcome_of("straggler", kFewSeeds, false, straggles);
  const Outcome own = outcome_of("straggler", kFewSeeds, true, straggles);
  EXPECT_EQ(own.over, 0);
  EXPECT_LE(own.worst, kBound + kMoment);
  EXPECT_GE(own.saving, same.saving + 0.03);
}

// What trials cost is all that is lost.
TEST(RankClocks, LoseLittleWhereAllAreAlike) {
  const auto alike = [](GovernedOptions& o) { o.uneven = 0; };
  const Outcome same = outcome_of("alike", kFewSeeds, false, alike);
  const Outcome own = outcome_of("alike", kFewSeeds, true, alike);
  EXPECT_EQ(own.over, 0);
  EXPECT_LE(own.worst, kBound + kMoment);
  EXPECT_GE(own.saving, same.saving - 0.008);
}

// A rank that had waited for the others becomes the one that is waited for.
TEST(RankClocks, AreWithdrawnWhereARankBeginsToStraggle) {
  const auto later = [](GovernedOptions& o) {
    o.straggling = 0.1;
    o.straggles_from = kIterations / 2;
  };
  // Not every job has given lower clocks by then.
  const Outcome own = outcome_of("later", std::max<std::uint64_t>(kFewSeeds, 8), true, later);
  EXPECT_LE(own.over, 1);
  EXPECT_LE(own.worst, kBound + 2 * kMoment);
  EXPECT_GT(own.counts.withdrawn, 0);
}

TEST(RankClocks, KeepTheBoundWhereWordsAndRanksAreLost) {
  const Outcome own = outcome_of("lost", kFewSeeds, true, [](GovernedOptions& o) {
    o.network.slow_share = 0.01;
    o.network.slowest = Seconds(3);
    o.network.break_rate = 0.0003;
  });
  EXPECT_LE(own.over, 1);
  EXPECT_LE(own.worst, kBound + 2 * kMoment);
}

}  // namespace
}  // namespace rubato::agent
