// SNMP power strips against a real snmpd: the presets, the logins, and agents that lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "meter_net/snmp_subject.h"

namespace rubato::meter::testing {
namespace {

using ::testing::HasSubstr;
using Values = std::map<std::string, std::string, std::less<>>;

const std::string kPower = "1.3.6.1.4.1.9999.1.0";
const std::string kEnergy = "1.3.6.1.4.1.9999.2.0";
const std::string kRaritan = "1.3.6.1.4.1.13742.6.";

Values objects() {
  return {{"community", "secret"}, {"power_oid", kPower}, {"energy_oid", kEnergy}, {"energy_unit", "J"}};
}

class SnmpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = why_without("snmpd");
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    subject_ = std::make_unique<SnmpSubject>(objects(), kPower, kEnergy, 1, 1);
  }
  std::unique_ptr<Meter> opened(SnmpSubject& subject) {
    auto meter = subject.open();
    EXPECT_TRUE(meter) << meter.error().what << "\n" << subject.agent.log();
    return meter ? std::move(*meter) : nullptr;
  }
  /// A meter by the short form, through a fresh Surroundings without tables.
  Result<std::unique_ptr<Meter>> open_typed(const std::string& preset, const std::string& outlet) {
    static_cast<void>(opened(*subject_));  // until the agent listens
    ::setenv("RUBATO_SNMP_COMMUNITY", "secret", 1);
    auto meter = snmp::kind().open(cat(preset, "@127.0.0.1:", subject_->agent.port(), outlet),
                                   Surroundings{.clock = std::make_shared<VirtualClock>()});
    ::unsetenv("RUBATO_SNMP_COMMUNITY");
    return meter;
  }
  static double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::unique_ptr<SnmpSubject> subject_;
};

TEST_F(SnmpTest, ReadsAnApcStripInItsMibsUnits) {
  subject_->set("1.3.6.1.4.1.318.1.1.26.4.3.1.5.1", "integer", "52");  // hundredths of kW
  auto whole = open_typed("apc", "");
  ASSERT_TRUE(whole) << whole.error().what;
  EXPECT_EQ((*whole)->read()->at(0).power, Watts(520));
  subject_->set("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4", "integer", "87");  // W
  auto outlet = open_typed("apc", "/4");
  ASSERT_TRUE(outlet) << outlet.error().what;
  EXPECT_EQ((*outlet)->read()->at(0).power, Watts(87));
}

TEST_F(SnmpTest, NamesObjectAndDeviceWhereThereIsNoSuchOutlet) {
  const auto missing = open_typed("apc", "/99");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().what, HasSubstr("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.99"));
  EXPECT_THAT(missing.error().what, HasSubstr("127.0.0.1"));
}

TEST_F(SnmpTest, SaysWhatAModelWithoutMeteredOutletsAnswers) {
  subject_->set("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.4", "integer", "-1");
  const auto outlet = open_typed("apc", "/4");
  ASSERT_FALSE(outlet);
  EXPECT_THAT(outlet.error().what, HasSubstr("-1"));
}

TEST_F(SnmpTest, LogsInWithTheOlderHashOfVersionThree) {
  SnmpSubject subject({{"user", "oldmeter"},
                       {"auth", "SHA"},
                       {"auth_password", "authpassword"},
                       {"priv_password", "privpassword"},
                       {"power_oid", kPower}},
                      kPower, kEnergy, 1, 1);
  const auto meter = opened(subject);
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->read()->at(0).power, Watts(100));
}

TEST_F(SnmpTest, TellsAWrongPasswordFromASilentAgent) {
  for (const char* user : {"meter", "stranger"}) {
    SnmpSubject subject({{"user", user},
                         {"auth_password", "wrongpassword"},
                         {"priv_password", "privpassword"},
                         {"power_oid", kPower}},
                        kPower, kEnergy, 1, 1);
    const auto refused = subject.open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::no_permission) << refused.error().what;
    EXPECT_THAT(refused.error().hint, HasSubstr("auth_password"));
  }
}

TEST_F(SnmpTest, GivesUpInTimeWhereNobodyAnswersOrTheCommunityIsWrong) {
  auto settings = objects();
  settings["community"] = "wrong";
  SnmpSubject subject(settings, kPower, kEnergy, 1, 1);
  static_cast<void>(opened(*subject_));  // as long as an agent takes to start
  EXPECT_LT(seconds_of([&] {
              const auto refused = subject.open_now();
              ASSERT_FALSE(refused);
              EXPECT_EQ(refused.error().code, ErrorCode::timeout);
              EXPECT_THAT(refused.error().hint, HasSubstr("community"));
            }),
            kReadPatience.value() + 1);
  subject.agent.stop();
  EXPECT_LT(seconds_of([&] { EXPECT_FALSE(subject.open_now()); }), kReadPatience.value() + 1);
}

