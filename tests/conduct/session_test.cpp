#include "conduct/session.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "conduct/session_rows.h"
#include "conduct/virtual_run.h"

namespace rubato::conduct {
namespace {

using device::sim::SimWorld;
using record::RunRecord;
using testing::HasSubstr;
using testing::IsEmpty;

/// The sensor's own gain and offset taken off, what is left is rubato's error.
void expect_energy_near_truth(const record::DeviceEnd& device, const TrueRun& truth) {
  ASSERT_TRUE(device.energy);
  const EnergyWindow& measured = *device.energy;
  EXPECT_LE(abs(measured.energy - truth.energy), measured.band_sampling + measured.band_calibration);
  const Joules sensed = truth.end.sensor_gain * truth.energy + truth.end.sensor_offset * truth.duration;
  EXPECT_LE(abs(measured.energy - sensed), measured.band_sampling);
  EXPECT_LT(measured.band_sampling, 0.01 * measured.energy);
}

TEST(Session, AFixedLimitIsHeldAgainstABaselineAndPutBackExactly) {
  VirtualRun virtual_run({});
  const RunRecord run = virtual_run.run();

  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
  EXPECT_EQ(device_end(run).restoration, Restoration::restored);
  EXPECT_EQ(device_end(run).found->power_limit, 200_W);
  EXPECT_EQ(device_end(run).requested->power_limit, 150_W);
  EXPECT_THAT(virtual_run.journals(), IsEmpty());
  EXPECT_THAT(virtual_run.warnings(), IsEmpty());

  EXPECT_EQ(run.iterations.size(), 200U);
  EXPECT_EQ(run.end->exit_code, 0);
  expect_energy_near_truth(device_end(run), virtual_run.truth());

  const auto baseline = blocks_of(run, BlockRole::baseline);
  const auto hold = blocks_of(run, BlockRole::hold);
  ASSERT_FALSE(baseline.empty());
  ASSERT_GE(hold.size(), 10U);
  for (const auto& block : baseline) EXPECT_TRUE(block.setting.empty());
  for (const auto& block : hold) EXPECT_GT(block.iterations, 0);
  EXPECT_EQ(holds_above_their_limit(run), 0);
  EXPECT_GT(baseline.front().energy.value().mean_power(), 155_W);
  for (const auto& decision : run.decisions) {
    if (decision.action == "hold") {
      EXPECT_EQ(decision.setting.power_limit, 150_W) << decision.why;
    }
  }
  const record::SettingChange& last = run.setting_changes.back();
  EXPECT_EQ(last.who, "guard");
  EXPECT_EQ(last.asked.power_limit, 200_W);
  EXPECT_EQ(last.requested.power_limit, 200_W);
  EXPECT_EQ(last.enforced, 200_W);
  EXPECT_THAT(run.gaps, IsEmpty());
}

TEST(Session, TheSameSeedsGiveTheSameRows) {
  const std::string first = rows_of(VirtualRun({}).run());
  EXPECT_EQ(first, rows_of(VirtualRun({}).run()));
  VirtualRunOptions other;
  other.train->seed = 2;
  EXPECT_NE(first, rows_of(VirtualRun(other).run()));
}

// The limit is read once a second and the lease takes the GPU at some moment: no moment between is unwatched.
// The driver refuses so many calls, from the first return to the found setting on.
VirtualRunOptions return_fails(std::uint64_t calls) {
  VirtualRunOptions options;
  options.train->iterations = 1600;
  options.scenario.faults = {{.call = device::sim::CallId::set_power_limit, .after = 1, .count = calls}};
  return options;
}

TEST(Session, AReturnThatFailsForAMomentIsMadeAgainAndNothingIsJudgedMeanwhile) {
  VirtualRun virtual_run(return_fails(3));
  const RunRecord run = virtual_run.run();
  EXPECT_THAT(virtual_run.warnings(), IsEmpty());
  const auto control = blocks_of(run, BlockRole::control);
  ASSERT_FALSE(control.empty());
  for (const auto& block : control) EXPECT_GT(block.energy.value().mean_power(), 155_W);
  EXPECT_EQ(holds_above_their_limit(run), 0);
  EXPECT_GT(times_set(run), 1) << "the setting is made again";
  const auto failed =
      std::count_if(run.setting_changes.begin(), run.setting_changes.end(),
                    [](const auto& change) { return change.outcome.starts_with("failed: "); });
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
}

TEST(Session, AReturnThatGoesOnFailingIsSaidOnceAndTriedToTheEnd) {
  VirtualRun virtual_run(return_fails(device::sim::kAlways));
  const RunRecord run = virtual_run.run();
  ASSERT_EQ(virtual_run.warnings().size(), 2U);
  EXPECT_THAT(virtual_run.warnings()[0].what, HasSubstr("could not be put back"));
  EXPECT_THAT(virtual_run.warnings()[1].hint, HasSubstr("rubato restore"));
  EXPECT_THAT(blocks_of(run, BlockRole::control), IsEmpty());
  EXPECT_EQ(device_end(run).restoration, Restoration::failed);
}

TEST(Session, AReloadOfTheDriverCostsNoEnergyAndLeavesNoSetting) {
  VirtualRun virtual_run({});
  virtual_run.at(40_s, [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.driver_reload(now)); });
  const RunRecord run = virtual_run.run();
  const auto& edges = run.devices.at(0).counter_edges;
  EXPECT_EQ(std::count_if(edges.begin(), edges.end(), [](const auto& edge) { return edge.reset; }), 1);
  expect_energy_near_truth(device_end(run), virtual_run.truth());
  ASSERT_EQ(virtual_run.warnings().size(), 1U);
  EXPECT_THAT(virtual_run.warnings()[0].what, HasSubstr("reloaded its driver"));
  EXPECT_TRUE(std::any_of(run.setting_changes.begin(), run.setting_changes.end(), [](const auto& change) {
    return change.who == "someone else" && change.requested.power_limit == 250_W;
  }));
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 250_W) << "what the reload set";
  EXPECT_EQ(device_end(run).restoration, Restoration::left_alone);
  EXPECT_EQ(judged_between(run, 42_s, 1000_s), 0);
  EXPECT_THAT(virtual_run.journals(), IsEmpty());
}

