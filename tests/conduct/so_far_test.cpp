#include "conduct/so_far.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::conduct {
namespace {

constexpr TimePoint kBegin{1'000'000'000'000};

class SoFarTest : public testing::Test {
 protected:
  void block(BlockRole role, int iterations, Seconds each, Watts power, const std::string& gpu = "GPU-0") {
    const bool found = role == BlockRole::baseline || role == BlockRole::control;
    const Seconds length = each * iterations;
    record::Block out{.role = role,
                      .gpu = {gpu},
                      .setting = found ? Setting{} : Setting{.power_limit = 150_W},
                      .begin = now_,
                      .end = now_ + length,
                      .iterations = iterations,
                      .energy = EnergyWindow{now_,
                                             now_ + length,
                                             power * length,
                                             0_J,
                                             0_J,
                                             {"energy_counter", "J", Scope::gpu, Kind::modelled, ""}}};
    now_ = now_ + length;
    account_.add(out);
  }

  TimePoint now_ = kBegin;
  SoFarAccount account_;
};

TEST_F(SoFarTest, NothingIsToldBeforeTheBaselineCanBeTrusted) {
  for (int i = 0; i < 3; ++i) block(BlockRole::baseline, 10, 1_s, 200_W);
  block(BlockRole::trial, 10, 1_s, 150_W);
  EXPECT_FALSE(account_.so_far());
  block(BlockRole::control, 10, 1_s, 200_W);
  EXPECT_TRUE(account_.so_far());
}

TEST_F(SoFarTest, WithoutNoiseItIsExactAndTriesCount) {
  for (int i = 0; i < 4; ++i) block(BlockRole::baseline, 10, 1_s, 200_W);
  EXPECT_FALSE(account_.so_far()) << "nothing but the found setting was used";
  block(BlockRole::trial, 10, 2_s, 150_W);   // 300 J for 200 J
  block(BlockRole::hold, 50, 1.1_s, 100_W);  // 110 J for 200 J
  const SoFar so_far = account_.so_far().value();
  EXPECT_NEAR(so_far.saved.value, (50 * 90 - 10 * 100) / (100.0 * 200), 1e-9);
  EXPECT_NEAR(so_far.saved.half_width, 0, 1e-9);
  EXPECT_NEAR(so_far.slower.value, (10 + 5) / 100.0, 1e-9);
  EXPECT_EQ(so_far.kind, Kind::modelled);
}

TEST_F(SoFarTest, AGpuThatTheJobTurnedOutNotToUseIsNoPartOfIt) {
  block(BlockRole::baseline, 1, 5_s, 60_W, "GPU-1");
  for (int i = 0; i < 4; ++i) block(BlockRole::baseline, 10, 1_s, 200_W);
  EXPECT_FALSE(account_.so_far());
  block(BlockRole::hold, 10, 1_s, 100_W);
  EXPECT_NEAR(account_.so_far().value().saved.value, 10 * 100 / (50.0 * 200), 1e-9);
}

TEST_F(SoFarTest, ANoisyBaselineWidensTheInterval) {
  for (const double watts : {190.0, 210.0, 195.0, 205.0}) block(BlockRole::baseline, 10, 1_s, Watts(watts));
  block(BlockRole::hold, 60, 1_s, 150_W);
  const SoFar so_far = account_.so_far().value();
  // One block scatters by 9.1 W (4.6 %); four of them tell the mean to 2.3 %, six held ones to 1.9 %.
  // Student's t with three degrees of freedom is 2.35, and six tenths of the run were held.
  EXPECT_NEAR(so_far.saved.half_width, 0.6 * 2.35 * std::hypot(0.0228, 0.0186), 0.004);
  EXPECT_NEAR(so_far.slower.half_width, 0, 1e-9);
}

TEST_F(SoFarTest, GpusOfOneJobAreSummedAndTheirTimeIsCountedOnce) {
  for (const std::string gpu : {"GPU-0", "GPU-1"}) {
    now_ = kBegin;
    for (int i = 0; i < 4; ++i) block(BlockRole::baseline, 10, 1_s, 200_W, gpu);
    block(BlockRole::hold, 40, 1.05_s, gpu == "GPU-0" ? 100_W : 200_W, gpu);
  }
  const SoFar so_far = account_.so_far().value();
  EXPECT_NEAR(so_far.slower.value, 2.0 / 80, 1e-9);
  EXPECT_NEAR(so_far.saved.value, (40 * 95 - 40 * 10) / (2 * 80 * 200.0), 1e-9);
}

}  // namespace
}  // namespace rubato::conduct
