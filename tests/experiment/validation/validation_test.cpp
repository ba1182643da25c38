#include "experiment/validation.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "core/sweep_table_csv.h"
#include "made.h"

namespace rubato::experiment {
namespace {

using predict::Curve;
using predict::KnobPoint;
using predict::Known;
using testing::UnorderedElementsAre;

const std::vector<Curve> kTable = {made_curve("a", "g", {{150, 1.0, 0.9}, {100, 1.25, 0.8}}),
                                   made_curve("b", "g", {{150, 1.0, 0.9}}),
                                   made_curve("c", "h", {{150, 1.0, 1.25}})};

const auto kNothing = SayingLearner(kNothingChanges);

ValidationOptions with(const predict::Learner& learner) {
  return {.learner = &learner, .knobs = {Knob::power_limit}};
}

TEST(Validate, ErrorsAreMeansOverRowsAndRegretsOverWorkloads) {
  const Validation v = validate(kTable, 3, with(kNothing)).value();
  EXPECT_EQ(v.groups, 2U);
  EXPECT_NEAR(*v.errors.time, (0 + 0.2 + 0 + 0) / 4, 1e-12);
  EXPECT_NEAR(*v.errors.energy, (1 / 0.9 - 1 + 0.25 + 1 / 0.9 - 1 + 0.2) / 4, 1e-12);
  EXPECT_NEAR(*v.errors.edp, (1 / 0.9 - 1 + 0 + 1 / 0.9 - 1 + 0.2) / 4, 1e-12);
  EXPECT_NEAR(v.energy_regret, (0.25 + 1 / 0.9 - 1 + 0) / 3, 1e-12);
  EXPECT_NEAR(v.at_bound.oracle_saving, (0.1 + 0.1 + 0) / 3, 1e-12);
  EXPECT_EQ(v.at_bound.captured, 0);
}

TEST(Validate, AModelThatKnowsTheTruthIsPerfect) {
  const SayingLearner knows([](const Known&, const KnobPoint& at) {
    return at.power_limit == 100_W ? Ratio{100, 1.25, 0.8} : Ratio{150, 1.0, 0.9};
  });
  const Validation v =
      validate(std::span(kTable).first(2), 2, with(knows), std::span(kTable).last(1)).value();
  EXPECT_NEAR(*v.errors.time, 0, 1e-12);
  EXPECT_NEAR(*v.errors.energy, 0, 1e-12);
  EXPECT_NEAR(v.energy_regret, 0, 1e-12);
  EXPECT_NEAR(v.edp_regret, 0, 1e-12);
  EXPECT_NEAR(*v.at_bound.captured, 1, 1e-12);
  EXPECT_EQ(v.coverage.both, 1);
}

TEST(Validate, WhoPredictsAGroupNeverSawIt) {
  const SayingLearner learner(kNothingChanges);
  ASSERT_TRUE(validate(kTable, 3, with(learner)));
  EXPECT_THAT(learner.seen(), UnorderedElementsAre(std::set<std::string>{"g"}, std::set<std::string>{"h"}));
}

TEST(Validate, FromAnotherTableItLearnsOnceAndPredictsAll) {
  const SayingLearner learner(kNothingChanges);
  const std::vector<Curve> train = {made_curve("z", "elsewhere", {{100, 1, 1}})};
  const Validation v = validate(kTable, 3, with(learner), train).value();
  EXPECT_THAT(learner.seen(), UnorderedElementsAre(std::set<std::string>{"elsewhere"}));
  EXPECT_EQ(v.judged.size(), 3U);
}

TEST(Validate, OneGroupCannotBeLeftOut) {
  const auto v = validate(std::span(kTable).first(2), 2, with(kNothing));
  ASSERT_FALSE(v);
  EXPECT_THAT(v.error().hint, testing::HasSubstr("--train"));
}

TEST(Validate, WhatALearnerRefusesIsSaidWithTheGroup) {
  const auto learner = predict::find_learner("mean-curve").value();
  ValidationOptions options = with(*learner);
  options.knobs = {Knob::sm_clock};  // of which the curves know nothing
  const auto v = validate(kTable, 3, options);
  ASSERT_FALSE(v);
  EXPECT_THAT(v.error().what, testing::HasSubstr("without group 'g'"));
}

TEST(Validate, WhereEverySettingIsProbedThereIsNoErrorToTell) {
  ValidationOptions options = with(kNothing);
  options.probes = 2;
  const Validation v = validate(kTable, 3, options).value();
  EXPECT_FALSE(v.errors.time);
  EXPECT_FALSE(v.coverage.both);
}

class MeasuredTable : public testing::Test {
 protected:
  static std::optional<std::vector<Curve>> curves(const std::string& name, std::span<const Knob> knobs) {
    const char* data = std::getenv("RUBATO_TEST_DATA");
    const auto file = std::filesystem::path(data == nullptr ? "" : data) / "tables" / (name + ".csv");
    if (!std::filesystem::exists(file)) return std::nullopt;
    const auto table = read_sweep_table(file);
    EXPECT_TRUE(table) << table.error().what;
    auto made = predict::curves_of(*table, knobs);
    EXPECT_TRUE(made) << made.error().what;
    return *made;
  }
};

// What shared/tools/prediction_baselines.py prints for "mean"; it counts equal curves several times, so the
// A100's pipeline stages are not among them.
TEST_F(MeasuredTable, TheMeanCurveIsThatOfThePythonTool) {
  struct Row {
    const char* table;
    std::vector<Knob> knobs;
    double time;
    double energy;
    double regret;
  };
  const std::vector<Row> rows = {
      {"v100-power-limit-training", {Knob::power_limit}, 0.103, 0.100, 0.056},
      {"p100-power-limit-training", {Knob::power_limit}, 0.035, 0.064, 0.010},
      {"gtx1080ti-sm-and-memory-clock-kernels", {Knob::sm_clock, Knob::memory_clock}, 0.057, 0.037, 0.038},
      {"v100-sm-clock-kernels", {Knob::sm_clock}, 0.109, 0.070, 0.004},
      {"v100-sm-clock-microbenchmarks", {Knob::sm_clock}, 0.121, 0.055, 0.001}};
  const auto learner = predict::find_learner("mean-curve").value();
  for (const Row& row : rows) {
    const auto table = curves(row.table, row.knobs);
    if (!table) GTEST_SKIP() << "the measured table " << row.table << " is not there";
    ValidationOptions options = with(*learner);
    options.knobs = row.knobs;
    const Validation v = validate(*table, table->size(), options).value();
    EXPECT_NEAR(*v.errors.time, row.time, 0.001) << row.table;
    EXPECT_NEAR(*v.errors.energy, row.energy, 0.001) << row.table;
    EXPECT_NEAR(v.energy_regret, row.regret, 0.001) << row.table;
  }
}

TEST_F(MeasuredTable, ThreadsMakeNoDifference) {
  constexpr Knob knobs[] = {Knob::power_limit};
  const auto table = curves("p100-power-limit-training", knobs);
  if (!table) GTEST_SKIP() << "the measured P100 table is not there";
  ValidationOptions options = with(*predict::find_learner("mean-curve").value());
  options.probes = 1;
  const Validation two = validate(*table, table->size(), options).value();
  options.threads = 1;
  const Validation one = validate(*table, table->size(), options).value();
  EXPECT_EQ(one.errors.time, two.errors.time);
  EXPECT_EQ(one.at_bound.captured, two.at_bound.captured);
}

}  // namespace
}  // namespace rubato::experiment
