#include "experiment/noise_floor.h"

#include <gmock/gmock.h>

#include "made.h"

namespace rubato::experiment {
namespace {

using predict::Curve;
using testing::DoubleNear;
using testing::Optional;

TEST(NoiseFloor, OfACurveThatIsAPowerOfItsKnobIsNothing) {
  // Time as 1 / limit, power as limit.
  const std::vector<Curve> curves = {made_curve("w", "g", {{160, 1.25, 1}, {100, 2, 1}, {80, 2.5, 1}})};
  const NoiseFloor floor = noise_floor(curves);
  EXPECT_THAT(floor.time, Optional(DoubleNear(0, 1e-9)));
  EXPECT_THAT(floor.energy, Optional(DoubleNear(0, 1e-9)));
}

TEST(NoiseFloor, IsHowFarARowLiesFromTheOthers) {
  // At equal ratios of the limit: 1, 1.1, 1. The row between is 1 by the others, the last one 1.1 x 1.1.
  const std::vector<Curve> curves = {made_curve("w", "g", {{100, 1.1, 1.1}, {50, 1, 1}})};
  const NoiseFloor floor = noise_floor(curves);
  EXPECT_THAT(floor.time_between, Optional(DoubleNear(1 - 1 / 1.1, 1e-9)));
  EXPECT_THAT(floor.time, Optional(DoubleNear((1 - 1 / 1.1 + 0.21) / 2, 1e-9)));
}

TEST(NoiseFloor, OfTwoSettingsNobodyKnows) {
  const std::vector<Curve> curves = {made_curve("w", "g", {{100, 1.1, 1.1}})};
  EXPECT_FALSE(noise_floor(curves).time);
}

TEST(NoiseFloor, OverTwoKnobsARowIsPredictedAlongTheLineOnWhichItLiesBetweenOthers) {
  Curve curve;
  const auto add = [&](double sm, double memory, double time) {
    curve.rows.push_back({.at = {.sm_clock = Megahertz(sm), .memory_clock = Megahertz(memory)},
                          .time = Seconds(time),
                          .energy = Joules(100)});
  };
  // Along the memory clock the row at 1000, 2000 lies between two of the same time; along the SM clock at the
  // end.
  add(2000, 4000, 1);
  add(2000, 2000, 1);
  add(1000, 4000, 3);
  add(1000, 2000, 3);
  add(1000, 1000, 3);
  curve.known = {.gpu = "G", .at_default = curve.rows[0], .highest = curve.rows[0].at};
  const NoiseFloor floor = noise_floor(std::span(&curve, 1));
  EXPECT_THAT(floor.time_between, Optional(DoubleNear(0, 1e-9)));
}

}  // namespace
}  // namespace rubato::experiment
