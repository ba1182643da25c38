// What docs/evidence/prediction.md says is reached stays so, on the table that takes least time.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/sweep_table_csv.h"
#include "experiment/validation.h"
#include "predict/trees/xgboost_library.h"

namespace rubato::experiment {
namespace {

TEST(Reached, PipelineStagesOfAnA100NeverSeenFromOneProbe) {
  if (!predict::trees::xgboost_library()) GTEST_SKIP() << predict::trees::xgboost_library().error().what;
  const char* folder = std::getenv("RUBATO_TEST_DATA");
  const auto path =
      std::filesystem::path(folder == nullptr ? "" : folder) / "tables/a100sxm-sm-clock-pipeline-stages.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto table = read_sweep_table(path);
  ASSERT_TRUE(table) << table.error().what;
  const std::vector<Knob> knobs = {Knob::sm_clock};
  const auto curves = predict::curves_of(*table, knobs);
  ASSERT_TRUE(curves) << curves.error().what;
  const auto learner = predict::find_learner("rubato");
  ASSERT_TRUE(learner);
  const auto found = validate(*curves, curves->size(), {.learner = *learner, .knobs = knobs, .probes = 1});
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_LE(*found->errors.time, 0.005);
  EXPECT_LE(*found->errors.energy, 0.011);
  EXPECT_GE(*found->at_bound.captured, 0.99);
  EXPECT_GE(*found->coverage.both, 0.85);
  EXPECT_LE(*found->coverage.both, 0.95);
}

}  // namespace
}  // namespace rubato::experiment
