// Smart plugs against a real mosquitto: the plugs' own messages, brokers that refuse, vanish or say nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <chrono>
#include <thread>

#include "base/fd.h"
#include "meter_net/mqtt_subject.h"

namespace rubato::meter::testing {
namespace {

using ::testing::HasSubstr;
using Values = std::map<std::string, std::string, std::less<>>;

class MqttTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = why_without("mosquitto");
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    broker_ = std::make_unique<BrokerServer>();
  }
  Result<std::unique_ptr<Meter>> open(Values values) {
    values["kind"] = "mqtt";
    values.try_emplace("host", "127.0.0.1");
    values.try_emplace("port", cat(broker_->port()));
    Surroundings around{.clock = clock_};
    around.tables.push_back(MeterTable{"plug", std::move(values), "meters.toml"});
    return mqtt::kind().open("plug", around);
  }
  std::unique_ptr<Meter> opened(Values values) {
    auto meter = open(std::move(values));
    EXPECT_TRUE(meter) << meter.error().what;
    return meter ? std::move(*meter) : nullptr;
  }
  /// Until something is told, or wrong; the time of the wait is real.
  static Result<std::vector<MeterReading>> hear(Meter& meter) {
    for (int i = 0; i < 5; ++i) {
      auto read = meter.read();
      if (!read || !read->empty()) return read;
    }
    return fail(ErrorCode::timeout, "nothing heard");
  }
  std::unique_ptr<BrokerServer> broker_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
};

TEST_F(MqttTest, HearsAShellyOfTheFirstGeneration) {
  const auto meter = opened({{"preset", "shelly1"}, {"device", "shellyplug-s-1"}});
  ASSERT_TRUE(meter);
  broker_->publish("shellies/shellyplug-s-1/relay/0/power", "61.25");
  EXPECT_EQ(hear(*meter)->at(0).power, Watts(61.25));
  broker_->publish("shellies/shellyplug-s-1/relay/0/energy", "1000");
  ASSERT_EQ(hear(*meter)->at(0).energy, Joules(0));
  clock_->advance(Seconds(120));
  broker_->publish("shellies/shellyplug-s-1/relay/0/energy", "1002");  // watt-minutes
  EXPECT_EQ(hear(*meter)->at(0).energy, Joules(120));
}

TEST_F(MqttTest, HearsEachOutletOfAShellyOfTheSecondGeneration) {
  const auto meter = opened({{"preset", "shelly2"}, {"device", "strip"}, {"outlets", "0,1"}});
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->channels()[0].scope, Scope::rail);
  broker_->publish("strip/status/switch:1",
                   R"({"id":1,"apower":80.5,"aenergy":{"total":12.345,"by_minute":[1,2,3]}})");
  const auto told = hear(*meter);
  ASSERT_TRUE(told) << told.error().what;
  ASSERT_EQ(told->size(), 1U);
  EXPECT_EQ(told->at(0).channel, 1U);
  EXPECT_EQ(told->at(0).power, Watts(80.5));
}

TEST_F(MqttTest, AsksATasmotaForItsStatusWhereToldToAndHearsTheAnswer) {
  const auto meter = opened({{"preset", "tasmota"}, {"device", "plug1"}, {"poll_s", "2"}});
  ASSERT_TRUE(meter);
  Process device({unpacked("usr/bin/mosquitto_sub").string(), "-h", "127.0.0.1", "-p", cat(broker_->port()),
                  "-C", "1", "-W", "10", "-v", "-t", "cmnd/plug1/#"},
                 broker_->folder().file("asked"));
  while (device.runs() && broker_->folder().read("asked").empty()) {
    static_cast<void>(meter->read());
    clock_->advance(Seconds(2));
  }
  EXPECT_THAT(broker_->folder().read("asked"), HasSubstr("cmnd/plug1/STATUS 8"));
  broker_->publish("stat/plug1/STATUS8", R"({"StatusSNS":{"Time":"x","ENERGY":{"Total":1.5,"Power":44}}})");
  const auto told = hear(*meter);
  ASSERT_TRUE(told) << told.error().what;
  EXPECT_EQ(told->at(0).power, Watts(44));
}

