#include "lab/restrict.h"

#include <gtest/gtest.h>

#include "core/sweep_table_csv.h"
#include "lab/truth.h"

namespace rubato::lab {
namespace {

Job two_knobs() {
  const auto table = parse_sweep_table(
      "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
      "A100,a,g,100,1000,,4,90,360\nA100,a,g,200,1000,,3,110,330\n"
      "A100,a,g,100,1400,,4,100,400\nA100,a,g,200,1400,,2,180,360\n");
  return jobs_of(*table, {.knobs = {}, .resolution = Resolution::table})->front();
}

TEST(Restricted, TheOtherKnobStaysWhereItWasFound) {
  const Knob knob = Knob::sm_clock;
  const auto job = restricted(two_knobs(), {&knob, 1});
  ASSERT_TRUE(job) << job.error().what;
  ASSERT_EQ(job->grid.size(), 2u);
  EXPECT_FALSE(job->grid[0].power_limit);
  EXPECT_EQ(job->grid[0].sm_clock, Megahertz(1000));
  EXPECT_EQ(job->found, 1u);
  EXPECT_DOUBLE_EQ(job->programs[0].time[0], 1.5);
  EXPECT_DOUBLE_EQ(job->programs[0].time[1], 1);
  EXPECT_FALSE(job->space.found.power_limit);
}

TEST(Restricted, AKnobTheJobLacksIsRefusedWithThoseItHas) {
  const Knob knob = Knob::memory_clock;
  const auto job = restricted(two_knobs(), {&knob, 1});
  ASSERT_FALSE(job);
  EXPECT_NE(job.error().what.find("power-limit, sm-clock"), std::string::npos) << job.error().what;
}

}  // namespace
}  // namespace rubato::lab
