// bench/layer_study: what has to hold of every answer, and that docs/evidence/layers.md is what it gives now.
// To renew it: build/release/bin/rubato-layer-study --data ../shared/data docs
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "generated_page.h"
#include "layer_study/networks.h"
#include "layer_study/plot.h"

namespace rubato::layer_study {
namespace {

const Row& row_of(const Case& one, std::string_view strategy) {
  for (const Row& row : one.outcomes.rows)
    if (row.strategy == strategy) return row;
  throw std::out_of_range("no such strategy");
}

class SmallStudy : public testing::TestWithParam<bool> {};

TEST_P(SmallStudy, PhaseIsNeverWorseThanTheBestSingleSettingAndKeepsTheBound) {
  const Case one = answer({.batch = 8, .forward_only = GetParam(), .most_sm_clocks = 20});
  const Outcomes& o = one.outcomes;
  const Row& phase = row_of(one, "phase");
  ASSERT_TRUE(phase.ideal && phase.delayed);
  for (const auto* outcome : {&*phase.ideal, &*phase.delayed}) {
    EXPECT_LE(outcome->cost.energy, o.single.energy * (1 + 1e-9));
    EXPECT_LE(outcome->cost.time, o.at_default.time * (1.05 + 1e-9));
  }
  // A tail may split a layer between two clocks, which no plan at once does: hence not exactly.
  EXPECT_LE(phase.ideal->cost.energy, phase.delayed->cost.energy * 1.005);
  EXPECT_LE(phase.ideal->cost.energy, row_of(one, "exhaustive").ideal->cost.energy * (1 + 1e-9));
  EXPECT_LE(phase.ideal->cost.energy, row_of(one, "pass").ideal->cost.energy * (1 + 1e-9));
}

TEST_P(SmallStudy, ADelayBeyondTheIterationLeavesNoLayerItsOwnClocks) {
  const Case one = answer({.batch = 8, .forward_only = GetParam(), .most_sm_clocks = 6});
  const Study study{one.table, [&](Seconds delay) { return switching_at(one, delay); }, {}};
  const auto* phase = plan::find_layer_strategy("phase").value();
  const std::vector<Seconds> delays = {0_s, Seconds(1e-6), Seconds(1e-3), 10_s};
  const BreakEven found = break_even(study, *phase, delays);
  EXPECT_TRUE(found.ever);
  ASSERT_EQ(found.gains.size(), 4U);
  EXPECT_GT(*found.gains[0], *found.gains[2]);
  EXPECT_GE(*found.gains[3], 0);
}

INSTANTIATE_TEST_SUITE_P(TrainingAndForward, SmallStudy, testing::Bool());

TEST(LayerDurations, AreThoseOfTheDefaultClocks) {
  const Case one = answer({.batch = 8, .most_sm_clocks = 2});
  const Durations d = durations_of(one);
  EXPECT_EQ(d.layers, one.table.segments.size());
  EXPECT_NEAR(d.iteration / one.outcomes.at_default.time, 1, 1e-9);
  EXPECT_LE(d.median, d.p90);
  EXPECT_LE(d.p90, d.longest);
}

TEST(LayerStudyPlot, DrawsACurveWithItsGapsAndTheMark) {
  Plot plot;
  plot.x = {Seconds(1e-3), Seconds(1e-2), Seconds(1e-1), Seconds(1)};
  plot.mark = std::pair(Seconds(0.03), std::string("published"));
  plot.panels = {{"a panel", {{"a curve", {0.5, std::nullopt, 0.5, 0.2}}}}};
  const std::string svg = svg_of(plot);
  const auto count = [&](std::string_view what) {
    std::size_t n = 0;
    for (auto at = svg.find(what); at != std::string::npos; at = svg.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("<path"), 1U);
  const std::string path =
      svg.substr(svg.find("<path"), svg.find("fill", svg.find("<path")) - svg.find("<path"));
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2);
  EXPECT_EQ(count(">published<"), 1U);
  EXPECT_EQ(count(">100 ms<"), 1U);
  EXPECT_EQ(count("nan"), 0U);
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Words have to be the same, and all but two in a hundred numbers within 0.2 or 2 %: which of two plans as
// good as each other is found hangs on the last digit.
TEST(LayersPage, IsWhatTheStudyGivesNow) {
  const std::string data = environment("RUBATO_TEST_DATA");
  if (!std::filesystem::exists(data + "/pipeline"))
    GTEST_SKIP() << "no measured stage profiles in " << data << "/pipeline";
  const auto made = std::filesystem::path(testing::TempDir()) / "layer-study";
  output_of(cat(RUBATO_LAYER_STUDY, " --data '", data, "' '", made.string(), "'"));
  std::istringstream now(content(made / "evidence" / "layers.md"));
  std::istringstream then(content(environment("RUBATO_SOURCE_DIR") + "/docs/evidence/layers.md"));
  std::string word_now;
  std::string word_then;
  std::size_t numbers = 0;
  std::size_t off = 0;
  while (now >> word_now) {
    ASSERT_TRUE(then >> word_then) << "the page ends before '" << word_now << "'";
    const auto number_now = parse_number(word_now);
    const auto number_then = parse_number(word_then);
    if (!number_now || !number_then) {
      ASSERT_EQ(word_now, word_then);
      continue;
    }
    ++numbers;
    if (std::abs(*number_now - *number_then) > std::max(0.2, 0.02 * std::abs(*number_then))) ++off;
  }
  EXPECT_FALSE(then >> word_then) << "the page goes on with '" << word_then << "'";
  EXPECT_GT(numbers, 500U);
  EXPECT_LE(off * 50, numbers) << off << " of " << numbers << " numbers differ";
  EXPECT_FALSE(content(made / "img" / "layers-break-even.svg").empty());
}

}  // namespace
}  // namespace rubato::layer_study
