#include "cli/report/validation_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/render.h"

namespace rubato::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

experiment::JudgedWorkload workload() {
  return {.gpu = "V",
          .workload = "net/b32",
          .group = "net",
          .default_assumed = true,
          .rows = {{.at = {.power_limit = 150_W},
                    .time = 1.25,
                    .energy = 0.8,
                    .predicted_time = 1.0,
                    .predicted_energy = 1.0,
                    .energy_inside = true}},
          .energy_regret = 0.25,
          .edp_regret = 0,
          .chosen = predict::KnobPoint{.power_limit = 150_W},
          .slowdown = 0.25,
          .saving = 0,
          .oracle_saving = 0.125};
}

ValidationReport one_workload() {
  ValidationReport out{.table = "t.csv", .model = "physical"};
  out.options.knobs = {Knob::power_limit};
  out.options.probes = 1;
  out.found = {.groups = 1, .workloads = 4, .workloads_distinct = 1, .judged = {workload()}};
  experiment::summarise(out.found);
  out.mean_curve = out.found;
  out.mean_curve.errors.time = 0.5;
  out.floor = {.time = 0.03, .energy = 0.04, .time_between = 0.01, .energy_between = 0.02};
  return out;
}

json json_of(const ValidationReport& validation, bool every_workload) {
  return json::parse(report::render_json(validation_json(validation, every_workload)));
}
std::string text_of(const ValidationReport& validation, bool every_workload) {
  Page page({.colour = false, .width = 80});
  say_validation(page, validation, every_workload);
  return page.take();
}

TEST(ValidationJson, HasTheFixedMembersAsFractions) {
  const json said = json_of(one_workload(), false);
  EXPECT_EQ(said["schema"], "rubato.validate/1");
  EXPECT_EQ(said["workloads"], 4);
  EXPECT_EQ(said["workloads_distinct"], 1);
  EXPECT_EQ(said["probes"], 1);
  EXPECT_NEAR(said["time_mape"].get<double>(), 0.2, 1e-9);
  EXPECT_NEAR(said["energy_mape"].get<double>(), 0.25, 1e-9);
  EXPECT_NEAR(said["edp_mape"].get<double>(), 0, 1e-9);
  EXPECT_EQ(said["energy_regret"], 0.25);
  EXPECT_EQ(said["interval_coverage_90"], 0.5);
  EXPECT_EQ(said["noise_floor"]["energy_mape"], 0.04);
  EXPECT_EQ(said["at_bound"]["max_slowdown"], 0.05);
  EXPECT_EQ(said["at_bound"]["captured"], 0.0);
  EXPECT_EQ(said["at_bound"]["worst_slowdown"], 0.25);
  EXPECT_EQ(said["mean_curve"]["time_mape"], 0.5);
  EXPECT_FALSE(said.contains("per_workload"));
}

TEST(ValidationJson, MeansOfNothingAreNull) {
  ValidationReport nothing = one_workload();
  nothing.found.judged[0].rows[0].probed = true;
  nothing.found.judged[0].oracle_saving = 0;
  experiment::summarise(nothing.found);
  nothing.floor = {};
  const json said = json_of(nothing, false);
  EXPECT_TRUE(said["time_mape"].is_null());
  EXPECT_TRUE(said["interval_coverage_90"].is_null());
  EXPECT_TRUE(said["at_bound"]["captured"].is_null());
  EXPECT_TRUE(said["noise_floor"]["time_mape"].is_null());
}

TEST(ValidationJson, EveryWorkloadIsThereWhereAskedFor) {
  const json said = json_of(one_workload(), true)["per_workload"];
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0]["chosen"]["power_limit_w"], 150);
  EXPECT_EQ(said[0]["rows"][0]["predicted_time"], 1.0);
  EXPECT_EQ(said[0]["rows"][0]["time_inside_90"], false);
}

TEST(ValidationText, ShowsTheMeanCurveAndTheNoiseFloorBesideTheModel) {
  const std::string text = text_of(one_workload(), false);
  EXPECT_THAT(text, HasSubstr("physical"));
  EXPECT_THAT(text, testing::ContainsRegex("time +20.0 % +50.0 % +3.0 %"));
  EXPECT_THAT(text, HasSubstr("4 workloads, 1 of them distinct, in 1 group"));
  EXPECT_THAT(text, HasSubstr("and 1 probe of"));
  EXPECT_THAT(text, HasSubstr("taken for it"));  // the default is assumed
  EXPECT_THAT(text, Not(HasSubstr("net/b32")));
  EXPECT_THAT(text_of(one_workload(), true), HasSubstr("150 W   net/b32"));
}

TEST(ValidationText, SaysWhereTheModelLearntAndWhatTheHostDraws) {
  ValidationReport v = one_workload();
  v.train = "micro.csv";
  v.options.host_watts = 120_W;
  EXPECT_THAT(text_of(v, false), HasSubstr("the model learnt from micro.csv"));
  EXPECT_THAT(text_of(v, false), HasSubstr("120 W of the host"));
}

}  // namespace
}  // namespace rubato::cli
