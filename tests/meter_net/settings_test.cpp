// What users type and configure for meters over the network, without any server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "meter/endpoint.h"
#include "meter/ipmi/kind.h"
#include "meter/ipmi/login.h"
#include "meter/mqtt/kind.h"
#include "meter/mqtt/plan.h"
#include "meter/snmp/kind.h"
#include "meter/snmp/target.h"

namespace rubato::meter {
namespace {

using ::testing::HasSubstr;
using Values = std::map<std::string, std::string, std::less<>>;

Surroundings with_table(Values values) {
  Surroundings around;
  around.clock = std::make_shared<VirtualClock>();
  around.tables.push_back(MeterTable{"rack", std::move(values), "meters.toml"});
  return around;
}

TEST(Endpoint, TakesNamesPortsAndBracketedAddresses) {
  EXPECT_EQ(parse_endpoint("pdu-3", 161)->text(), "pdu-3:161");
  EXPECT_EQ(parse_endpoint("pdu-3:1161", 161)->text(), "pdu-3:1161");
  EXPECT_EQ(parse_endpoint("[fe80::1]:99", 161)->host, "fe80::1");
  EXPECT_EQ(parse_endpoint("[::1]", 161)->text(), "[::1]:161");
  for (const char* bad : {"", ":161", "a:", "a:0", "a:65536", "a:x", "[::1", "[::1]x"})
    EXPECT_FALSE(parse_endpoint(bad, 161)) << bad;
}

TEST(Endpoint, ResolvesOnceToDigitsAndNamesAHostThatIsUnknown) {
  EXPECT_EQ(numeric({"127.0.0.1", 5}, SOCK_DGRAM)->text(), "127.0.0.1:5");
  const auto unknown = numeric({"no-such-host.invalid", 5}, SOCK_DGRAM);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().what, HasSubstr("no-such-host.invalid"));
}

TEST(SnmpTarget, ReadsAPresetAnOutletAndTheCommunityOfTheEnvironment) {
  ::setenv("RUBATO_SNMP_COMMUNITY", "hidden", 1);
  const auto target = snmp::parse_target("apc@pdu-3:1161/7", {});
  ::unsetenv("RUBATO_SNMP_COMMUNITY");
  ASSERT_TRUE(target) << target.error().what;
  EXPECT_EQ(target->agent.text(), "pdu-3:1161");
  EXPECT_EQ(target->login.community, "hidden");
  ASSERT_EQ(target->channels.size(), 1U);
  EXPECT_EQ(target->channels[0].channel.name, "outlet-7");
  EXPECT_EQ(target->channels[0].channel.scope, Scope::node);
  EXPECT_EQ(snmp::to_text(target->channels[0].power->value), "1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.7");
}

TEST(SnmpTarget, LeavesARegisterInStepsOf360KilojoulesOutUnlessAskedFor) {
  EXPECT_FALSE(snmp::parse_target("apc@pdu-3", {})->channels[0].channel.has_energy);
  const auto around = with_table({{"kind", "snmp"}, {"host", "h"}, {"preset", "apc"}, {"energy", "true"}});
  const auto target = snmp::parse_target("rack", around);
  ASSERT_TRUE(target) << target.error().what;
  EXPECT_TRUE(target->channels[0].channel.has_energy);
  EXPECT_DOUBLE_EQ(target->channels[0].energy->factor, 360e3);
}

TEST(SnmpTarget, TakesOneOfSeveralOutletsForAPartOfTheMachine) {
  const auto around =
      with_table({{"kind", "snmp"}, {"host", "h"}, {"preset", "raritan"}, {"outlets", "3, 4"}});
  const auto target = snmp::parse_target("rack", around);
  ASSERT_TRUE(target) << target.error().what;
  ASSERT_EQ(target->channels.size(), 2U);
  for (const auto& plan : target->channels) EXPECT_EQ(plan.channel.scope, Scope::rail);
}

TEST(SnmpTarget, NamesWhatIsWrong) {
  for (const char* typed : {"apd@host", "apc@", "apc@host/0", "apc@host/x"})
    EXPECT_FALSE(snmp::parse_target(typed, {})) << typed;
  const Values good{{"kind", "snmp"}, {"host", "h"}, {"power_oid", "1.3.6.1.4.1.1"}};
  ASSERT_TRUE(snmp::parse_target("rack", with_table(good)));
  const std::vector<std::pair<Values, std::string>> wrong{
      {{{"power_oid", "1.3.x"}}, "power_oid"},
      {{{"power_unit", "hp"}}, "power_unit"},
      {{{"power_scale", "0"}}, "power_scale"},
      {{{"preset", "acme"}}, "preset"},
      {{{"version", "1"}}, "version"},
      {{{"user", "u"}}, "auth_password"},
      {{{"user", "u"}, {"auth_password", "short"}}, "auth_password"},
      {{{"user", "u"}, {"auth_password", "longenough"}, {"auth", "MD5"}}, "auth"},
      {{{"outlets", "1"}}, "outlets"},
      {{{"colour", "red"}}, "colour"},
      {{{"period_s", "0"}}, "period_s"},
      {{{"energy_scale", "2"}}, "energy_oid"}};
  for (const auto& [more, key] : wrong) {
    Values values = good;
    for (const auto& [k, v] : more) values[k] = v;
    const auto target = snmp::parse_target("rack", with_table(values));
    ASSERT_FALSE(target) << key;
    EXPECT_THAT(target.error().what, HasSubstr(key));
  }
}

TEST(SnmpTarget, NeverShowsAPassword) {
  const auto target = snmp::parse_target("rack", with_table({{"kind", "snmp"},
                                                             {"host", "h"},
                                                             {"user", "u"},
                                                             {"auth_password", "geheim"},
                                                             {"power_oid", "1.3.6"}}));
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().what.find("geheim"), std::string::npos);
}

