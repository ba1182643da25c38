#include "lab/grid_surface.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "experiment/monotone_fit.h"

namespace rubato::lab {
namespace {

TEST(GridSurface, OneKnobDenoisedIsTheMonotoneFit) {
  const std::vector<SurfaceAxis> axes = {{{100, 125, 150, 175}, {100, 110, 125, 140, 175}}};
  const std::vector<double> time = {12, 9, 9.5, 8};
  const std::vector<double> spread_out = spread(axes, time, false, TruthKind::denoised);
  const experiment::MonotoneFit fit({{100, 12}, {125, 9}, {150, 9.5}, {175, 8}}, false);
  ASSERT_EQ(spread_out.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(spread_out[i], fit(axes[0].wanted[i]), 1e-12);
}

TEST(GridSurface, RawGoesThroughEveryRowAndInventsNothingBetween) {
  const std::vector<SurfaceAxis> axes = {{{100, 125, 150}, {100, 112, 125, 138, 150}}};
  const std::vector<double> out = spread(axes, {3, 1, 2}, false, TruthKind::raw);
  EXPECT_DOUBLE_EQ(out[0], 3);
  EXPECT_DOUBLE_EQ(out[2], 1);
  EXPECT_DOUBLE_EQ(out[4], 2);
  EXPECT_GE(out[1], 1);
  EXPECT_LE(out[3], 2);
}

TEST(GridSurface, TwoKnobsDenoisedNeverTurnAtTheRowsAlongEither) {
  const std::vector<SurfaceAxis> axes = {{{1, 2, 3, 4}, {1, 2, 3, 4}}, {{10, 20, 30}, {10, 20, 30}}};
  Random random(7);
  std::vector<double> noisy;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 3; ++b) noisy.push_back(10 + a + b + random.normal());
  const std::vector<double> out = made_monotone(axes, noisy, true);
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      if (a > 0) {
        EXPECT_GE(out[a * 3 + b], out[(a - 1) * 3 + b] - 1e-8);
      }
      if (b > 0) {
        EXPECT_GE(out[a * 3 + b], out[a * 3 + b - 1] - 1e-8);
      }
    }
}

TEST(GridSurface, TheLastAxisRunsFastest) {
  const std::vector<SurfaceAxis> axes = {{{0, 2}, {0, 1, 2}}, {{0, 4}, {0, 4}}};
  const std::vector<double> out = spread(axes, {0, 10, 2, 12}, true, TruthKind::denoised);
  EXPECT_EQ(out.size(), 6u);
  EXPECT_NEAR(out[2], 1, 1e-12);
  EXPECT_NEAR(out[3], 11, 1e-12);
}

}  // namespace
}  // namespace rubato::lab
