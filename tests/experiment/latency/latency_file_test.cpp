#include "experiment/latency/latency_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rubato::experiment {
namespace {

using nlohmann::json;
using testing::HasSubstr;

predict::Clocks at(double sm, double memory = 7001) {
  return {Megahertz(sm), Megahertz(memory)};
}

PairLatency pair(const predict::Clocks& from, const predict::Clocks& to, double ms) {
  const DelaySummary delays{Seconds(ms / 1e3), Seconds(ms / 1e3), Seconds(ms / 500), 10, 1};
  return {.from = from, .to = to, .clock = delays, .power = {}, .lost = 0, .why_not = {}};
}

LatencyTable table() {
  LatencyTable out;
  out.uuid = "GPU-1";
  out.gpu = "NVIDIA RTX A4000";
  out.driver_version = "535.1";
  out.kind = Kind::modelled;
  out.measured_on = "2026-11-22";
  out.load = "fp32";
  out.repeats = 10;
  out.polling_gap = Seconds(0.001);
  out.power_period = Seconds(0.1);
  out.pairs = {pair(at(900), at(1500), 20), pair(at(1500), at(900), 40), pair(at(1200), at(1500), 30),
               pair(at(1200), at(1200, 5001), 70)};
  out.pairs.push_back(
      {.from = at(1200), .to = at(2100), .clock = {}, .power = {}, .lost = 2, .why_not = "limit"});
  out.overall = {Seconds(0.035), Seconds(0.07), Seconds(0.14), 40, 4};
  return out;
}

TEST(LatencyFile, WhatIsWrittenIsReadBack) {
  const auto read = read_latency(write_latency(table()));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(write_latency(*read), write_latency(table()));
  EXPECT_EQ(read->pairs.size(), 5U);
  EXPECT_EQ(read->pairs[0].clock->worst, Seconds(0.04));
  EXPECT_FALSE(read->pairs[4].clock);
  EXPECT_EQ(read->pairs[4].why_not, "limit");
  EXPECT_FALSE(read->asking);
  EXPECT_EQ(read->kind, Kind::modelled);
}

TEST(LatencyFile, EveryMissingMemberIsNamedAndRefused) {
  const json whole = json::parse(write_latency(table()));
  for (const auto& [key, value] : whole.items()) {
    json without = whole;
    without.erase(key);
    const auto read = read_latency(without.dump());
    ASSERT_FALSE(read) << key;
    EXPECT_THAT(read.error().what, HasSubstr(key == "schema" ? "rubato.latency/1" : key));
  }
}

TEST(LatencyFile, DamagedValuesAreRefusedWithWhatTheyHadToBe) {
  const auto refused = [](const char* pointer, const json& value) {
    json damaged = json::parse(write_latency(table()));
    damaged[json::json_pointer(pointer)] = value;
    const auto read = read_latency(damaged.dump());
    EXPECT_FALSE(read) << pointer << " = " << value;
    return read ? std::string() : read.error().what;
  };
  EXPECT_THAT(refused("/pairs/0/clock/median_s", -1),
              HasSubstr("pair 1, clock: \"median_s\" is -1 where a number from 0 to 3600 is needed"));
  EXPECT_THAT(refused("/pairs/0/clock/median_s", 0.9), HasSubstr("ascend"));
  EXPECT_THAT(refused("/pairs/0/clock/outliers", 11), HasSubstr("outliers"));
  EXPECT_THAT(refused("/pairs/0/from/sm_clock_mhz", 0),
              HasSubstr("pair 1, from: \"sm_clock_mhz\" is 0 where a number from 1 to"));
  EXPECT_THAT(refused("/polling_gap_s", "soon"), HasSubstr("number"));
  EXPECT_THAT(refused("/pairs", json::array()), HasSubstr("1 to"));
  EXPECT_THAT(refused("/schema", "rubato.latency/2"), HasSubstr("reads rubato.latency/1"));
  EXPECT_FALSE(read_latency("{"));
  EXPECT_FALSE(read_latency("[]"));
}

TEST(TypicalDelay, IsTheMeasuredPairsOwnMedian) {
  EXPECT_EQ(typical_delay(table(), at(900), at(1500)).delay, Seconds(0.020));
  EXPECT_EQ(typical_delay(table(), at(900), at(1500)).source, "measured");
  EXPECT_EQ(typical_delay(table(), at(900), at(900)).delay, Seconds(0));
}

TEST(TypicalDelay, GoesByTheTargetWhereThePairWasNotMeasured) {
  // To 1500 MHz: 20 and 30 ms from elsewhere; to 900 MHz: 40 ms.
  EXPECT_NEAR(typical_delay(table(), at(1000), at(1500)).delay.value(), 0.025, 1e-9);
  const auto between = typical_delay(table(), at(1500), at(1200));
  EXPECT_NEAR(between.delay.value(), (0.040 + 0.025) / 2, 1e-9);
  EXPECT_EQ(between.source, "between those to 900 and 1500 MHz");
  EXPECT_NEAR(typical_delay(table(), at(1500), at(600)).delay.value(), 0.040, 1e-9);
  EXPECT_NEAR(typical_delay(table(), at(900), at(2100)).delay.value(), 0.025, 1e-9);
}

TEST(TypicalDelay, OfAMemoryClockComesFromOnesOfMemoryClocksWhereThereAreAny) {
  EXPECT_NEAR(typical_delay(table(), at(1500, 5001), at(1500, 6501)).delay.value(), 0.070, 1e-9);
  LatencyTable without = table();
  without.pairs.erase(without.pairs.begin() + 3);
  const auto none = typical_delay(without, at(1500, 5001), at(1500, 6501));
  EXPECT_EQ(none.delay, Seconds(0.035));
  EXPECT_THAT(none.source, HasSubstr("were not measured"));
}

TEST(TypicalDelay, HasTheWayThroughTheGuardInIt) {
  LatencyTable asked = table();
  asked.asking = Seconds(0.002);
  EXPECT_NEAR(typical_delay(asked, at(900), at(1500)).delay.value(), 0.022, 1e-9);
  EXPECT_EQ(typical_delay(asked, at(900), at(900)).delay, Seconds(0)) << "nothing is asked for";
}

class LatencyStore : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("rubato-latency-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    setenv("XDG_STATE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    unsetenv("XDG_STATE_HOME");
  }
  std::filesystem::path folder_;
};

