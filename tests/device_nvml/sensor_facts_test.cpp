#include "device/nvml/sensor_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::device::nvml {
namespace {

using testing::HasSubstr;

TEST(SensorFactsTable, VoltaSeesHalfOfEachTwentyMilliseconds) {
  const auto facts = sensor_facts({7, 0}, "Tesla V100-PCIE-16GB", PowerPath::instant_field, "535.104");
  EXPECT_EQ(facts.update_period, 20_ms);
  EXPECT_EQ(facts.averaging_window, 10_ms);
  EXPECT_THAT(facts.source, HasSubstr("2312.02741"));
}

TEST(SensorFactsTable, TheWindowDependsOnWhichReadingIsUsed) {
  EXPECT_EQ(sensor_facts({8, 6}, "NVIDIA RTX A4000", PowerPath::instant_field, "535.104").averaging_window,
            80_ms);
  EXPECT_EQ(sensor_facts({8, 6}, "NVIDIA RTX A4000", PowerPath::power_usage, "535.104").averaging_window,
            1_s);
}

TEST(SensorFactsTable, Driver530GaveTheOldReadingAnotherMeaningSoItsWindowIsUnknown) {
  EXPECT_FALSE(
      sensor_facts({8, 6}, "NVIDIA RTX A4000", PowerPath::power_usage, "530.30.02").averaging_window);
}

TEST(SensorFactsTable, BoardsNobodyPublishedStayUnknown) {
  for (const auto* board : {"NVIDIA H200 NVL", "NVIDIA GH200 480GB"}) {
    const auto facts = sensor_facts({9, 0}, board, PowerPath::instant_field, "570.1");
    EXPECT_FALSE(facts.update_period) << board;
    EXPECT_FALSE(facts.averaging_window) << board;
    EXPECT_FALSE(facts.counter_sees_all) << board;
    EXPECT_THAT(facts.source, HasSubstr("nothing published"));
  }
  EXPECT_TRUE(sensor_facts({9, 0}, "NVIDIA H100 PCIe", PowerPath::instant_field, "570.1").update_period);
}

TEST(SensorFactsTable, WhatWasMeasuredForThisProjectSaysWhere) {
  const auto facts = sensor_facts({9, 0}, "NVIDIA H200", PowerPath::instant_field, "580.159.04");
  EXPECT_EQ(facts.update_period, 100_ms);
  EXPECT_EQ(facts.averaging_window, 30_ms);
  EXPECT_TRUE(facts.counter_sees_all);
  EXPECT_FALSE(sensor_facts({9, 0}, "NVIDIA H100 PCIe", PowerPath::instant_field, "580.1").counter_sees_all);
  EXPECT_EQ(sensor_facts({9, 0}, "NVIDIA H200", PowerPath::power_usage, "580.159.04").averaging_window, 1_s);
  EXPECT_THAT(facts.source, HasSubstr("docs/evidence/2026-11-28-h200.md"));
}

TEST(SensorFactsTable, AKeplerBoardLagsAndHasNoWindow) {
  const auto facts = sensor_facts({3, 7}, "Tesla K80", PowerPath::power_usage, "470.1");
  EXPECT_TRUE(facts.lag);
  EXPECT_FALSE(facts.averaging_window);
}

TEST(SensorFactsTable, EveryBoardIsUncalibratedUntilSomebodyCalibratesIt) {
  for (const auto* board : {"NVIDIA H200", "NVIDIA H100 PCIe"}) {
    const auto facts = sensor_facts({9, 0}, board, PowerPath::instant_field, "570.1");
    EXPECT_EQ(facts.calibration_band, kUncalibratedBand) << board;
    EXPECT_EQ(facts.calibration_floor, kUncalibratedFloor) << board;
  }
}

TEST(SensorFactsTable, TheCountersPeriodIsUnknownEverywhere) {
  EXPECT_FALSE(sensor_facts({7, 0}, "Tesla V100", PowerPath::instant_field, "535").counter_period);
}

TEST(SensorFactsTable, WithoutAPowerReadingThereIsNoWindow) {
  EXPECT_FALSE(sensor_facts({7, 0}, "Tesla V100", PowerPath::none, "535").averaging_window);
}

}  // namespace
}  // namespace rubato::device::nvml
