#include "experiment/calibrate/result.h"

#include <gmock/gmock.h>

#include "core/sweep_table_csv.h"

namespace rubato::experiment {
namespace {

using predict::KnobPoint;

CalibrationPoint point(KnobPoint at, UnitCost found, std::optional<UnitCost> set, double dram = 0.5) {
  CalibrationPoint out{.benchmark = "fp32", .at = at, .at_default = found, .at_setting = set};
  out.features = {{"fp32_active", 0.25}, {"dram_active", dram}};
  if (!set) out.not_used = "it did not take";
  return out;
}

UnitCost cost(double seconds, double joules) {
  return {Seconds(seconds), Joules(joules), 100};
}

CalibratedBenchmark fp32() {
  const CalibrationPoint points[] = {point({.power_limit = Watts(150)}, cost(1.0, 100), cost(1.5, 90)),
                                     // The GPU was hotter and slower by a fifth: the quotient is not.
                                     point({.power_limit = Watts(100)}, cost(1.2, 120), cost(2.4, 120)),
                                     point({.power_limit = Watts(50)}, cost(1.1, 110), std::nullopt)};
  return summarise_benchmark(**find_benchmark("fp32"), {.operations = 11e12}, points, std::nullopt,
                             std::nullopt);
}

TEST(CalibratedBenchmark, TakesWhatDriftsBetweenRunsOut) {
  const CalibratedBenchmark b = fp32();
  EXPECT_DOUBLE_EQ(b.time.value(), 1.1);
  EXPECT_DOUBLE_EQ(b.energy.value(), 110);
  EXPECT_NEAR(*b.time_scatter, 0.1 / 1.1, 1e-9);
  ASSERT_EQ(b.settings.size(), 2U);
  EXPECT_EQ(b.settings[0].at, (KnobPoint{.power_limit = Watts(100)})) << "in order";
  EXPECT_DOUBLE_EQ(b.settings[0].time.value(), 2.2);
  EXPECT_DOUBLE_EQ(b.settings[0].energy.value(), 110);
  EXPECT_DOUBLE_EQ(b.settings[1].time.value(), 1.65);
  EXPECT_DOUBLE_EQ(b.settings[1].energy.value(), 99);
  ASSERT_EQ(b.lost.size(), 1U);
  EXPECT_EQ(b.lost[0].why, "it did not take");
}

TEST(CalibratedBenchmark, ADisturbedRunsFoundSettingDoesNotCount) {
  CalibrationPoint disturbed = point({.power_limit = Watts(100)}, cost(9.0, 900), std::nullopt);
  disturbed.disturbed = disturbed.not_used = "disturbed";
  const CalibrationPoint points[] = {disturbed,
                                     point({.power_limit = Watts(150)}, cost(1.0, 100), cost(1.5, 90))};
  const auto b = summarise_benchmark(**find_benchmark("fp32"), {}, points, std::nullopt, std::nullopt);
  EXPECT_EQ(b.runs, 1U);
  EXPECT_DOUBLE_EQ(b.time.value(), 1.0);
  EXPECT_EQ(b.settings.size(), 1U);
  EXPECT_EQ(b.lost.size(), 1U);
}

TEST(CalibratedBenchmark, StandsUnderTheRooflineByWhatIsKnownElseByWhatIsCounted) {
  predict::PeakRates rates{.bytes_per_clock = 10};
  rates.operations_per_clock[static_cast<std::size_t>(predict::Pipe::fp32)] = 100;
  const predict::Clocks at{Megahertz(1000), Megahertz(1000)};
  const CalibrationPoint points[] = {point({}, cost(1, 100), cost(1, 100))};
  const auto counted = summarise_benchmark(**find_benchmark("fp32"), {}, points, at, rates);
  EXPECT_DOUBLE_EQ(predict::ratio_at(*counted.position, at), 0.5);
  const auto known = summarise_benchmark(**find_benchmark("mixed-6"), {}, points, at, rates);
  EXPECT_DOUBLE_EQ(predict::ratio_at(*known.position, at), 0.6) << "6 operations a byte, ridge at 10";
  EXPECT_FALSE(summarise_benchmark(**find_benchmark("fp32"), {}, points, std::nullopt, rates).position);
}

TEST(Ceilings, AreTheRatesThatWereReached) {
  CalibratedBenchmark copy{.benchmark = *find_benchmark("bandwidth"), .work = {0, 5e11}, .time = Seconds(1)};
  CalibratedBenchmark half{
      .benchmark = *find_benchmark("tensor-tf32"), .work = {3e12, 0}, .time = Seconds(1)};
  CalibratedBenchmark whole{
      .benchmark = *find_benchmark("tensor-fp16"), .work = {6e12, 0}, .time = Seconds(1)};
  CalibratedBenchmark mixed{
      .benchmark = *find_benchmark("mixed-6"), .work = {6e12, 1e12}, .time = Seconds(1)};
  const CalibratedBenchmark all[] = {copy, half, whole, mixed};
  const Ceilings c = ceilings_of(all);
  EXPECT_DOUBLE_EQ(*c.bytes_per_s, 5e11);
  ASSERT_EQ(c.operations_per_s.size(), 1U) << "mixed ones reach neither roof";
  EXPECT_DOUBLE_EQ(*c.ridge(predict::Pipe::tensor), 12);
  EXPECT_FALSE(c.ridge(predict::Pipe::fp32));
}

TEST(CalibrationTable, ReadsBackAndHasADefaultRowForEachBenchmark) {
  const CalibratedBenchmark all[] = {fp32()};
  const SweepTable table = table_of(all, {.gpu = "A GPU", .comments = {"two\nlines"}}, Watts(250));
  const auto text = write_sweep_table(table);
  ASSERT_TRUE(text) << text.error().what;
  const auto back = parse_sweep_table(*text);
  ASSERT_TRUE(back) << back.error().what;
  ASSERT_EQ(back->rows.size(), 3U);
  EXPECT_EQ(back->rows[0].is_default, true);
  EXPECT_EQ(back->rows[0].power_limit, Watts(250));
  EXPECT_EQ(back->rows[1].power_limit, Watts(100));
  for (const SweepRow& row : back->rows) {
    EXPECT_EQ(row.group, "fp32");
    EXPECT_DOUBLE_EQ(row.features.at("dram_active"), 0.5);
    EXPECT_DOUBLE_EQ(row.features.at("roofline_log2_ratio"), -1);
  }
}

TEST(CalibrationTable, KeepsOnlyFeaturesThatAllBenchmarksHave) {
  CalibratedBenchmark blind = fp32();
  blind.benchmark = *find_benchmark("mixed-6");
  blind.features = {{"dram_active", 1.0}};
  const CalibratedBenchmark all[] = {fp32(), blind};
  const SweepTable table = table_of(all, {.gpu = "A GPU"}, std::nullopt);
  for (const SweepRow& row : table.rows) EXPECT_EQ(row.features.size(), 1U) << row.workload;
  EXPECT_EQ(table.rows.back().group, "mixed");
  EXPECT_FALSE(table.rows.front().power_limit) << "no limit was varied";
}

}  // namespace
}  // namespace rubato::experiment
