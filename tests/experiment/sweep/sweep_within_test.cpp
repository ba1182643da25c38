#include "experiment/sweep_within.h"

#include <gmock/gmock.h>

#include "experiment/sweep/measurements.h"
#include "plan/setting_of.h"

namespace rubato::experiment {
namespace {

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

/// One GPU; blocks of 10 iterations of 0.5 s and 50 J each.
struct Training {
  record::RunRecord record;
  double now = 0;

  Training() {
    record::DeviceRecord device;
    device.info.identity.id = GpuId{"GPU-1"};
    record.devices.push_back(std::move(device));
  }

  Training& block(BlockRole role, const predict::KnobPoint& point, std::int64_t iterations = 10) {
    const double length = 0.5 * static_cast<double>(iterations);
    record::Block block{role, GpuId{"GPU-1"}, plan::setting_of(point), at(now), at(now + length), iterations,
                        {}};
    block.energy = EnergyWindow{block.begin, block.end, Joules(50.0 * static_cast<double>(iterations)),
                                Joules(5),   {},        {}};
    record.blocks.push_back(block);
    SlowReading reading;
    reading.at = at(now + length / 2);
    reading.requested_limit = point.power_limit.value_or(Watts(250));
    reading.enforced_limit = reading.requested_limit;
    record.devices.front().slow.push_back(reading);
    now += length;
    return *this;
  }
  Training& drain(const predict::KnobPoint& point) { return block(BlockRole::warmup, point, 2); }
};

const std::vector<predict::KnobPoint> kSteps = {{}, limit(120), limit(200)};

TEST(SweepWithin, BlocksOfOneStretchAreOneMeasurementPerIteration) {
  Training run;
  run.block(BlockRole::control, {}).block(BlockRole::control, {}).drain(limit(120));
  run.block(BlockRole::hold, limit(120)).drain(limit(200)).block(BlockRole::hold, limit(200));
  const auto measured = measurements_within(run.record, kSteps, 10);
  ASSERT_EQ(measured.size(), 3U);
  EXPECT_EQ(measured[0].iterations, 20);
  EXPECT_EQ(measured[1].at, limit(120));
  for (const auto& m : measured) {
    EXPECT_EQ(m.not_used, "");
    EXPECT_NEAR(m.time.value(), 0.5, 1e-9);
    EXPECT_NEAR(m.energy.value(), 50, 1e-9);
  }
}

TEST(SweepWithin, AStretchThatWasBrokenOffIsPassedOver) {
  Training run;
  run.block(BlockRole::control, {}).drain(limit(120)).block(BlockRole::hold, limit(120), 4).drain(limit(120));
  run.block(BlockRole::hold, limit(120), 12);
  const auto measured = measurements_within(run.record, kSteps, 10);
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[1].iterations, 12);
}

TEST(SweepWithin, ARunThatEndedEarlyGivesTheFirstSteps) {
  Training run;
  run.block(BlockRole::control, {}).drain(limit(120));
  EXPECT_EQ(measurements_within(run.record, kSteps, 10).size(), 1U);
}

TEST(SweepWithin, ALimitThatDidNotTakeIsNotUsed) {
  Training run;
  run.block(BlockRole::control, {}).drain(limit(120)).block(BlockRole::hold, limit(120));
  for (auto& reading : run.record.devices.front().slow) reading.enforced_limit = Watts(180);
  EXPECT_NE(measurements_within(run.record, kSteps, 10).at(1).not_used, "");
}

TEST(SweepWithin, MissingEnergyIsNeverZero) {
  Training run;
  run.block(BlockRole::control, {});
  run.record.blocks.front().energy.reset();
  EXPECT_NE(measurements_within(run.record, kSteps, 10).at(0).not_used, "");
}

}  // namespace
}  // namespace rubato::experiment
