#include "core/sweep_workloads.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "core/sweep_table_csv.h"

namespace rubato {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SweepTable table_of(std::string_view rows, std::string_view more_columns = "") {
  const auto table = parse_sweep_table(
      cat("gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j",
          more_columns, "\n", rows));
  EXPECT_TRUE(table) << table.error().what;
  return table.value_or(SweepTable{});
}
SweepWorkload first_of(const SweepTable& table) {
  const auto workloads = workloads_of(table);
  EXPECT_TRUE(workloads) << workloads.error().what;
  return workloads && !workloads->empty() ? workloads->front() : SweepWorkload{};
}

TEST(WorkloadsOf, GathersRowsInTheTablesOrder) {
  const auto workloads = workloads_of(table_of("V,b,g,200,,,1,1,1\nV,a,h,200,,,1,1,1\nV,b,g,100,,,2,1,2\n"));
  ASSERT_TRUE(workloads);
  ASSERT_EQ(workloads->size(), 2U);
  EXPECT_EQ((*workloads)[0].workload, "b");
  EXPECT_THAT((*workloads)[0].rows, ElementsAre(0, 2));
  EXPECT_EQ((*workloads)[1].group, "h");
}

TEST(WorkloadsOf, TheDefaultIsTheRowThatSaysSo) {
  const SweepWorkload w =
      first_of(table_of("V,w,g,100,,,1,1,1,1\nV,w,g,200,,,1,1,1,0\nV,w,g,,,,1,1,1,\n", ",default"));
  EXPECT_EQ(w.default_row, 0U);
  EXPECT_FALSE(w.default_assumed);
}

TEST(WorkloadsOf, ElseTheRowThatSetsNothing) {
  const SweepWorkload w = first_of(table_of("V,w,g,200,,,1,1,1\nV,w,g,,,,1,1,1\n"));
  EXPECT_EQ(w.default_row, 1U);
  EXPECT_FALSE(w.default_assumed);
}

TEST(WorkloadsOf, ElseTheRowWithEveryKnobAtItsHighestWhichIsAssumed) {
  const SweepWorkload w = first_of(
      table_of("V,w,g,100,900,,1,1,1\nV,w,g,200,900,,1,1,1\nV,w,g,200,1000,,1,1,1\nV,w,g,100,1000,,1,1,1\n"));
  EXPECT_EQ(w.default_row, 2U);
  EXPECT_TRUE(w.default_assumed);
}

TEST(WorkloadsOf, AWorkloadWithoutAnyIsNamed) {
  const auto workloads = workloads_of(table_of("V,w,g,100,1000,,1,1,1\nV,w,g,200,900,,1,1,1\n"));
  ASSERT_FALSE(workloads);
  EXPECT_THAT(workloads.error().what, HasSubstr("'w'"));
  EXPECT_THAT(workloads.error().hint, HasSubstr("default"));
  const auto two = workloads_of(table_of("V,w,g,100,,,1,1,1,1\nV,w,g,200,,,1,1,1,1\n", ",default"));
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().what, HasSubstr("2 rows"));
}

TEST(WorkloadsDistinct, CountsACurveOnceWhateverItsNameAndOrder) {
  const SweepTable table = table_of(
      "V,a,g,100,,,2,1,2\nV,a,g,200,,,1,1,1\n"
      "V,b,h,200,,,1,1,1\nV,b,h,100,,,2,1,2\n"
      "V,c,g,100,,,2,1,2\nV,c,g,200,,,1,1.5,1.5\n");
  EXPECT_THAT(workloads_distinct(table, *workloads_of(table)), ElementsAre(0, 2));
}

// The counts are those of the data's own README.
TEST(MeasuredTables, AreReadAndWrittenBackTheSame) {
  const char* data = std::getenv("RUBATO_TEST_DATA");
  const std::filesystem::path folder = std::filesystem::path(data == nullptr ? "" : data) / "tables";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no measured tables at " << folder;
  struct Expected {
    const char* file;
    std::size_t rows, workloads, distinct;
  };
  for (const auto& [file, rows, count, distinct] :
       {Expected{"v100-power-limit-training.csv", 476, 68, 68},
        {"p100-power-limit-training.csv", 270, 45, 45},
        {"a100sxm-sm-clock-pipeline-stages.csv", 1216, 32, 8},
        {"v100-sm-clock-kernels.csv", 200, 20, 20},
        {"v100-sm-clock-microbenchmarks.csv", 1380, 138, 138},
        {"gtx1080ti-sm-and-memory-clock-kernels.csv", 600, 30, 30},
        {"a100pcie-power-limit-and-sm-clock.csv", 105, 3, 3}}) {
    const auto table = read_sweep_table(folder / file);
    ASSERT_TRUE(table) << table.error().what;
    EXPECT_EQ(table->rows.size(), rows) << file;
    EXPECT_EQ(table->comments.size(), 1U) << file;
    const auto workloads = workloads_of(*table);
    ASSERT_TRUE(workloads) << workloads.error().what;
    EXPECT_EQ(workloads->size(), count) << file;
    EXPECT_EQ(workloads_distinct(*table, *workloads).size(), distinct) << file;
    EXPECT_TRUE(workloads->front().default_assumed) << file;
    const auto text = write_sweep_table(*table);
    ASSERT_TRUE(text) << text.error().what;
    EXPECT_EQ(*parse_sweep_table(*text), *table) << file;
  }
}

TEST(WorkloadsSeen, AreThoseOfTheSameNameOrTheSameRows) {
  const auto table = table_of("V,a,g,200,,,1,1,1\nV,a,g,100,,,2,1,2\nV,b,h,200,,,1,1,1\nV,b,h,100,,,3,1,3\n");
  EXPECT_EQ(workloads_seen(table, table), 2U);
  EXPECT_EQ(workloads_seen(table, table_of("V,b,h,200,,,5,1,5\n")), 1U);
  EXPECT_EQ(workloads_seen(table, table_of("V,c,i,200,,,1,1,1\nV,c,i,100,,,2,1,2\n")), 1U) << "a's rows";
  EXPECT_EQ(workloads_seen(table, table_of("V,c,i,200,,,1,1,1\nT,b,h,100,,,4,1,4\n")), 0U);
}

}  // namespace
}  // namespace rubato