TEST_F(LatencyStore, KeepsOneFileForEachGpuAndSaysWhatToDoWhereThereIsNone) {
  const auto none = load_latency("GPU-1", "535.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_EQ(none.error().hint, "rubato latency --gpu GPU-1");
  const auto file = save_latency(table());
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(*file, folder_ / "rubato/latency/GPU-1.json");
  const auto loaded = load_latency("GPU-1", "535.1");
  ASSERT_TRUE(loaded) << loaded.error().what;
  EXPECT_EQ(write_latency(*loaded), write_latency(table()));
}

TEST_F(LatencyStore, WhatWasMeasuredUnderAnotherDriverOrOnAnotherGpuIsNotUsed) {
  ASSERT_TRUE(save_latency(table()));
  EXPECT_EQ(load_latency("GPU-1", "550.2").error().code, ErrorCode::conflict);
  std::filesystem::rename(folder_ / "rubato/latency/GPU-1.json", folder_ / "rubato/latency/GPU-2.json");
  EXPECT_EQ(load_latency("GPU-2", "535.1").error().code, ErrorCode::invalid_argument);
}

TEST_F(LatencyStore, AUuidLeadsNowhereElse) {
  EXPECT_EQ(latency_file_of("../../x")->parent_path(), folder_ / "rubato/latency");
}

}  // namespace
}  // namespace rubato::experiment
