#include "govern/power_budget/job_boards.h"

#include <gmock/gmock.h>

#include "govern/power_budget/power_budget_strategy.h"

namespace rubato::govern {
namespace {

using testing::ElementsAre;

Board board(Watts limit) {
  return {.name = "GPU",
          .least = 100_W,
          .found = 250_W,
          .limit = limit,
          .counts = true,
          .steered = true,
          .give_back = false,
          .state = {},
          .tally = {}};
}

Observation of(std::vector<Board> boards) {
  Observation out;
  out.boards = std::move(boards);
  return out;
}

TEST(JobBoards, AreRegroupedWhereOneIsNoLongerSteered) {
  Observation o = of({board(250_W), board(250_W)});
  JobBoards boards;
  EXPECT_TRUE(boards.regrouped(o));
  EXPECT_FALSE(boards.regrouped(o));
  o.boards[1].steered = false;
  EXPECT_TRUE(boards.regrouped(o));
  EXPECT_THAT(boards.members(), ElementsAre(0U));
  EXPECT_EQ(boards.others(), 250_W);
}

TEST(JobBoards, AFloorIsNewsOnce) {
  const Observation o = of({board(130_W)});
  JobBoards boards;
  ASSERT_TRUE(boards.regrouped(o));
  EXPECT_TRUE(boards.learn_floors(o, {110_W}));
  EXPECT_FALSE(boards.learn_floors(o, {110_W}));
  EXPECT_EQ(boards.ranges(o).front().least, 130_W);
}

// Its limit is not the run's any more, and would stay lowered until the end.
TEST(PowerBudgetStrategy, ABoardThatLeftIsGivenBackAlsoWhereNothingHasToBeLowered) {
  Observation o = of({board(250_W), board(150_W)});
  o.may_set = true;
  o.iterations = 10;
  o.boards[1].counts = false;
  o.boards[1].steered = false;
  o.boards[1].give_back = true;
  PowerBudgetStrategy strategy(600_W);
  EXPECT_EQ(strategy.next(o).action, Action::use_limits);
  o.boards[1].limit = 250_W;
  o.boards[1].give_back = false;
  o.now = o.now + 10_s;
  EXPECT_EQ(strategy.next(o).action, Action::wait);
}

}  // namespace
}  // namespace rubato::govern
