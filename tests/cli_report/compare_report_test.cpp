#include "cli/report/compare_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analyse/made_run.h"
#include "base/text.h"
#include "golden.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using namespace analyse::testing_data;
using testing::HasSubstr;
using testing::Not;
using testing_data::expect_golden;

record::RunRecord before() {
  MadeRun made;
  made.block(BlockRole::baseline, 100, 1_s, 200_W, 0.01);
  record::RunRecord run = made.ended();
  run.info.run_id = "20261121-080000-0001";
  run.info.mode = "measure";
  for (auto& device : run.end->devices) device.requested.reset();
  return run;
}

record::RunRecord after(Seconds each = 1.2_s) {
  MadeRun made;
  made.block(BlockRole::baseline, 20, 1_s, 200_W, 0.01);
  made.block(BlockRole::hold, 80, each, 125_W, 0.01);
  return made.ended();
}

struct Texts {
  std::string text;
  std::string json;
};

Texts compared(const record::RunRecord& a, const record::RunRecord& b) {
  const auto of_a = analyse::summarise(a);
  const auto of_b = analyse::summarise(b);
  const analyse::Side side_a{a, of_a};
  const analyse::Side side_b{b, of_b};
  const auto comparison = analyse::compare(side_a, side_b);
  return {compare_text(side_a, side_b, comparison), render_json(compare_json(side_a, side_b, comparison))};
}

TEST(CompareReport, OfASoundComparisonReadsLikeThis) {
  const Texts texts = compared(before(), after());
  expect_golden(texts.text, "compare.txt");
  expect_golden(texts.json, "compare.json");
}

TEST(CompareReport, OfAnUnsoundOneReadsLikeThis) {
  record::RunRecord other = after();
  other.info.command = {"python", "other.py"};
  other.devices[0].info.identity.name = "NVIDIA H100 80GB HBM3";
  other.end.reset();
  expect_golden(compared(before(), other).text, "compare_unsound.txt");
}

TEST(CompareReport, FitsIntoEightyColumns) {
  for (const std::string& line : split(compared(before(), after()).text, '\n'))
    EXPECT_LE(report::width_of(line), 80U) << line;
}

TEST(CompareReport, WithoutADifferenceClaimsNone) {
  record::RunRecord again = before();
  again.info.run_id = "20261121-090000-0002";
  const Texts texts = compared(before(), again);
  EXPECT_THAT(texts.text, HasSubstr("not distinguishable"));
  EXPECT_THAT(texts.text, HasSubstr("took about as long and used about as much GPU energy as A."));
  EXPECT_THAT(texts.text, Not(HasSubstr("What else differs")));
}

TEST(CompareReport, InJsonIsNullWhereNothingIsKnown) {
  record::RunRecord blind = after();
  for (auto& device : blind.end->devices) device.energy.reset();
  for (auto& device : blind.devices) device.fast.clear();
  const auto parsed = nlohmann::json::parse(compared(before(), blind).json);
  EXPECT_EQ(parsed["schema"], "rubato.compare/1");
  EXPECT_TRUE(parsed["whole_run"]["energy_j"]["b"].is_null());
  EXPECT_TRUE(parsed["whole_run"]["energy_j"]["difference"].is_null());
  EXPECT_FALSE(parsed["whole_run"]["energy_j"]["why_no_difference"].get<std::string>().empty());
  EXPECT_TRUE(parsed["whole_run"]["time_s"]["distinguishable"].is_null());
}

}  // namespace
}  // namespace rubato::cli
