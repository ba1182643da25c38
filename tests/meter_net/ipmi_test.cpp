// Management controllers against a real ipmi_sim: logins, controllers that cannot measure, and slow ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter_net/ipmi_subject.h"

namespace rubato::meter::testing {
namespace {

using ::testing::HasSubstr;
using Login = std::map<std::string, std::string, std::less<>>;

class IpmiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = why_without("ipmi_sim");
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
  static Error refused(IpmiSubject& subject) {
    EXPECT_TRUE(subject.sim.is_built()) << subject.sim.log();
    const auto meter = subject.open();
    if (meter) {
      ADD_FAILURE() << "opened";
      return {};
    }
    EXPECT_FALSE(meter.error().hint.empty());
    return meter.error();
  }
};

TEST_F(IpmiTest, ReadsWattsAndSaysOverWhatTheControllerAverages) {
  IpmiSubject subject;
  const auto meter = subject.open();
  ASSERT_TRUE(meter) << meter.error().what << subject.sim.log();
  EXPECT_EQ((*meter)->read()->at(0).power, Watts(100));
  EXPECT_THAT((*meter)->channels()[0].sensor.source, HasSubstr("statistics over 1 s"));
  EXPECT_EQ((*meter)->channels()[0].scope, Scope::node);
}

TEST_F(IpmiTest, TellsAWrongPasswordFromAMissingPrivilege) {
  IpmiSubject wrong({{"user", "meter"}, {"password", "nonsense"}, {"privilege", "admin"}});
  const Error password = refused(wrong);
  EXPECT_EQ(password.code, ErrorCode::no_permission) << password.what;
  EXPECT_THAT(password.hint, HasSubstr("password"));
  IpmiSubject guest({{"user", "guest"}, {"password", "guestpw"}});
  const Error privilege = refused(guest);
  EXPECT_EQ(privilege.code, ErrorCode::no_permission) << privilege.what;
  EXPECT_THAT(privilege.hint, HasSubstr("privilege"));
}

TEST_F(IpmiTest, SaysWhereAControllerCannotMeasurePower) {
  for (const auto& [shown, code] :
       {std::pair{"none", ErrorCode::not_supported}, std::pair{"off", ErrorCode::unavailable},
        std::pair{"0", ErrorCode::corrupt}}) {
    IpmiSubject subject;
    subject.sim.measure(shown);
    const Error error = refused(subject);
    EXPECT_EQ(error.code, code) << shown << ": " << error.what;
  }
}

TEST_F(IpmiTest, NeverTakesZeroForAReadingAndComesBack) {
  IpmiSubject subject;
  const auto meter = subject.open();
  ASSERT_TRUE(meter) << meter.error().what;
  subject.sim.measure("0");
  EXPECT_FALSE((*meter)->read());
  subject.sim.measure("250");
  const auto read = (*meter)->read();
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->at(0).power, Watts(250));
}

TEST_F(IpmiTest, GivesUpInTimeWhereNobodyAnswers) {
  IpmiSubject subject;
  subject.relay().relay(Relaying::nothing);
  const auto begin = std::chrono::steady_clock::now();
  const auto silent = subject.open_now();
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::timeout) << silent.error().what;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(7));
}

}  // namespace
}  // namespace rubato::meter::testing