TEST(MqttPlan, KnowsThePlugsAndTheirTopics) {
  const auto tasmota = mqtt::parse_plan("tasmota@broker/desk", {});
  ASSERT_TRUE(tasmota) << tasmota.error().what;
  EXPECT_EQ(tasmota->broker.port, 1883);
  EXPECT_EQ(tasmota->feeds[0].topic, "tele/desk/SENSOR");
  EXPECT_FALSE(tasmota->poll);
  EXPECT_EQ(mqtt::parse_plan("shelly1@b/id", {})->feeds[0].topic, "shellies/id/relay/0/power");
  EXPECT_EQ(mqtt::parse_plan("shelly2@b:99/id", {})->feeds[0].topic, "id/status/switch:0");
  for (const char* typed :
       {"tasmota@broker", "tasmota@broker/", "tasmota@broker/+", "acme@broker/x", "tasmota@/x"})
    EXPECT_FALSE(mqtt::parse_plan(typed, {})) << typed;
}

TEST(MqttPlan, KnowsHowLongAPlugSaysNothing) {
  const auto quiet_for = [](const Result<mqtt::Plan>& plan) { return plan->channels[0].quiet_for; };
  EXPECT_EQ(quiet_for(mqtt::parse_plan("tasmota@b/x", {})), Seconds(600));
  EXPECT_EQ(quiet_for(mqtt::parse_plan("shelly1@b/x", {})), Seconds(60));
  EXPECT_EQ(quiet_for(mqtt::parse_plan("shelly2@b/x", {})), Seconds(120));
  Values polled{{"kind", "mqtt"}, {"host", "h"}, {"preset", "tasmota"}, {"device", "d"}, {"poll_s", "2"}};
  EXPECT_EQ(quiet_for(mqtt::parse_plan("rack", with_table(polled))), Seconds(60));
  polled["poll_s"] = "90";
  EXPECT_EQ(quiet_for(mqtt::parse_plan("rack", with_table(polled))), Seconds(180));
}

