#include <gmock/gmock.h>

#include "agent/governed_job.h"

namespace rubato::agent {
namespace {

#ifdef NDEBUG
constexpr std::uint64_t kSeeds = 100;
#else
constexpr std::uint64_t kSeeds = 8;  // the rest takes minutes without optimization
#endif
constexpr int kIterations = 1200;
constexpr double kBound = 0.05;
// What is promised is the whole run; on the way a turn at the slower of two settings may be paid back later.
constexpr double kMoment = 0.002;

struct Outcome {
  double saving = 0;  // mean over the seeds
  double slowest = -1;
  int over = 0;      // runs over the bound at their end
  double worst = 0;  // any run at any moment
  Leader::Counts counts;
  int parted = 0;
};

/// Its figures are in the output of --gtest_output=json:FILE (docs/many-nodes.md has them).
template <class Change>
Outcome outcome_of(const Change& change) {
  Outcome out;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    GovernedOptions options = drawn_job(seed);
    change(options);
    GovernedJob job(options);
    job.iterate(kIterations);
    out.saving += job.saving() / kSeeds;
    out.slowest = std::max(out.slowest, job.slowdown());
    out.worst = std::max(out.worst, job.worst_slowdown());
    out.over += job.slowdown() > kBound ? 1 : 0;
    out.parted += job.parted();
    const auto& counts = job.leader().counts();
    out.counts.switches += counts.switches;
    out.counts.cancelled += counts.cancelled;
    out.counts.halts += counts.halts;
    out.counts.lost += counts.lost;
  }
  const auto tell = [](const char* name, double value) {
    testing::Test::RecordProperty(name, std::to_string(value));
  };
  tell("saving", out.saving);
  tell("slowest", out.slowest);
  tell("worst", out.worst);
  tell("switches", static_cast<double>(out.counts.switches));
  tell("cancelled", static_cast<double>(out.counts.cancelled));
  tell("halts", static_cast<double>(out.counts.halts));
  tell("lost", static_cast<double>(out.counts.lost));
  return out;
}

/// The same jobs as one node each. What GPUs of one node save is what those of many are held against.
double saved_alone() {
  static const double saving = outcome_of([](GovernedOptions& o) { o.agents = false; }).saving;
  testing::Test::RecordProperty("saved_alone", std::to_string(saving));
  return saving;
}

// What the agents add, agreement and late reports, is counted: the bound holds, and next to nothing of what
// one node would have saved is lost.
TEST(GovernedJob, KeepsTheBoundAndTheSavingOfASingleNode) {
  const double alone = saved_alone();
  const Outcome agents = outcome_of([](GovernedOptions&) {});
  EXPECT_EQ(agents.over, 0);
  EXPECT_LE(agents.worst, kBound + kMoment);
  EXPECT_GE(agents.saving, 0.98 * alone);
  EXPECT_EQ(agents.parted, 0);
  EXPECT_GT(agents.counts.switches, 10 * static_cast<std::int64_t>(kSeeds));
}

// Words that are lost and sent again, some of them seconds later: a third of the switches comes to nothing.
TEST(GovernedJob, KeepsTheBoundWhereWordsAreLost) {
  const double alone = saved_alone();
  const Outcome agents = outcome_of([](GovernedOptions& o) {
    o.network.slow_share = 0.02;
    o.network.slowest = Seconds(3);
  });
  EXPECT_LE(agents.over, 1);  // the chance that the governor takes is one in a hundred
  EXPECT_LE(agents.worst, kBound + kMoment);
  EXPECT_GE(agents.saving, 0.95 * alone);
  EXPECT_GT(agents.counts.cancelled, static_cast<std::int64_t>(kSeeds));
}

// Connections end and are made again: each time all go back, and come together again.
TEST(GovernedJob, KeepsTheBoundWhereRanksAreLostAndComeBack) {
  const double alone = saved_alone();
  const Outcome agents = outcome_of([](GovernedOptions& o) { o.network.break_rate = 0.0005; });
  EXPECT_LE(agents.over, 1);
  EXPECT_LE(agents.worst, kBound + kMoment);
  EXPECT_GE(agents.saving, 0.85 * alone);
  EXPECT_GT(agents.counts.lost, static_cast<std::int64_t>(kSeeds) / 2);
}

}  // namespace
}  // namespace rubato::agent
