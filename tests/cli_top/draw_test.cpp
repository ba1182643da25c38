// Whole screens as they look, at the sizes people have.
#include "cli/top/draw.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/top/json.h"
#include "cli_report/golden.h"
#include "made_state.h"
#include "report/render.h"

namespace rubato::cli::top {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_data::expect_golden;

std::string text_of(const Screen& screen) {
  std::string out;
  for (std::size_t row = 0; row < screen.size().rows; ++row) out += screen.text(row) + "\n";
  return out;
}

TEST(Draw, OnTheUsualTerminal) {
  expect_golden(text_of(draw(made_state(), {}, {24, 80})), "80x24.txt", "cli_top");
}

TEST(Draw, OnASmallOne) {
  expect_golden(text_of(draw(made_state(), {}, {10, 40})), "40x10.txt", "cli_top");
}

TEST(Draw, OnALargeOne) {
  expect_golden(text_of(draw(made_state(), {.pane = Pane::runs}, {60, 200})), "200x60.txt", "cli_top");
}

TEST(Draw, WithoutARun) {
  State state = made_state();
  state.runs.clear();
  state.processes.clear();
  expect_golden(text_of(draw(state, {}, {24, 80})), "no_run.txt", "cli_top");
}

TEST(Draw, Help) {
  expect_golden(text_of(draw(made_state(), {.help = true}, {24, 80})), "help.txt", "cli_top");
}

TEST(Draw, AsPlainText) {
  expect_golden(plain_text(made_state(), 80), "plain.txt", "cli_top");
}

TEST(Draw, TheSelectedRowIsMarkedWithoutColour) {
  const State state = made_state();
  View view;
  view.selected[0] = state.gpus[1].identity.id.uuid;
  const Screen screen = draw(state, view, {24, 80});
  EXPECT_EQ(screen.at(3, 0).glyph, U'>');
  EXPECT_TRUE(screen.at(3, 40).style.reverse);
  EXPECT_NE(screen.at(2, 0).glyph, U'>');
}

TEST(Draw, MoreGpusThanRowsScrollWithTheSelection) {
  State state = made_state();
  state.runs.clear();
  state.processes.clear();
  state.gpus.clear();
  for (unsigned i = 0; i < 40; ++i) state.gpus.push_back(made_gpu(i, "H100", 100_W));
  for (unsigned i = 0; i < 40; ++i) state.gpus[i].identity.id.uuid = cat("GPU-", i);
  View view;
  view.selected[0] = "GPU-30";
  const std::string shown = text_of(draw(state, view, {12, 60}));
  EXPECT_THAT(shown, HasSubstr("> 30 "));
  EXPECT_THAT(shown, HasSubstr(" of 40"));
  EXPECT_THAT(shown, HasSubstr("q quit"));
}

TEST(Draw, AGpuThatDoesNotAnswerSaysSo) {
  State state = made_state();
  state.gpus[0].power.reset();
  state.gpus[0].slow = {};
  state.gpus[0].silent = "GPU is lost";
  const std::string shown = text_of(draw(state, {}, {24, 80}));
  EXPECT_THAT(shown, HasSubstr("no answer: GPU is lost"));
  EXPECT_THAT(shown, Not(HasSubstr("0.0 W")));
}

TEST(Draw, SaysWhatRubatodSaysOfTheSelectedGpu) {
  State state = made_state();
  EXPECT_THAT(text_of(draw(state, {}, {30, 120})), Not(HasSubstr("rubatod")));
  state.gpus[0].managed = ManagedNow{"manage", "leased", 42};
  EXPECT_THAT(text_of(draw(state, {}, {30, 120})),
              HasSubstr("rubatod manages it: leased, given to Slurm's job 42"));
  state.gpus[0].managed = ManagedNow{"observe", "free"};
  EXPECT_THAT(text_of(draw(state, {}, {30, 120})), HasSubstr("rubatod observes it: free"));
}

TEST(Draw, AStuckDriverIsNamed) {
  State state = made_state();
  state.stuck = Seconds(12);
  EXPECT_THAT(draw(state, {}, {24, 80}).text(0), HasSubstr("no answer from the driver for 12.0 s"));
}

TEST(Draw, WordsOfACommandNeverReachTheTerminalAsTheyAre) {
  const std::string shown = text_of(draw(made_state(), {.pane = Pane::processes}, {24, 120}));
  EXPECT_THAT(shown, HasSubstr("nördlich ??[2Jx"));
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
}

TEST(Json, HasEveryFigureAndNullWhereNoneWasRead) {
  State state = made_state();
  state.gpus[0].managed = ManagedNow{"manage", "leased"};
  const auto json = nlohmann::json::parse(report::render_json(top_json(state)));
  EXPECT_EQ(json["gpus"][0]["rubatod"]["state"], "leased");
  EXPECT_TRUE(json["gpus"][0]["rubatod"]["slurm_job"].is_null());
  EXPECT_TRUE(json["gpus"][1]["rubatod"].is_null());
  EXPECT_EQ(json["schema"], "rubato.top/1");
  EXPECT_EQ(json["gpus"][0]["power_w"], 155.2);
  EXPECT_EQ(json["gpus"][0]["limiter"][0], "power_cap");
  EXPECT_TRUE(json["gpus"][1]["sm_clock_mhz"].is_null());
  EXPECT_EQ(json["runs"][0]["doing"], "hold");
  EXPECT_EQ(json["runs"][0]["saving"]["energy"]["fraction"], 0.123);
  EXPECT_EQ(json["processes"][0]["run_id"], "20261122-121000-000-aaaa");
  EXPECT_TRUE(json["processes"][1]["run_id"].is_null());
}

}  // namespace
}  // namespace rubato::cli::top
