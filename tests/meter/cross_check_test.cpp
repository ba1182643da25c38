// The same files read by rubato and by prometheus-node-exporter give the same joules and watts.
#include <gtest/gtest.h>

#include "base/text.h"
#include "meter/hwmon_subject.h"
#include "meter/node_exporter.h"
#include "meter/rapl_subject.h"

namespace rubato::meter::testing {
namespace {

class CrossCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = node_exporter_program();
    if (!program_)
      GTEST_SKIP() << "no prometheus-node-exporter under build/servers: tools/unpack-test-servers";
  }
  /// The value of the only metric whose name begins so and whose labels hold `label`.
  static double value(const std::map<std::string, double>& metrics, const std::string& name,
                      const std::string& label) {
    std::optional<double> found;
    for (const auto& [key, number] : metrics)
      if (key.starts_with(name + "{") && key.find(label) != std::string::npos) {
        EXPECT_FALSE(found) << name << " " << label << " twice";
        found = number;
      }
    EXPECT_TRUE(found) << name << " " << label;
    return found.value_or(-1);
  }
  std::optional<std::filesystem::path> program_;
};

TEST_F(CrossCheck, BothCountTheSameJoulesOfEveryPackageAndMemory) {
  RaplSubject machine;
  NodeExporter exporter(*program_, machine.tree.path("/sys"));
  auto meter = rapl::kind().open("", machine.around());
  ASSERT_TRUE(meter) << meter.error().what;
  ASSERT_TRUE((*meter)->read());
  const auto before = exporter.metrics();
  ASSERT_FALSE(before.empty()) << "node_exporter does not answer";
  machine.count("intel-rapl:1") += 5'000'000;  // one socket works harder
  machine.advance(60_s, 123.456_W);
  const auto read = (*meter)->read();
  ASSERT_TRUE(read);
  const auto after = exporter.metrics();
  const std::map<std::string, std::string> zones{{"package-0", "intel-rapl:0\""},
                                                 {"dram-0", "intel-rapl:0:0\""},
                                                 {"package-1", "intel-rapl:1\""},
                                                 {"dram-1", "intel-rapl:1:0\""}};
  ASSERT_EQ(read->size(), zones.size());
  for (const MeterReading& reading : *read) {
    const std::string& channel = (*meter)->channels()[reading.channel].name;
    const std::string metric = cat("node_rapl_", channel.substr(0, channel.find('-')), "_joules_total");
    const double joules = value(after, metric, zones.at(channel)) - value(before, metric, zones.at(channel));
    EXPECT_NEAR(reading.energy->value(), joules, 1e-3) << channel;
    EXPECT_GT(joules, 7400);
  }
}

TEST_F(CrossCheck, BothReadTheSameWattsAndJoulesOfHwmonChips) {
  HwmonSubject machine;
  machine.advance(10_s, 42.5_W);
  NodeExporter exporter(*program_, machine.tree.path("/sys"));
  auto meter = hwmon::kind().open("", machine.around());
  ASSERT_TRUE(meter) << meter.error().what;
  ASSERT_TRUE((*meter)->read());
  const auto before = exporter.metrics();
  ASSERT_FALSE(before.empty()) << "node_exporter does not answer";
  machine.advance(10_s, 70_W);
  const auto read = (*meter)->read();
  ASSERT_TRUE(read);
  const auto after = exporter.metrics();
  int compared = 0;
  for (const MeterReading& reading : *read) {
    const std::string& channel = (*meter)->channels()[reading.channel].name;
    if (channel == "ina226/power1") {
      EXPECT_NEAR(reading.power->value(), value(after, "node_hwmon_power_watt", "chip=\"ina226\""), 1e-6);
      ++compared;
    } else if (channel == "xe/energy1") {
      const std::string metric = "node_hwmon_energy_joule_total";
      EXPECT_NEAR(reading.energy->value(),
                  value(after, metric, "chip=\"xe\"") - value(before, metric, "chip=\"xe\""), 1e-6);
      ++compared;
    } else if (channel == "ina3221/rail2") {
      const double volts = value(after, "node_hwmon_in_volts", "chip=\"ina3221\"");
      EXPECT_NEAR(reading.power->value(), volts * value(after, "node_hwmon_curr_amps", "chip=\"ina3221\""),
                  1e-6);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 3);
}

}  // namespace
}  // namespace rubato::meter::testing