TEST(Session, AfterSilenceTheGuardRestoresAndTheSessionSetsAgain) {
  VirtualRun virtual_run({});
  virtual_run.silence(40_s, 46_s);
  const RunRecord run = virtual_run.run();
  EXPECT_EQ(times_set(run), 2);
  EXPECT_TRUE(std::any_of(run.decisions.begin(), run.decisions.end(),
                          [](const auto& d) { return d.action == "restored"; }));
  EXPECT_THAT(virtual_run.warnings(), IsEmpty());
  EXPECT_EQ(blocks_of(run, BlockRole::hold).back().setting.power_limit, 150_W);
  EXPECT_GT(blocks_of(run, BlockRole::hold).back().begin - VirtualRun::kBegin, 60_s);
  EXPECT_EQ(holds_above_their_limit(run), 0) << "what ran at the found limit meanwhile is no block at 150 W";
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
  EXPECT_EQ(device_end(run).restoration, Restoration::restored);
}

TEST(Session, WithoutRightsItOnlyMeasures) {
  VirtualRunOptions options;
  options.scenario.rights = device::sim::Rights::none;
  VirtualRun virtual_run(options);
  const RunRecord run = virtual_run.run();
  EXPECT_EQ(times_set(run), 0);
  EXPECT_EQ(virtual_run.truth().end.writes, 0U);
  EXPECT_EQ(device_end(run).restoration, Restoration::not_needed);
  EXPECT_THAT(blocks_of(run, BlockRole::hold), IsEmpty());
  EXPECT_FALSE(blocks_of(run, BlockRole::baseline).empty());
  EXPECT_EQ(virtual_run.warnings().size(), 1U);
  expect_energy_near_truth(device_end(run), virtual_run.truth());
}

TEST(Session, AGpuTheJobDoesNotUseIsNotTouched) {
  VirtualRunOptions options;
  options.profiles = {"v100", "v100"};
  VirtualRun virtual_run(options);
  const RunRecord run = virtual_run.run();
  ASSERT_EQ(run.devices.size(), 1U);
  EXPECT_GT(virtual_run.truth(0).end.writes, 0U);
  EXPECT_EQ(virtual_run.truth(1).end.writes, 0U);
  EXPECT_EQ(device_end(run, 0).restoration, Restoration::restored);
  ASSERT_EQ(run.bystanders.size(), 1U);
  ASSERT_TRUE(run.bystanders[0].energy);
  const EnergyWindow& beside = *run.bystanders[0].energy;
  EXPECT_LE(abs(beside.energy - virtual_run.truth(1).energy), beside.band_sampling + beside.band_calibration);
}

TEST(Session, ControlBlocksOfALongRunCostAtMostAHundredthOfIt) {
  VirtualRunOptions options;
  options.train->iterations = 1600;
  VirtualRun virtual_run(options);
  const RunRecord run = virtual_run.run();
  const auto control = blocks_of(run, BlockRole::control);
  ASSERT_FALSE(control.empty());
  for (const auto& block : control) {
    EXPECT_TRUE(block.setting.empty());
    EXPECT_GT(block.iterations, 0);
  }
  // All the time between putting the found limit back and setting 150 W again, draining included.
  Seconds away;
  std::optional<TimePoint> left;
  for (const auto& change : run.setting_changes) {
    if (change.who != "rubato") continue;
    if (change.asked.empty())
      left = change.at;
    else if (left)
      away += change.at - *std::exchange(left, std::nullopt);
  }
  EXPECT_GT(away, 1_s);
  EXPECT_LE(away, 0.01 * virtual_run.truth().duration);
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
}

TEST(Session, IdleGpusAreReadAtTheirSensorsPace) {
  VirtualRunOptions options;
  options.profiles = std::vector<std::string>(8, "v100");
  options.train.reset();
  options.wanted = {};
  options.length = 10_s;
  VirtualRun virtual_run(options);
  const RunRecord run = virtual_run.run();
  // Every 20 ms from the first moment to the last, and every second for the slow readings.
  EXPECT_EQ(run.end->cost.ticks, 8U * (501 + 10) + 1)
      << "at the last moment, only the first GPU's slow reading is due";
  ASSERT_EQ(run.devices.size(), 8U);
  for (std::size_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_NEAR(static_cast<double>(run.devices[gpu].fast.size()), 501, 1);
    expect_energy_near_truth(device_end(run, gpu), virtual_run.truth(static_cast<unsigned>(gpu)));
    EXPECT_EQ(virtual_run.truth(static_cast<unsigned>(gpu)).end.writes, 0U);
  }
  EXPECT_THAT(run.gaps, IsEmpty());
}

}  // namespace
}  // namespace rubato::conduct
