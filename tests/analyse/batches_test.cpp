#include "analyse/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "made_batches.h"
#include "made_run.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;

// Two standard deviations of a share of 0.9 in so many runs are 0.016.
constexpr int kRuns = 1500;

TEST(Batches, IntervalsOfIndependentOnesHoldTheTruthNineTimesInTen) {
  for (const int n : {6, 12, 30}) {
    const Intervals i = intervals(n, 0, kRuns);
    EXPECT_GT(i.coverage, 0.88) << n;
    EXPECT_LT(i.coverage, 0.95) << n;
    EXPECT_LT(i.half_width, n == 6 ? 1.4 : 1.25) << n;
  }
}

TEST(Batches, IntervalsOfNeighboursThatResembleEachOtherAreWide) {
  EXPECT_GT(intervals(6, 0.3, kRuns).coverage, 0.84);
  EXPECT_GT(intervals(12, 0.3, kRuns).coverage, 0.86);
  EXPECT_GT(intervals(30, 0.3, kRuns).coverage, 0.87);
  EXPECT_GT(intervals(6, 0.5, kRuns).coverage, 0.78);
  EXPECT_GT(intervals(12, 0.5, kRuns).coverage, 0.83);
  EXPECT_GT(intervals(30, 0.5, kRuns).coverage, 0.86);
  EXPECT_GT(intervals(6, 0.7, kRuns).coverage, 0.70);
  EXPECT_GT(intervals(12, 0.7, kRuns).coverage, 0.79);
  EXPECT_GT(intervals(30, 0.7, kRuns).coverage, 0.85);
}

record::RunRecord sixty() {
  return MadeRun().block(BlockRole::baseline, 60, 1_s, 200_W, 0.02).ended();
}

Mean energy_of(const record::RunRecord& run) {
  return cost_per_iteration(run, sources_of(run), stretches_of(run)).energy;
}

TEST(Batches, FaultsOfTheCounterDoNotScatterThem) {
  const Mean clean = energy_of(sixty());
  record::RunRecord leaps = sixty();
  for (std::size_t i = 20; i < 61; ++i) *leaps.devices[0].fast[i].energy_counter += 1e9_J;
  record::RunRecord glitch = sixty();
  *glitch.devices[0].fast[20].energy_counter += 1e9_J;
  record::RunRecord resets = sixty();
  const Joules lost = *resets.devices[0].fast[30].energy_counter;
  for (std::size_t i = 30; i < 61; ++i) *resets.devices[0].fast[i].energy_counter -= lost;
  record::RunRecord frozen = sixty();
  for (std::size_t i = 30; i < 61; ++i) frozen.devices[0].fast[i].energy_counter = lost;
  for (const auto* run : {&leaps, &glitch, &resets, &frozen})
    EXPECT_NEAR(*energy_of(*run).relative_error, *clean.relative_error, 0.1 * *clean.relative_error);
}

TEST(Batches, AreCorrectedByTheSensorsCalibrationAsBlocksAre) {
  record::RunRecord corrected = sixty();
  corrected.devices[0].info.sensor.gain = 0.5;
  for (FastReading& reading : corrected.devices[0].fast) {
    *reading.power *= 0.5;
    *reading.energy_counter *= 0.5;
  }
  EXPECT_NEAR(*energy_of(corrected).relative_error, *energy_of(sixty()).relative_error, 1e-9);
}

}  // namespace
}  // namespace rubato::analyse
