#include "experiment/calibrate/settings.h"

#include <gmock/gmock.h>

namespace rubato::experiment {
namespace {

using predict::KnobPoint;
using ::testing::ElementsAre;

KnobRanges ranges() {
  return {.limits = PowerLimits{.min = Watts(100),
                                .max = Watts(250),
                                .default_limit = Watts(250),
                                .requested = Watts(200),
                                .enforced = Watts(200)},
          .sm = {Megahertz(300), Megahertz(600), Megahertz(900), Megahertz(1200)},
          .memory = {Megahertz(800)}};
}

TEST(CalibrationSettings, SpanAKnobFromEndToEndWithoutWhatIsInForce) {
  const Knob knob = Knob::power_limit;
  EXPECT_THAT(*calibration_settings({&knob, 1}, ranges(), 4),
              ElementsAre(KnobPoint{.power_limit = Watts(100)}, KnobPoint{.power_limit = Watts(150)},
                          KnobPoint{.power_limit = Watts(250)}));
}

TEST(CalibrationSettings, ClocksAreThoseOfTheTableFromAThirdOn) {
  const Knob knob = Knob::sm_clock;
  EXPECT_THAT(*calibration_settings({&knob, 1}, ranges(), 3),
              ElementsAre(KnobPoint{.sm_clock = Megahertz(300)}, KnobPoint{.sm_clock = Megahertz(900)},
                          KnobPoint{.sm_clock = Megahertz(1200)}));
}

TEST(CalibrationSettings, KnobsAreMovedOneAtATime) {
  const std::vector<Knob> knobs = usual_knobs(ranges());
  ASSERT_THAT(knobs, ElementsAre(Knob::power_limit, Knob::sm_clock));
  const auto settings = calibration_settings(knobs, ranges());
  for (const KnobPoint& at : *settings) EXPECT_NE(at.power_limit.has_value(), at.sm_clock.has_value());
}

TEST(CalibrationSettings, AKnobTheGpuLacksIsNamed) {
  const Knob knob = Knob::sm_clock;
  const auto none = calibration_settings({&knob, 1}, {.limits = ranges().limits});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_supported);
  EXPECT_THAT(none.error().what, ::testing::HasSubstr("sm-clock"));
  const Knob pair = Knob::application_clocks;
  EXPECT_EQ(calibration_settings({&pair, 1}, ranges()).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace rubato::experiment
