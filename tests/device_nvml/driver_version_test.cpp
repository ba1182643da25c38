#include "device/nvml/driver_version.h"

#include <gtest/gtest.h>

namespace rubato::device::nvml {
namespace {

TEST(DriverVersions, AreComparedAsNumbers) {
  EXPECT_EQ(parse_driver_version("580.82.07"), (DriverVersion{580, 82}));
  EXPECT_EQ(parse_driver_version(" 352.39\n"), (DriverVersion{352, 39}));
  EXPECT_LT(parse_driver_version("580.9.1"), parse_driver_version("580.82.07"));
  EXPECT_LT(parse_driver_version("99.1"), parse_driver_version("580.1"));
}

TEST(DriverVersions, WhatIsNoVersionIsOlderThanAny) {
  for (const auto* text : {"", "580", "new.driver", "-1.2", "580.x", "1e300.1", "99999999999999.1"})
    EXPECT_EQ(parse_driver_version(text), DriverVersion{}) << text;
}

TEST(DriverVersions, TheMeaningOfFieldsChangedWithinBranch580) {
  EXPECT_LT(parse_driver_version("580.65.06"), kThermalTimesAreFields);
  EXPECT_GE(parse_driver_version("580.82.07"), kThermalTimesAreFields);
  EXPECT_GE(parse_driver_version("590.44.01"), kThermalTimesAreFields);
}

}  // namespace
}  // namespace rubato::device::nvml
