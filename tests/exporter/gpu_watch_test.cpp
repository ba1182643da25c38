#include "exporter/gpu_watch.h"

#include <gmock/gmock.h>

#include "fake_gpu.h"

namespace rubato::exporter {
namespace {

using testing_data::FakeGpu;

class GpuWatchTest : public testing::Test {
 protected:
  void run(Seconds time) {
    const TimePoint end = clock_.now() + time;
    while (watch_.next_due() < end) {
      clock_.advance_to(watch_.next_due());
      watch_.step(clock_.now());
      for (std::size_t i = 0; i < 2; ++i) {
        const auto& energy = watch_.state(i).energy;
        if (!energy) continue;
        EXPECT_GE(energy->energy, told_[i]) << "a counter fell";
        told_[i] = energy->energy;
      }
    }
    clock_.advance_to(end);
  }
  double joules(std::size_t gpu) {
    return watch_.state(gpu).energy ? watch_.state(gpu).energy->energy.value() : -1;
  }

  VirtualClock clock_;
  FakeGpu counts_{clock_, "GPU-counts"};
  FakeGpu plain_{clock_, "GPU-plain", false};
  GpuWatch watch_{{{&counts_, counts_.sensor()}, {&plain_, plain_.sensor()}}, clock_.now()};
  Joules told_[2];
};

TEST_F(GpuWatchTest, EnergyIsThatSinceTheFirstReading) {
  run(100.05_s);
  EXPECT_NEAR(joules(0), 10'000, 110);  // the latest reading is up to a second old
  EXPECT_NEAR(joules(1), 10'000, 15);
}

TEST_F(GpuWatchTest, ABoardThatCountsIsReadOnceASecondAndLosesNothing) {
  const std::uint64_t before = counts_.cost().calls;
  for (int i = 0; i < 100;
       ++i) {  // 0.35 s of every second at 300 W: looks once a second would see one of them
    counts_.draw(300_W);
    run(0.35_s);
    counts_.draw(50_W);
    run(0.65_s);
  }
  EXPECT_NEAR(joules(0), 100 * (0.35 * 300 + 0.65 * 50), 200);
  EXPECT_LE(counts_.cost().calls - before, 202U);  // one look at power and energy, one at the rest
}

TEST_F(GpuWatchTest, AReloadedDriverNeitherLosesEnergyNorInventsIt) {
  run(20_s);
  counts_.load_driver_again();
  run(20.05_s);
  EXPECT_NEAR(joules(0), 4000, 220);
  EXPECT_EQ(watch_.state(0).faults.resets, 1U);
  EXPECT_LT(watch_.state(0).fast->energy_counter->value(), 2100) << "the driver's own began anew";
}

TEST_F(GpuWatchTest, AGpuThatFallsSilentIsSoAfterFiveSecondsAndAloneInIt) {
  run(10_s);
  EXPECT_FALSE(watch_.state(0).silent(clock_.now()));
  counts_.silent = true;
  run(4_s);
  EXPECT_FALSE(watch_.state(0).silent(clock_.now()));
  run(4_s);
  EXPECT_TRUE(watch_.state(0).silent(clock_.now()));
  EXPECT_FALSE(watch_.state(1).silent(clock_.now()));
  EXPECT_EQ(watch_.state(0).silence, 0_s) << "it is not over";
  counts_.silent = false;
  run(10_s);
  EXPECT_FALSE(watch_.state(0).silent(clock_.now()));
  EXPECT_NEAR(watch_.state(0).silence.value(), 9, 5);  // asked every 5 s at the latest
  EXPECT_NEAR(joules(0), 2800, 120) << "the counter went on meanwhile";
}

TEST_F(GpuWatchTest, AGpuThatNeverAnsweredHasNoFigures) {
  counts_.silent = true;
  run(30_s);
  EXPECT_TRUE(watch_.state(0).silent(clock_.now()));
  EXPECT_FALSE(watch_.state(0).fast);
  EXPECT_FALSE(watch_.state(0).energy);
  counts_.silent = false;
  run(20_s);
  EXPECT_NEAR(joules(0), 1500, 510) << "from its first answer on";
}

TEST_F(GpuWatchTest, ARunThatBeganAMomentAgoIsFollowedHoweverLong) {
  run(100_s);
  const TimePoint begin = clock_.now() - 8_s;
  ASSERT_TRUE(watch_.energy_since(0, begin));
  run(3600_s);
  EXPECT_NEAR(watch_.energy_since(0, begin)->energy.value(), 360'800, 300);
  EXPECT_FALSE(watch_.energy_since(1, begin)) << "asked for too late";
  EXPECT_FALSE(watch_.energy_since(0, TimePoint{} - 1_s)) << "before the first reading";
}

}  // namespace
}  // namespace rubato::exporter
