// The pieces that stand between a network and a number: JSON paths, registers that leap, calls that take too
// long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "meter/ipmi/patient.h"
#include "meter/mqtt/json_number.h"
#include "meter/watched_register.h"

namespace rubato::meter {
namespace {

using ::testing::HasSubstr;

TEST(JsonMessage, FindsNumbersByNamesAndPositions) {
  const auto json = mqtt::JsonMessage::parse(R"({"ENERGY":{"Power":12.5,"Phases":[1,2,3]},"unit":"W"})");
  ASSERT_TRUE(json);
  EXPECT_DOUBLE_EQ(*json->number("ENERGY.Power"), 12.5);
  EXPECT_DOUBLE_EQ(*json->number("ENERGY.Phases.2"), 3);
  EXPECT_EQ(*json->text("unit"), "W");
  EXPECT_DOUBLE_EQ(*mqtt::JsonMessage::parse("12.5")->number(""), 12.5);
}

TEST(JsonMessage, NamesWhatIsNotThereOrNoNumber) {
  const auto json = mqtt::JsonMessage::parse(R"({"a":"12","b":null,"c":[1]})");
  ASSERT_TRUE(json);
  EXPECT_THAT(json->number("a").error().what, HasSubstr("'a' is of type string"));
  EXPECT_THAT(json->number("b").error().what, HasSubstr("null"));
  EXPECT_THAT(json->number("c.1").error().what, HasSubstr("'c.1'"));
  EXPECT_FALSE(json->number("a.b"));
  EXPECT_FALSE(json->number(""));
}

TEST(JsonMessage, RefusesHalfAMessageDeepNestsAndFloods) {
  EXPECT_FALSE(mqtt::JsonMessage::parse(R"({"ENERGY":{"Pow)"));
  EXPECT_FALSE(mqtt::JsonMessage::parse(""));
  EXPECT_FALSE(mqtt::JsonMessage::parse(std::string(60'000, '[')));
  EXPECT_FALSE(mqtt::JsonMessage::parse(std::string(70'000, ' ') + "1"));
}

TEST(WatchedRegister, UndoesWrapsOfItsWidth) {
  WatchedRegister energy("pdu", 1, 0xffffffffULL, Joules(1));
  EXPECT_EQ(energy.add(0xfffffff0ULL, TimePoint{0}).energy, Joules(0));
  const auto told = energy.add(14, TimePoint{0} + Seconds(1));
  ASSERT_TRUE(told.energy);
  EXPECT_NEAR(told.energy->value(), 30, 1);
  EXPECT_FALSE(told.trouble);
}

TEST(WatchedRegister, DoesNotHandOnALeapAndCountsOnFromThere) {
  WatchedRegister energy("pdu", 1, std::nullopt, Joules(1));
  static_cast<void>(energy.add(1000, TimePoint{0}));
  const auto leap = energy.add(1'000'001'000, TimePoint{0} + Seconds(10));
  EXPECT_FALSE(leap.energy);
  ASSERT_TRUE(leap.trouble);
  EXPECT_THAT(leap.trouble->what, HasSubstr("leapt by 1000000000 J"));
  EXPECT_EQ(energy.add(1'000'003'000, TimePoint{0} + Seconds(20)).energy, Joules(2000));
}

TEST(WatchedRegister, TakesOneStepOfACoarseRegisterForNoLeap) {
  WatchedRegister energy("pdu", 360e3, std::nullopt, Joules(360e3));
  static_cast<void>(energy.add(1, TimePoint{0}));
  EXPECT_EQ(energy.add(2, TimePoint{0} + Seconds(0.1)).energy, Joules(360e3));
}

TEST(Patient, GivesUpWaitingAndAnswersTheNextQuestionAfresh) {
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  std::atomic<int> calls{0};
  ipmi::Patient<int> patient([&] {
    if (++calls == 1) opened.wait();
    return calls.load();
  });
  EXPECT_FALSE(patient.call(Seconds(0.05)));  // the first call waits at the gate
  EXPECT_FALSE(patient.call(Seconds(0.05)));  // still the first
  gate.set_value();
  EXPECT_EQ(patient.call(Seconds(5)), 2);
}

TEST(Patient, LeavesACallThatNeverReturnsBehind) {
  auto gate = std::make_shared<std::promise<void>>();
  auto opened = gate->get_future().share();
  {
    ipmi::Patient<int> patient([opened] {
      opened.wait();
      return 0;
    });
    EXPECT_FALSE(patient.call(Seconds(0.01)));
  }
  gate->set_value();
}

}  // namespace
}  // namespace rubato::meter
