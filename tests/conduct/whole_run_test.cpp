// The promise, on simulated boards: a training of any kind saves energy inside the bound, search included,
// and is left alone where nothing tells what a setting costs it. bench/whole_runs shows all boards.
#include "conduct/whole_run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "device/sim/profile.h"
#include "device/sim/work.h"

namespace rubato::conduct {
namespace {

constexpr double kBound = 0.05;

std::vector<std::string> boards() {
  if (std::getenv("RUBATO_CHECK_FULL") == nullptr) return {"v100-sxm2-32gb", "rtx3080ti"};
  std::vector<std::string> all;
  for (const auto& profile : device::sim::list_profiles()) all.push_back(profile.name);
  return all;
}

struct Sum {
  double saved = 0;
  int runs = 0;
  int searched = 0;
};

Sum all_runs(bool marks) {
  Sum sum;
  for (const std::string& board : boards())
    for (const auto& workload : device::sim::list_workloads()) {
      SCOPED_TRACE(board + ", " + workload.name);
      const WholeRun run = whole_run({.board = board, .workload = workload.name, .marks = marks});
      EXPECT_LE(run.slower, kBound);
      EXPECT_GE(run.saved, -0.001);
      if (run.searched)
        ++sum.searched;
      else
        EXPECT_NEAR(run.saved, 0, 1e-6) << "nothing was set";
      sum.saved += run.saved;
      ++sum.runs;
    }
  std::cout << sum.searched << " of " << sum.runs << " searched, saved " << 100 * sum.saved / sum.runs
            << " %\n";
  return sum;
}

TEST(WholeRun, OfMarkedIterationsSavesInsideTheBoundWhateverTheJobWaitsFor) {
  const Sum sum = all_runs(true);
  EXPECT_EQ(sum.searched, sum.runs);
  EXPECT_GT(sum.saved / sum.runs, 0.07);
}

TEST(WholeRun, OfTelemetryAloneKeepsTheBoundAndSavesWhereIterationsAreSeen) {
  const Sum sum = all_runs(false);
  EXPECT_GE(2 * sum.searched, sum.runs);
  EXPECT_GT(sum.saved / sum.runs, 0.02);
}

// Its limit bites harder once the board is hot. The hot one takes nearly as long at the limit held as the
// cold one did, and was taken for it.
TEST(WholeRun, UnderATightBoundAHotBoardIsNotTakenForTheColdOne) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const WholeRun run =
        whole_run({.board = "v100-pcie-16gb", .workload = "rnn", .seed = seed, .max_slowdown = 0.01});
    EXPECT_LE(run.slower, 0.01) << "seed " << seed;
    EXPECT_GT(run.saved, 0.005) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rubato::conduct
