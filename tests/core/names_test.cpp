#include <gtest/gtest.h>

#include "core/feature_schema.h"
#include "core/kind.h"
#include "core/restoration.h"
#include "core/setting.h"

namespace rubato {
namespace {

TEST(Names, EveryRestorationReadsBackAsItself) {
  for (const auto r :
       {Restoration::not_needed, Restoration::restored, Restoration::failed, Restoration::left_alone})
    EXPECT_EQ(parse_restoration(name_of(r)).value(), r);
}

TEST(Names, AnUnknownKnobIsRefusedWithTheKnownOnes) {
  const auto knob = parse_knob("voltage");
  ASSERT_FALSE(knob.has_value());
  EXPECT_NE(knob.error().hint.find("power-limit, sm-clock, memory-clock"), std::string::npos);
}

TEST(Describe, SaysASettingInWords) {
  EXPECT_EQ(describe(Setting{}), "nothing");
  EXPECT_EQ(describe(Setting{.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}}),
            "150 W, SM 1005 MHz");
  EXPECT_EQ(describe(Setting{.sm_clock = ClockRange{210_MHz, 1005_MHz}}), "SM 210-1005 MHz");
}

TEST(FeatureSchema, NamesEveryFeature) {
  for (const auto name : kFeatureNames) EXPECT_FALSE(name.empty());
}

}  // namespace
}  // namespace rubato
