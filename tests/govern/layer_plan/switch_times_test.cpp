#include "govern/layer_plan/switch_times.h"

#include <gmock/gmock.h>

#include "made_plan.h"

namespace rubato::govern {
namespace {

using testing::HasSubstr;

const SwitchLimits kLimits{.dwell = 0.05_s, .most_per_second = 10};

PhaseReading reading(double period = 1) {
  return {at_s(10), Seconds(period), 0.001_s, {0, 0.3, 0.9}};
}

// Where a phase begins is where its request was costed; the delay until the clocks change is in the plan.
TEST(SwitchTimes, EachRequestIsSentWhereItsPhaseBegins) {
  const auto times = switch_times(made_plan(), reading(), at_s(10.1), 1_s);
  ASSERT_EQ(times.size(), 2U);  // the optimizer runs on at the clocks of the next forward pass
  EXPECT_NEAR((times[0].at - at_s(10.3)).value(), 0, 1e-9);
  EXPECT_EQ(times[0].clocks, kSlow);
  EXPECT_NEAR((times[1].at - at_s(10.9)).value(), 0, 1e-9);
  EXPECT_EQ(times[1].clocks, kFast);
  EXPECT_NEAR((times[1].latest - at_s(10.925)).value(), 0, 1e-9) << "a quarter of the phase late at most";
  EXPECT_EQ(changes_in(made_plan()), 2U);
}

TEST(SwitchTimes, AMomentThatHasPassedIsNotAskedForAgain) {
  const auto times = switch_times(made_plan(), reading(), at_s(10.5), 1_s);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].clocks, kFast);
  EXPECT_NEAR((times[1].at - at_s(11.3)).value(), 0, 1e-9);
}

TEST(SwitchTimes, APlanOfOneSettingHasNone) {
  plan::LayerPlan plan = made_plan();
  for (auto& phase : plan.phases) phase.clocks = kMiddle;
  EXPECT_EQ(changes_in(plan), 0U);
  EXPECT_TRUE(switch_times(plan, reading(), at_s(10), 3_s).empty());
}

TEST(SwitchTimes, TooManyASecondOrTooNearIsRefusedWithTheFigures) {
  EXPECT_TRUE(can_be_sent(made_plan(), reading(), kLimits));
  const Status many = can_be_sent(made_plan(), reading(0.1), kLimits);
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().what, HasSubstr("20 requests a second, and no more than 10"));
  plan::LayerPlan plan = made_plan();
  SwitchLimits slow = kLimits;
  slow.dwell = 0.5_s;
  const Status near = can_be_sent(plan, reading(), slow);
  ASSERT_FALSE(near);
  EXPECT_THAT(near.error().what, HasSubstr("400 ms apart here, and it wants 500 ms"));
}

TEST(SwitchQueue, SendsWhatIsDueAndDropsWhatIsLate) {
  SwitchQueue queue(kLimits);
  queue.plan({{at_s(1), at_s(1.1), kSlow}, {at_s(2), at_s(2.1), kFast}});
  EXPECT_EQ(*queue.next_due(), at_s(1));
  EXPECT_FALSE(queue.take(at_s(0.9)));
  EXPECT_EQ(queue.take(at_s(2.05))->clocks, kFast) << "the first one's moment has passed";
  EXPECT_EQ(queue.counts().late, 1U);
  EXPECT_EQ(queue.counts().sent, 1U);
  EXPECT_FALSE(queue.next_due());
}

TEST(SwitchQueue, ARepeatedPredictionSendsNothingTwice) {
  SwitchQueue queue(kLimits);
  queue.plan({{at_s(1), at_s(1.1), kSlow}});
  ASSERT_TRUE(queue.take(at_s(1)));
  queue.plan({{at_s(1.01), at_s(1.11), kSlow}, {at_s(2), at_s(2.1), kFast}});
  EXPECT_FALSE(queue.take(at_s(1.02)));
  EXPECT_EQ(*queue.next_due(), at_s(2));
  queue.forget_clocks();
  queue.plan({{at_s(3), at_s(3.1), kSlow}});
  EXPECT_TRUE(queue.take(at_s(3))) << "somebody else set the clocks meanwhile";
}

TEST(SwitchQueue, KeepsTheDwellAndDropsWhatItWouldMakeLate) {
  SwitchQueue queue(kLimits);
  queue.plan({{at_s(1), at_s(1.1), kSlow}, {at_s(1.03), at_s(1.06), kFast}, {at_s(1.07), at_s(1.09), kSlow}});
  ASSERT_TRUE(queue.take(at_s(1)));
  EXPECT_FALSE(queue.take(at_s(1.04))) << "40 ms after another, and 50 are kept";
  EXPECT_EQ(*queue.next_due(), at_s(1.05));
  ASSERT_TRUE(queue.take(at_s(1.05)));
  EXPECT_FALSE(queue.take(at_s(1.09)));
  EXPECT_EQ(queue.counts().limited, 1U);
}

TEST(SwitchQueue, NeverSendsMoreThanTheCapInAnySecond) {
  SwitchQueue queue({.dwell = 0_s, .most_per_second = 3});
  int sent = 0;
  for (int i = 0; i < 20; ++i) {
    const TimePoint at = at_s(0.05 * i);
    queue.plan({{at, at + 0.01_s, i % 2 == 0 ? kSlow : kFast}});
    if (queue.take(at)) ++sent;
  }
  EXPECT_EQ(sent, 3);
  EXPECT_GT(queue.counts().limited, 0U);
}

}  // namespace
}  // namespace rubato::govern
