#include "cli/top/view.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "cli/top/draw.h"
#include "made_state.h"

namespace rubato::cli::top {
namespace {

using testing::ElementsAre;

Outcome type(View& view, char character, const State& state) {
  return press(view, {Key::character, character}, state, 10);
}

void strike(View& view, Key key, const State& state) {
  EXPECT_NE(press(view, {key, 0}, state, 10), Outcome::quit);
}

std::size_t row(Pane pane, const View& view, const State& state) {
  return selected_row(pane, view, state, order_of(pane, view, state));
}

TEST(View, GpusSortByWhatIsAsked) {
  State state = made_state();
  std::swap(state.gpus[0].power, state.gpus[1].power);
  View view;
  EXPECT_THAT(order_of(Pane::gpus, view, state), ElementsAre(0, 1));
  type(view, 's', state);
  EXPECT_THAT(order_of(Pane::gpus, view, state), ElementsAre(1, 0));  // power
  type(view, 's', state);
  EXPECT_THAT(order_of(Pane::gpus, view, state), ElementsAre(0, 1));  // busy
  state.gpus[0].slow.sm_utilisation.reset();
  EXPECT_THAT(order_of(Pane::gpus, view, state), ElementsAre(1, 0)) << "what is not known stands last";
}

TEST(View, ASelectionStaysWithItsGpuWhereverThatIsShown) {
  State state = made_state();
  View view;
  strike(view, Key::down, state);
  EXPECT_EQ(row(Pane::gpus, view, state), 1U);
  state.gpus[1].power = 500_W;
  view.gpu_order = GpuOrder::power;
  EXPECT_EQ(row(Pane::gpus, view, state), 0U);
  state.gpus.erase(state.gpus.begin() + 1);
  EXPECT_EQ(row(Pane::gpus, view, state), 0U);
}

TEST(View, TheSelectionEndsAtTheEnds) {
  const State state = made_state();
  View view;
  strike(view, Key::up, state);
  EXPECT_EQ(row(Pane::gpus, view, state), 0U);
  strike(view, Key::page_down, state);
  EXPECT_EQ(row(Pane::gpus, view, state), 1U);
  strike(view, Key::home, state);
  EXPECT_EQ(row(Pane::gpus, view, state), 0U);
}

TEST(View, WhatIsFrozenStaysUntilItGoesOn) {
  State state = made_state();
  View view;
  type(view, ' ', state);
  state.gpus[0].power = 300_W;
  EXPECT_EQ(view.shown(state).gpus[0].power, 155.2_W);
  EXPECT_NE(draw(state, view, {24, 80}).text(0).find("frozen at 12:22:34"), std::string::npos);
  type(view, ' ', state);
  EXPECT_EQ(view.shown(state).gpus[0].power, 300_W);
}

TEST(View, HelpTakesTheKeysUntilOneLeavesIt) {
  const State state = made_state();
  View view;
  EXPECT_EQ(type(view, '?', state), Outcome::draw);
  EXPECT_TRUE(view.help);
  type(view, 'j', state);
  EXPECT_EQ(view.help_line, 1U);
  EXPECT_EQ(view.pane, Pane::gpus);
  strike(view, Key::escape, state);
  EXPECT_FALSE(view.help);
}

TEST(View, QuitsOnQ) {
  const State state = made_state();
  View view;
  EXPECT_EQ(type(view, 'q', state), Outcome::quit);
  type(view, 'h', state);
  EXPECT_EQ(type(view, 'q', state), Outcome::quit);
}

TEST(View, AnyKeysOnAnyStateDrawOnAnySize) {
  EXPECT_TRUE(rc::check([] {
    State state = made_state();
    if (*rc::gen::arbitrary<bool>()) state.gpus.clear();
    if (*rc::gen::arbitrary<bool>()) state.runs.clear();
    for (auto& process : state.processes)
      if (state.gpus.empty()) process.gpus.clear();
    View view;
    const auto keys =
        *rc::gen::container<std::string>(rc::gen::element('q', '?', 'j', 'k', '\t', 's', ' ', 'x'));
    for (const char key : keys) type(view, key, state);
    const Size size{*rc::gen::inRange<std::size_t>(1, 60), *rc::gen::inRange<std::size_t>(1, 250)};
    RC_ASSERT(draw(state, view, size).size() == size);
  }));
}

}  // namespace
}  // namespace rubato::cli::top