TEST(MqttPlan, NamesWhatIsWrong) {
  const Values good{{"kind", "mqtt"}, {"host", "h"}, {"topic", "a/b"}, {"power_path", "p"}};
  ASSERT_TRUE(mqtt::parse_plan("rack", with_table(good)));
  const std::vector<std::pair<Values, std::string>> wrong{{{{"topic", "a/+"}}, "topic"},
                                                          {{{"power_unit", "hp"}}, "power_unit"},
                                                          {{{"energy_unit", "Wh"}}, "energy_path"},
                                                          {{{"password", "x"}}, "user"},
                                                          {{{"device", "d"}}, "device"},
                                                          {{{"poll_s", "2"}}, "poll_s"},
                                                          {{{"preset", "tasmota"}, {"device", "d"}}, "topic"},
                                                          {{{"tls_ca", "/no/such.pem"}}, "tls_ca"},
                                                          {{{"scope", "galaxy"}}, "scope"}};
  for (const auto& [more, key] : wrong) {
    Values values = good;
    for (const auto& [k, v] : more) values[k] = v;
    const auto plan = mqtt::parse_plan("rack", with_table(values));
    ASSERT_FALSE(plan) << key;
    EXPECT_THAT(plan.error().what, HasSubstr(key));
  }
}

TEST(MqttMeter, SaysHowToAskTheBrokerAsItDoesItself) {
  Values values{
      {"kind", "mqtt"}, {"host", "127.0.0.1"}, {"port", "1"}, {"topic", "a/b"}, {"power_path", "p"}};
  const auto plain = mqtt::kind().open("rack", with_table(values));
  ASSERT_FALSE(plain) << "nobody listens at port 1";
  EXPECT_THAT(plain.error().hint, HasSubstr("mosquitto_sub -h 127.0.0.1 -p 1 -t '#'"));
  values["tls_ca"] = "/etc";
  values["user"] = "ada";
  values["password"] = "geheim";
  const auto secured = mqtt::kind().open("rack", with_table(values));
  ASSERT_FALSE(secured);
  EXPECT_THAT(secured.error().hint, HasSubstr("-p 1 --capath /etc -u ada -P PASSWORD -t '#'"));
}

TEST(IpmiTarget, NeedsADeviceHereOrATable) {
  Surroundings around;
  around.root = FsRoot("/nonexistent");
  const auto local = ipmi::parse_target("", around);
  ASSERT_FALSE(local);
  EXPECT_EQ(local.error().code, ErrorCode::not_found);
  EXPECT_THAT(local.error().hint, HasSubstr("modprobe"));
  const auto remote =
      ipmi::parse_target("rack", with_table({{"kind", "ipmi"}, {"host", "bmc"}, {"cipher", "17"}}));
  ASSERT_TRUE(remote) << remote.error().what;
  EXPECT_EQ(remote->login.controller->text(), "bmc:623");
  EXPECT_EQ(remote->login.cipher, 17);
}

TEST(NetworkMeters, AreFoundByTheirTablesWithoutContactingAnybody) {
  // Documentation addresses (RFC 5737): whoever contacted them would wait.
  Surroundings around;
  around.clock = std::make_shared<VirtualClock>();
  around.root = FsRoot("/nonexistent");
  around.tables = {
      MeterTable{"strip", {{"kind", "snmp"}, {"host", "192.0.2.1"}, {"preset", "apc"}}, "meters.toml"},
      MeterTable{"torn", {{"kind", "snmp"}, {"preset", "apc"}}, "meters.toml"},
      MeterTable{"plug",
                 {{"kind", "mqtt"}, {"host", "192.0.2.1"}, {"preset", "tasmota"}, {"device", "d"}},
                 "meters.toml"},
      MeterTable{"bmc", {{"kind", "ipmi"}, {"host", "192.0.2.1"}}, "meters.toml"}};
  const auto strips = snmp::kind().find(around);
  ASSERT_EQ(strips.size(), 2U);
  EXPECT_EQ(strips[0].spec, "snmp:strip");
  EXPECT_TRUE(strips[0].usable.available);
  EXPECT_FALSE(strips[1].usable.available);
  EXPECT_THAT(strips[1].usable.why_not, HasSubstr("host"));
  ASSERT_EQ(mqtt::kind().find(around).size(), 1U);
  EXPECT_EQ(mqtt::kind().find(around)[0].spec, "mqtt:plug");
  ASSERT_EQ(ipmi::kind().find(around).size(), 1U);
}

}  // namespace
}  // namespace rubato::meter