TEST_F(SnmpTest, AsksForEverythingInOneRequest) {
  const auto meter = opened(*subject_);
  ASSERT_TRUE(meter);
  const int before = subject_->relay().questions();
  ASSERT_TRUE(meter->read());
  EXPECT_EQ(subject_->relay().questions(), before + 1);
}

TEST_F(SnmpTest, LeavesAQuantityOutWhileItsTypeIsAnother) {
  const auto meter = opened(*subject_);
  ASSERT_TRUE(meter);
  subject_->set(kPower, "string", "100");
  auto read = meter->read();
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->at(0).power);
  EXPECT_TRUE(read->at(0).energy);
  ASSERT_TRUE(meter->complaint());
  EXPECT_THAT(meter->complaint()->what, HasSubstr("was INTEGER, now it is OCTET STRING"));
  subject_->show(Watts(100));
  EXPECT_EQ(meter->read()->at(0).power, Watts(100));
  EXPECT_FALSE(meter->complaint());
}

TEST_F(SnmpTest, UndoesTheWrapsOfEveryWidth) {
  for (const auto& [type, top] : {std::pair{"counter", "4294967290"}, std::pair{"gauge", "4294967290"},
                                  std::pair{"counter64", "18446744073709551610"}}) {
    subject_->set(kEnergy, type, top);
    const auto meter = opened(*subject_);
    ASSERT_TRUE(meter) << type;
    subject_->advance(Seconds(1), Watts(5));
    subject_->set(kEnergy, type, "4");
    const auto read = meter->read();
    ASSERT_TRUE(read);
    ASSERT_TRUE(read->at(0).energy) << type;
    EXPECT_NEAR(read->at(0).energy->value(), 10, 1) << type;
  }
}

TEST_F(SnmpTest, GoesOnWithTheOtherOutletsWhereOneDisappears) {
  SnmpSubject subject({{"community", "secret"}, {"preset", "apc"}, {"outlets", "1,2"}},
                      "1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.1", kEnergy, 1, 1);
  subject.set("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.2", "integer", "70");
  const auto meter = opened(subject);
  ASSERT_TRUE(meter);
  ASSERT_EQ(meter->read()->size(), 2U);
  subject.agent.values.erase(".1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.1");
  subject.agent.show();
  const auto read = meter->read();
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->at(0).channel, 1U);
  EXPECT_THAT(meter->complaint()->what, HasSubstr("outlet-1"));
}

class RaritanTest : public SnmpTest {
 protected:
  void SetUp() override {
    SnmpTest::SetUp();
    if (IsSkipped()) return;
    for (const auto& [object, value] :
         {std::pair{"5.2.3.1.4.1.1.5", "4210"}, std::pair{"3.3.4.1.6.1.1.5", "3"},
          std::pair{"3.3.4.1.7.1.1.5", "1"}, std::pair{"5.2.3.1.4.1.1.8", "1000"},
          std::pair{"3.3.4.1.6.1.1.8", "5"}, std::pair{"3.3.4.1.7.1.1.8", "0"}})
      subject_->set(kRaritan + object, "integer", value);
    auto meter = open_typed("raritan", "");
    ASSERT_TRUE(meter) << meter.error().what;
    meter_ = std::move(*meter);
  }
  std::unique_ptr<Meter> meter_;
};

TEST_F(RaritanTest, FollowsTheDecimalDigitsTheAgentStates) {
  EXPECT_EQ(meter_->read()->at(0).power, Watts(421));
  subject_->set(kRaritan + "3.3.4.1.7.1.1.5", "integer", "0");
  subject_->set(kRaritan + "5.2.3.1.4.1.1.5", "integer", "421");
  EXPECT_EQ(meter_->read()->at(0).power, Watts(421));
}

TEST_F(RaritanTest, LeavesAQuantityOutWhoseUnitIsNoLongerWatts) {
  subject_->set(kRaritan + "3.3.4.1.6.1.1.5", "integer", "4");  // volt-ampere
  const auto read = meter_->read();
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->at(0).power);
  EXPECT_THAT(meter_->complaint()->what, HasSubstr("the unit 4, needed 3 (watt)"));
}

}  // namespace
}  // namespace rubato::meter::testing
