#include "cli/report/emissions.h"

#include <gmock/gmock.h>

#include "base/text.h"

namespace rubato::cli {
namespace {

class Text final : public report::Sink {
 public:
  Status write(std::string_view text) override {
    text_ += text;
    return {};
  }
  /// The cell of the only row under `column`.
  [[nodiscard]] std::string cell(std::string_view column) const {
    const auto lines = split(text_, '\n');
    const auto names = split(lines.at(0), ',');
    const auto cells = split(lines.at(1), ',');
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == column) return std::string(cells.at(i));
    return "no such column";
  }

 private:
  std::string text_;
};

EnergyWindow hour(Joules energy) {
  EnergyWindow w;
  w.begin = TimePoint{0};
  w.end = TimePoint{0} + Seconds(3600);
  w.energy = energy;
  return w;
}

/// One GPU that drew 1 kWh in an hour, and channels as the test adds them.
class EmissionsTest : public testing::Test {
 protected:
  EmissionsTest() {
    run_.info.run_id = "r";
    run_.end.emplace();
    analyse::GpuSummary gpu;
    gpu.identity.name = "Tesla V100";
    gpu.energy = hour(Joules(3.6e6));
    summary_.gpus.push_back(gpu);
    summary_.total = gpu.energy;
    summary_.duration = Seconds(3600);
  }
  void channel(const std::string& meter, Scope scope, Joules energy, const std::string& name = {}) {
    record::ChannelRecord record;
    record.info.meter = meter;
    record.info.channel.scope = scope;
    record.info.channel.name = name;
    run_.channels.push_back(record);
    record::ChannelEnd end;
    end.channel = run_.channels.size() - 1;
    end.energy = hour(energy);
    run_.end->channels.push_back(end);
  }
  Text row(const std::optional<analyse::Co2Factor>& factor = {}) {
    Text text;
    EXPECT_TRUE(write_emissions(run_, summary_, factor, text));
    return text;
  }
  record::RunRecord run_;
  analyse::Summary summary_;
};

TEST_F(EmissionsTest, GpuEnergyIsInKilowattHours) {
  EXPECT_EQ(row().cell("gpu_energy"), "1");
  EXPECT_EQ(row().cell("gpu_power"), "1000");
  EXPECT_EQ(row().cell("duration"), "3600");
}

TEST_F(EmissionsTest, WhatWasNotMeasuredIsEmptyAndNotZero) {
  EXPECT_EQ(row().cell("cpu_energy"), "");
  EXPECT_EQ(row().cell("ram_energy"), "");
  EXPECT_EQ(row().cell("emissions"), "");
}

TEST_F(EmissionsTest, EmissionsComeFromTheUsersFactorOnly) {
  EXPECT_EQ(row(analyse::Co2Factor{.grams_per_kwh = 400, .region = "here"}).cell("emissions"), "0.4");
  EXPECT_EQ(row(analyse::Co2Factor{.grams_per_kwh = 400, .region = "here"}).cell("region"), "here");
}

TEST_F(EmissionsTest, EverySocketCountsAndTheWallDoesNot) {
  channel("rapl", Scope::cpu_package, Joules(1.8e6));
  channel("rapl", Scope::cpu_package, Joules(1.8e6));
  channel("snmp:pdu", Scope::node, Joules(9e6));
  EXPECT_EQ(row().cell("cpu_energy"), "1");
  EXPECT_EQ(row().cell("energy_consumed"), "2");
}

TEST_F(EmissionsTest, TwoMetersOfOnePackageAreNotAdded) {
  channel("rapl", Scope::cpu_package, Joules(3.6e6));
  channel("hwmon", Scope::cpu_package, Joules(3.6e6));
  EXPECT_EQ(row().cell("cpu_energy"), "1");
}

TEST_F(EmissionsTest, TwoMetersOfTwoPackagesAre) {
  channel("rapl:package-0", Scope::cpu_package, Joules(3.6e6), "package-0");
  channel("rapl:package-1", Scope::cpu_package, Joules(3.6e6), "package-1");
  EXPECT_EQ(row().cell("cpu_energy"), "2");
  channel("rapl:all", Scope::cpu_package, Joules(3.6e6), "package-1");
  EXPECT_EQ(row().cell("cpu_energy"), "2");
}

TEST_F(EmissionsTest, AGpuThatCouldNotBeReadLeavesTheSumOpen) {
  channel("rapl", Scope::cpu_package, Joules(3.6e6));
  summary_.gpus.front().energy.reset();
  summary_.total.reset();
  EXPECT_EQ(row().cell("gpu_energy"), "");
  EXPECT_EQ(row().cell("energy_consumed"), "");
}

}  // namespace
}  // namespace rubato::cli
