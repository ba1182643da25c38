#include "lab/correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "lab/grid_surface.h"

namespace rubato::lab {
namespace {

RowGrid table_of(std::vector<double> time, std::vector<double> power) {
  RowGrid out;
  out.workload = "w";
  out.gpu = "V100";
  out.knobs = {Knob::power_limit};
  const std::vector<double> limits = {100, 125, 150, 175, 200, 225, 250};
  out.axes = {{limits, limits}};
  out.time = std::move(time);
  out.power = std::move(power);
  out.found.power_limit = Watts(250);
  return out;
}

/// The same flat job, measured over and over with noise: nothing is there to be gained.
std::vector<RowGrid> flat_jobs(double noise) {
  Random random(11);
  std::vector<RowGrid> out;
  for (int i = 0; i < 40; ++i) {
    std::vector<double> time;
    std::vector<double> power;
    for (int k = 0; k < 7; ++k) {
      time.push_back(10 * std::exp(noise * random.normal()));
      power.push_back(150 * std::exp(noise * random.normal()));
    }
    out.push_back(table_of(time, power));
  }
  return out;
}

TEST(Correction, TheNoiseOfRowsIsFoundBelowTheRegressionThatFollowsThem) {
  const Correction found = corrected(flat_jobs(0.02), 0.05, 1, 20);
  EXPECT_NEAR(found.time_noise, 0.02, 0.003);
  EXPECT_NEAR(found.power_noise, 0.02, 0.003);
}

TEST(Correction, LuckAloneSeemsToSaveAndDoesNot) {
  const Correction found = corrected(flat_jobs(0.02), 0.05, 1);
  EXPECT_GT(found.fixed.apparent, 0.02);
  EXPECT_LT(found.fixed.corrected, 0.3 * found.fixed.apparent);
}

TEST(Correction, AShareOfTwoGainsNothingWhereTheCurveIsLevel) {
  const Correction found = corrected(flat_jobs(0.02), 0.05, 1);
  EXPECT_FALSE(found.sharing.distinguishable());
}

TEST(Correction, AHoleInACleanTableStays) {
  // 20 % cheaper at 10 % slower and nothing between: half of it by sharing.
  const std::vector<double> time = {1.3, 1.25, 1.2, 1.1, 1.0, 1.0, 1.0};
  std::vector<double> power;
  for (const double energy : {0.79, 0.795, 0.798, 0.8, 1.0, 1.0, 1.0})
    power.push_back(200 * energy / time[power.size()]);
  const std::vector<RowGrid> jobs = {table_of(time, power)};
  const Correction found = corrected(jobs, 0.05, 1);
  EXPECT_NEAR(found.sharing.apparent, 0.1, 1e-9);
  EXPECT_NEAR(found.sharing.corrected, 0.1, 1e-9);
  EXPECT_TRUE(found.sharing.distinguishable());
}

}  // namespace
}  // namespace rubato::lab
