// What the study makes of boards and drivers that behave in known ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiment/latency/scripted_board.h"

namespace rubato::experiment {
namespace {

TEST(LatencyStudy, ADelayIsKnownToHalfTheGapBetweenTwoReadings) {
  ScriptedBoard board;
  LatencyStudy study(between_900_and_1500(10), Random(1));
  ASSERT_TRUE(board.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_NEAR(table->polling_gap.value(), 0.001, 1e-5);
  for (const PairLatency& pair : table->pairs) {
    EXPECT_NEAR(pair.clock->median.value(), 0.020, 0.00051);
    // Power is read every 4 ms, a fifth of the sensor's period.
    EXPECT_NEAR(pair.power->median.value(), 0.052, 0.003);
  }
  for (const TimedChange& change : study.changes()) EXPECT_LE(change.known_to.value(), 0.0005 + 1e-9);
}

TEST(LatencyStudy, EveryPairIsMeasuredAsOftenAsAskedInAnOrderOfTheSeed) {
  const auto order_of = [](std::uint64_t seed) {
    ScriptedBoard board;
    LatencyStudy study(between_900_and_1500(8), Random(seed));
    EXPECT_TRUE(board.conduct(study));
    std::vector<std::size_t> order;
    for (const TimedChange& change : study.changes()) order.push_back(change.pair);
    return order;
  };
  const auto first = order_of(1);
  EXPECT_EQ(std::count(first.begin(), first.end(), 0U), 8);
  EXPECT_EQ(std::count(first.begin(), first.end(), 1U), 8);
  EXPECT_EQ(first, order_of(1));
  EXPECT_NE(first, order_of(2));
}

TEST(LatencyStudy, AChangeWhoseReadingCameLateIsMeasuredOnceMore) {
  ScriptedBoard board;
  // From the sixth to the tenth change the machine is elsewhere for 8 ms just when the clock arrives.
  board.reading_takes = [&board](Seconds since) {
    const bool late = board.asked >= 12 && board.asked <= 20 && board.asked % 2 == 0;
    return late && since > Seconds(0.0185) && since < Seconds(0.020) ? Seconds(0.008) : Seconds(0);
  };
  LatencyStudy study(between_900_and_1500(20), Random(1));
  ASSERT_TRUE(board.conduct(study));
  EXPECT_EQ(study.changes().size(), 40U);
  EXPECT_EQ(board.asked, 2U * (40 + 5));
  for (const TimedChange& change : study.changes()) EXPECT_LT(change.known_to, Seconds(0.001));
}

TEST(LatencyStudy, ACallOfASimulatedGpuThatWasHeldUpIsNoDelayOfTheClock) {
  for (const bool simulated : {true, false}) {
    ScriptedBoard board;
    // From the sixth to the tenth change 30 ms pass between the moment told and the call.
    board.call_waits = [&board] {
      return board.asked >= 12 && board.asked <= 20 && board.asked % 2 == 0 ? Seconds(0.030) : Seconds(0);
    };
    auto plan = between_900_and_1500(20);
    plan.calls_take_no_time = simulated;
    LatencyStudy study(plan, Random(1));
    ASSERT_TRUE(board.conduct(study));
    const auto table = study.table();
    ASSERT_TRUE(table) << table.error().what;
    EXPECT_EQ(board.asked, 2U * (simulated ? 40 + 5 : 40));
    EXPECT_EQ(table->overall.outliers, simulated ? 0U : 5U) << "of a real one a long call is a long delay";
  }
}

TEST(LatencyStudy, AClockThatIsNotReadOutIsNotToldAsZero) {
  ScriptedBoard board;
  board.memory.reset();
  board.clock_delay = Seconds(60);
  LatencyStudy study(between_900_and_1500(2), Random(1));
  ASSERT_TRUE(board.conduct(study));
  ASSERT_FALSE(study.changes().empty());
  const std::string& why = study.changes().back().why_not;
  EXPECT_NE(why.find("never at"), std::string::npos) << why;
  EXPECT_EQ(why.find(" 0 MHz"), std::string::npos) << why;
}

TEST(LatencyStudy, AMachineThatIsAlwaysLateIsTakenAsItIsInTheEnd) {
  ScriptedBoard board;
  board.reading_takes = [](Seconds since) {
    return since > Seconds(0.015) && since < Seconds(0.020) ? Seconds(0.010) : Seconds(0);
  };
  LatencyStudy study(between_900_and_1500(5), Random(1));
  ASSERT_TRUE(board.conduct(study));
  EXPECT_EQ(study.changes().size(), 10U);
  EXPECT_EQ(board.asked, 2U * (10 + 10 * 3)) << "three more for each, and no more";
  for (const TimedChange& change : study.changes()) EXPECT_GT(change.known_to, Seconds(0.003));
}

TEST(LatencyStudy, AReadOutThatGoesThroughClocksInBetweenTellsHowOftenItIsRefreshed) {
  ScriptedBoard board;
  board.ramp = Seconds(0.006);  // at 8, 14 and 20 ms
  LatencyStudy study(between_900_and_1500(5), Random(1));
  ASSERT_TRUE(board.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  ASSERT_TRUE(table->readout_period);
  EXPECT_NEAR(table->readout_period->value(), 0.006, 0.0011);
  EXPECT_NEAR(table->overall.median.value(), 0.020, 0.0006) << "in between is not there";
}

TEST(LatencyStudy, AStepOfPowerThatDoesNotStandOutIsNotTimed) {
  ScriptedBoard board;
  auto plan = between_900_and_1500(4);
  plan.pairs = {{{Megahertz(1500), Megahertz(7001)}, {Megahertz(1507), Megahertz(7001)}}};  // 0.7 W
  LatencyStudy study(plan, Random(1));
  ASSERT_TRUE(board.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_NEAR(table->pairs[0].clock->median.value(), 0.020, 0.0006);
  EXPECT_FALSE(table->pairs[0].power);
}

TEST(LatencyStudy, APairThatTheDriverRefusesIsLeftOutAndTheOthersGoOn) {
  ScriptedBoard board;
  auto plan = between_900_and_1500(4);
  plan.pairs.push_back({plan.pairs[0].from, {Megahertz(1800), Megahertz(7001)}});
  board.refuses = [](const Setting& setting) -> std::optional<Error> {
    if (setting.sm_clock->max < Megahertz(1800)) return std::nullopt;
    return Error{ErrorCode::invalid_argument, "no such clock", {}};
  };
  LatencyStudy study(plan, Random(1));
  ASSERT_TRUE(board.conduct(study));
  const auto table = study.table();
  ASSERT_TRUE(table) << table.error().what;
  EXPECT_EQ(table->pairs[0].clock->n, 4U);
  EXPECT_FALSE(table->pairs[2].clock);
  EXPECT_EQ(table->pairs[2].why_not, "no such clock");
}

TEST(LatencyStudy, AGuardThatIsGoneEndsIt) {
  ScriptedBoard board;
  board.refuses = [](const Setting&) { return Error{ErrorCode::unavailable, "the guard is gone", {}}; };
  LatencyStudy study(between_900_and_1500(4), Random(1));
  const Status ended = board.conduct(study);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().what, "the guard is gone");
  EXPECT_EQ(study.table().error().code, ErrorCode::unavailable) << "nothing was timed";
}

TEST(LatencyStudy, OnlyTheKnobThatChangesIsAskedForSoThatOneRequestIsTimed) {
  ScriptedBoard board;
  std::vector<Setting> seen;
  board.refuses = [&seen](const Setting& setting) {
    seen.push_back(setting);
    return std::nullopt;
  };
  auto plan = between_900_and_1500(1);
  plan.memory_clock = true;
  LatencyStudy study(plan, Random(1));
  ASSERT_TRUE(board.conduct(study));
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_TRUE(seen[0].memory_clock) << "the way to the first clocks sets both";
  EXPECT_TRUE(seen[1].sm_clock);
  EXPECT_FALSE(seen[1].memory_clock);
}

}  // namespace
}  // namespace rubato::experiment
