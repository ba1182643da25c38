#include "experiment/sweep_result_table.h"

#include <gmock/gmock.h>

#include "analyse/student_t.h"
#include "core/sweep_table_csv.h"
#include "core/sweep_workloads.h"
#include "experiment/sweep/measurements.h"
#include "predict/curve.h"

namespace rubato::experiment {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

SweepTable table() {
  auto counted = [](SweepMeasurement m, double value) {
    m.features["dram_active"] = value;
    return m;
  };
  auto lost = measured(limit(120), 10, 1000);
  lost.not_used = "the enforced limit was 150 W";
  const std::vector<SweepMeasurement> all = {
      counted(control(10, 1000), 0.5), counted(measured(limit(150), 11, 800), 0.4),
      counted(measured(limit(200), 10.2, 900), 0.4), lost, counted(control(10, 1000, 1), 0.5)};
  const auto summary = *summarise_sweep(all, &analyse::student_t_quantile);
  return table_of(summary, {"Tesla V100", "Tesla V100", "python3 train.py, fast", "mine", {"what was\nrun"}},
                  Watts(250));
}

TEST(SweepResultTable, ReadsBackAsItWasWrittenWithOneDefaultRow) {
  const auto text = write_sweep_table(table());
  ASSERT_TRUE(text) << text.error().what;
  const auto back = parse_sweep_table(*text);
  ASSERT_TRUE(back);
  const auto workloads = workloads_of(*back);
  ASSERT_TRUE(workloads) << workloads.error().what;
  ASSERT_EQ(workloads->size(), 1U);
  EXPECT_FALSE(workloads->front().default_assumed);
  EXPECT_EQ(back->rows[workloads->front().default_row].power_limit, Watts(250));
  EXPECT_EQ(back->rows.size(), 3U) << "the setting that did not take has no row";
}

TEST(SweepResultTable, SaysIntervalsAndWhatWasNotUsedInComments) {
  const auto comments = table().comments;
  EXPECT_THAT(comments, Contains(HasSubstr("150 W: time 1.1 (")));
  EXPECT_THAT(comments, Contains(HasSubstr("not used: 120 W: the enforced limit was 150 W")));
  EXPECT_THAT(comments, Contains("what was?run"));
}

TEST(SweepResultTable, OfSeveralBoardsIsTheMeanOfOneOfThem) {
  const auto table_by = [](const std::string& gpu, const std::string& board, unsigned boards) {
    auto a = control(10, 1000);
    auto b = measured(limit(150), 11, 800);
    a.boards = boards;
    b.boards = boards;
    return table_of(*summarise_sweep(std::vector{a, b}, &analyse::student_t_quantile),
                    {gpu, board, "w", "g", {}}, Watts(250));
  };
  const auto two = table_by("2 x Tesla V100", "Tesla V100", 2);
  EXPECT_EQ(two.rows[1].gpu, "Tesla V100") << "as `rubato advise` calls it";
  EXPECT_NEAR(two.rows[1].energy.value(), 400, 1e-9);
  EXPECT_NEAR(two.rows[1].power.value(), 800 / 11.0 / 2, 1e-9);
  EXPECT_THAT(two.comments, Contains(HasSubstr("mean of one of 2 boards")));
  EXPECT_NEAR(table_by("2 x Tesla V100", "Tesla V100", 1).rows[1].energy.value(), 800, 1e-9)
      << "the job used one of them";
  EXPECT_NEAR(table_by("Tesla V100 + Tesla T4", "", 2).rows[1].energy.value(), 800, 1e-9);
  EXPECT_EQ(table_by("Tesla V100 + Tesla T4", "", 2).rows[1].gpu, "Tesla V100 + Tesla T4");
}

TEST(SweepResultTable, CanBeLearnedFrom) {
  const std::vector<Knob> knobs = {Knob::power_limit};
  const auto curves = predict::curves_of(table(), knobs);
  ASSERT_TRUE(curves) << curves.error().what;
  ASSERT_EQ(curves->size(), 1U);
  EXPECT_EQ(curves->front().rows.size(), 3U);
  EXPECT_EQ(curves->front().known.features.at("dram_active"), 0.5);
}

}  // namespace
}  // namespace rubato::experiment