TEST_F(MqttTest, DoesNotTakeWhatTheBrokerKeptForNew) {
  broker_->publish("t/plug", R"({"power":999})", {"-r"});
  const auto meter = opened({{"topic", "t/plug"}, {"power_path", "power"}});
  ASSERT_TRUE(meter);
  const auto kept = meter->read();
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->empty());
  broker_->publish("t/plug", R"({"power":5})");
  EXPECT_EQ(hear(*meter)->at(0).power, Watts(5));
}

TEST_F(MqttTest, LeavesReadingsOutWhileTheMessageStatesAnotherUnit) {
  const auto meter =
      opened({{"topic", "t"}, {"power_path", "v"}, {"power_unit", "kW"}, {"power_unit_path", "u"}});
  ASSERT_TRUE(meter);
  broker_->publish("t", R"({"v":0.5,"u":"kW"})");
  EXPECT_EQ(hear(*meter)->at(0).power, Watts(500));
  broker_->publish("t", R"({"v":500,"u":"W"})");
  const auto changed = hear(*meter);
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().what, HasSubstr("states the unit 'W', needed 'kW'"));
  broker_->publish("t", R"({"v":0.6,"u":"kW"})");
  EXPECT_EQ(hear(*meter)->at(0).power, Watts(600));
}

TEST_F(MqttTest, SaysWhatIsMissingInAMessageAndKeepsTheRest) {
  const auto meter = opened({{"preset", "tasmota"}, {"device", "plug1"}});
  ASSERT_TRUE(meter);
  broker_->publish("tele/plug1/SENSOR", R"({"ENERGY":{"Power":12}})");
  const auto told = hear(*meter);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->at(0).power, Watts(12));
  EXPECT_FALSE(told->at(0).energy);
  EXPECT_THAT(meter->complaint()->what, HasSubstr("'ENERGY.Total'"));
}

TEST_F(MqttTest, SaysSinceWhenTheBrokerIsGoneAndComesBackWithIt) {
  const auto meter = opened({{"topic", "t"}, {"power_path", ""}});
  ASSERT_TRUE(meter);
  broker_->stop();
  ASSERT_FALSE(hear(*meter));
  clock_->advance(Seconds(42));
  const auto gone = meter->read();
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().what, HasSubstr("no readings for 42 s"));
  broker_->start();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  auto back = meter->read();
  while ((!back || back->empty()) && std::chrono::steady_clock::now() < deadline) {
    broker_->publish("t", "7");
    back = meter->read();
  }
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->at(0).power, Watts(7));
}

TEST_F(MqttTest, SaysWhenADeviceFellSilentOrWasNeverHeard) {
  const auto meter = opened({{"topic", "t"}, {"power_path", ""}});
  ASSERT_TRUE(meter);
  clock_->advance(Seconds(61));
  const auto never = meter->read();
  ASSERT_FALSE(never);
  EXPECT_THAT(never.error().what, HasSubstr("nothing came on t for 61 s, since it was opened"));
  broker_->publish("t", "7");
  ASSERT_TRUE(hear(*meter));
  clock_->advance(Seconds(300));
  EXPECT_FALSE(meter->read());
}

TEST_F(MqttTest, NamesARefusedLogin) {
  broker_->folder().write("users", "");
  ASSERT_EQ(run({unpacked("usr/bin/mosquitto_passwd").string(), "-b",
                 broker_->folder().file("users").string(), "meter", "right"},
                broker_->folder().file("log")),
            0);
  broker_->stop();
  broker_->start(
      cat("allow_anonymous false\npassword_file ", broker_->folder().file("users").string(), "\n"));
  const auto refused = open({{"topic", "t"}, {"power_path", ""}, {"user", "meter"}, {"password", "wrong"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::no_permission) << refused.error().what;
  EXPECT_TRUE(open({{"topic", "t"}, {"power_path", ""}, {"user", "meter"}, {"password", "right"}}));
}

TEST_F(MqttTest, GivesUpInTimeWhereNobodyListensAndWhereSomebodyListensButSaysNothing) {
  broker_->stop();
  const auto refused = open({{"topic", "t"}, {"power_path", ""}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable) << refused.error().what;

  const ScopedFd mute(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  ASSERT_EQ(::bind(mute.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(mute.get(), 1), 0);
  ASSERT_EQ(::getsockname(mute.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto silent = open({{"topic", "t"}, {"power_path", ""}, {"port", cat(ntohs(address.sin_port))}});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::timeout) << silent.error().what;
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            std::chrono::duration<double>(kReadPatience.value() + 1));
}

}  // namespace
}  // namespace rubato::meter::testing
