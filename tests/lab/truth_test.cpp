#include "lab/truth.h"

#include <gtest/gtest.h>

#include "core/sweep_table_csv.h"

namespace rubato::lab {
namespace {

constexpr std::string_view kHead =
    "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n";

SweepTable table_of(const std::string& rows) {
  auto table = parse_sweep_table(std::string(kHead) + rows);
  EXPECT_TRUE(table) << table.error().what;
  return *table;
}

TEST(Truth, APowerLimitMovesInWattsBetweenTheTablesEnds) {
  const auto jobs =
      jobs_of(table_of("V100,a,g,100,,,4,90,360\nV100,a,g,150,,,2,140,280\nV100,a,g,200,,,2,150,300\n"), {});
  ASSERT_TRUE(jobs) << jobs.error().what;
  const Job& job = jobs->front();
  EXPECT_EQ(job.grid.size(), 101u);
  EXPECT_EQ(job.found, 100u);
  EXPECT_EQ(job.kind, Kind::interpolated);
  EXPECT_DOUBLE_EQ(job.programs[0].power.value(), 150);
  EXPECT_DOUBLE_EQ(job.programs[0].iteration.value(), 0.3);
  EXPECT_DOUBLE_EQ(job.programs[0].time[0], 2);
  EXPECT_DOUBLE_EQ(job.programs[0].energy[0], 1.2);
  EXPECT_DOUBLE_EQ(job.programs[0].time[50], 1);
}

TEST(Truth, AnSmClockMovesInTheStepsOfTheBoardWhereItsProfileIsKnown) {
  const std::string rows = "V100,a,g,,1200,,4,90,360\nV100,a,g,,1230,,2,140,280\n";
  const auto known = jobs_of(table_of(rows), {});
  ASSERT_TRUE(known) << known.error().what;
  EXPECT_EQ(known->front().space.axes[0].values, (std::vector<double>{1200, 1207, 1215, 1222, 1230}));
  std::string other = rows;
  while (other.find("V100") != std::string::npos) other.replace(other.find("V100"), 4, "P7");
  const auto unknown = jobs_of(table_of(other), {});
  ASSERT_TRUE(unknown) << unknown.error().what;
  EXPECT_EQ(unknown->front().space.axes[0].values, (std::vector<double>{1200, 1215, 1230}));
}

TEST(Truth, AtTableResolutionRawRowsAreReplayedAsTheyStand) {
  const auto jobs =
      jobs_of(table_of("V100,a,g,100,,,3,90,270\nV100,a,g,150,,,2,140,280\nV100,a,g,200,,,2.5,150,375\n"),
              {.knobs = {}, .resolution = Resolution::table, .truth = TruthKind::raw});
  ASSERT_TRUE(jobs) << jobs.error().what;
  EXPECT_EQ(jobs->front().kind, Kind::replayed);
  EXPECT_DOUBLE_EQ(jobs->front().programs[0].time[1], 0.8);
}

const std::string kTwoKnobs =
    "A100,a,g,100,1000,,4,90,360\nA100,a,g,200,1000,,3,110,330\n"
    "A100,a,g,100,1400,,4,100,400\nA100,a,g,200,1400,,2,180,360\n";

TEST(Truth, TwoKnobsAreEveryCrossingInTheOrderOfCandidates) {
  const auto jobs = jobs_of(table_of(kTwoKnobs), {.resolution = Resolution::table});
  ASSERT_TRUE(jobs) << jobs.error().what;
  const Job& job = jobs->front();
  ASSERT_EQ(job.grid.size(), 4u);
  EXPECT_EQ(job.grid[1].power_limit->value(), 100);
  EXPECT_EQ(job.grid[1].sm_clock->value(), 1400);
  EXPECT_DOUBLE_EQ(job.programs[0].time[2], 1.5);
  EXPECT_EQ(job.found, 3u);
}

TEST(Truth, AKnobThatIsNotNamedStaysAtTheDefault) {
  const auto jobs =
      jobs_of(table_of(kTwoKnobs), {.knobs = {Knob::power_limit}, .resolution = Resolution::table});
  ASSERT_TRUE(jobs) << jobs.error().what;
  EXPECT_EQ(jobs->front().grid.size(), 2u);
  EXPECT_DOUBLE_EQ(jobs->front().programs[0].time[0], 2);
}

TEST(Truth, AMissingCrossingIsRefusedByName) {
  const std::string three = kTwoKnobs.substr(kTwoKnobs.find('\n') + 1);
  const auto jobs = jobs_of(table_of(three), {});
  ASSERT_FALSE(jobs);
  EXPECT_NE(jobs.error().what.find("'a' lacks 1 of the 4 crossings"), std::string::npos) << jobs.error().what;
}

TEST(Truth, AKnobThatOnlyAnotherGpusRowsNameIsRefused) {
  const auto jobs = jobs_of(table_of("V100,a,g,100,,,4,90,360\nV100,a,g,150,,,2,140,280\n"
                                     "P7,b,h,,1200,,4,90,360\nP7,b,h,,1230,,2,140,280\n"),
                            {});
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(jobs.error().what.find("no row of 'V100' says where its sm-clock stands"), std::string::npos)
      << jobs.error().what;
}

}  // namespace
}  // namespace rubato::lab
