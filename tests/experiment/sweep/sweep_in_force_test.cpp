#include "experiment/sweep_in_force.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "experiment/sweep/measurements.h"
#include "plan/setting_of.h"

namespace rubato::experiment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

/// Ten seconds of work at 1200 MHz under an enforced limit of 150 W, which stands from the first second on.
struct Training {
  record::RunRecord record;

  Training() {
    record.info.begin = at(0);
    record.end.emplace();
    record.end->end = at(10);
    record::DeviceRecord device;
    device.info.identity.id = GpuId{"GPU-1"};
    device.info.identity.name = "Tesla V100";
    for (int second = 1; second < 10; ++second) {
      SlowReading reading;
      reading.at = at(second);
      reading.sm_clock = Megahertz(1200);
      reading.sm_utilisation = 1.0;
      reading.requested_limit = Watts(150);
      reading.enforced_limit = Watts(150);
      reading.temperature = Celsius(50 + second);
      reading.limiter = LimiterReasons{.power_cap = true};
      device.slow.push_back(reading);
    }
    record.devices.push_back(std::move(device));
    change(limit(150), 1.2, "applied");
    record::DeviceEnd end;
    end.gpu = GpuId{"GPU-1"};
    end.energy = EnergyWindow{at(0), at(10), Joules(1500), Joules(15), Joules(75), {}};
    record.end->devices.push_back(std::move(end));
  }

  void change(const predict::KnobPoint& asked, double when, const std::string& outcome,
              const std::string& who = "rubato") {
    record::SettingChange change;
    change.at = at(when);
    change.gpu = GpuId{"GPU-1"};
    change.who = who;
    change.asked = plan::setting_of(asked);
    change.outcome = outcome;
    record.setting_changes.push_back(change);
  }

  std::vector<SlowReading>& slow() { return record.devices.front().slow; }
  [[nodiscard]] std::string why_not(const predict::KnobPoint& asked = limit(150)) const {
    return measurement_of(record, asked).not_used;
  }
};

TEST(SweepInForce, ASettingThatTookIsUsed) {
  const auto measured = measurement_of(Training().record, limit(150));
  EXPECT_EQ(measured.not_used, "");
  EXPECT_EQ(measured.time, Seconds(10));
  EXPECT_EQ(measured.energy, Joules(1500));
  EXPECT_DOUBLE_EQ(measured.energy_band, 0.01);
  EXPECT_EQ(measured.reached.sm_clock, Megahertz(1200));
  EXPECT_THAT(measured.reached.limiters, ElementsAre("power cap"));
  EXPECT_EQ(measured.temperature, Celsius(59));
}

TEST(SweepInForce, AControlNeedsNoSettingToHaveTaken) {
  Training run;
  run.record.setting_changes.clear();
  EXPECT_EQ(run.why_not({}), "");
}

TEST(SweepInForce, ALimitThatEndsElsewhereIsNotUsed) {
  Training run;
  for (auto& reading : run.slow()) reading.enforced_limit = Watts(180);
  EXPECT_THAT(run.why_not(), HasSubstr("enforced limit under load was 180 W"));
}

TEST(SweepInForce, ACallThatSaidItSucceededAndDidNothingIsNotBelieved) {
  Training run;
  for (auto& reading : run.slow()) reading.requested_limit = Watts(250);
  EXPECT_THAT(run.why_not(), HasSubstr("250 W was requested, not 150 W"));
}

TEST(SweepInForce, ARefusedSettingSaysTheRefusal) {
  Training run;
  run.record.setting_changes.front().outcome = "refused: no permission";
  EXPECT_EQ(run.why_not(), "refused: no permission");
}

TEST(SweepInForce, ASettingThatWasNeverMadeIsNotUsed) {
  Training run;
  run.record.setting_changes.clear();
  EXPECT_THAT(run.why_not(), HasSubstr("never set"));
}

TEST(SweepInForce, ASettingThatSomebodyElseChangedIsNotUsed) {
  Training run;
  run.change(limit(200), 5, "left alone", "someone else");
  EXPECT_THAT(run.why_not(), HasSubstr("did not stay"));
}

TEST(SweepInForce, PuttingItBackAtTheEndIsNoChange) {
  Training run;
  run.change({}, 10, "restored", "guard");
  EXPECT_EQ(run.why_not(), "");
}

TEST(SweepInForce, MostOfTheWorkMustBeDoneAtTheSetting) {
  Training run;
  run.record.setting_changes.front().at = at(3);
  EXPECT_THAT(run.why_not(), HasSubstr("before it could be set"));
}

TEST(SweepInForce, ARunTooShortToLookIsNotUsed) {
  Training run;
  run.slow().clear();
  EXPECT_THAT(run.why_not(), HasSubstr("no reading of the GPU at work"));
}

TEST(SweepInForce, ALimitReadsBackWithoutLoadAndAClockDoesNot) {
  Training run;
  for (auto& reading : run.slow()) reading.sm_utilisation = 0.04;
  const auto measured = measurement_of(run.record, limit(150));
  EXPECT_EQ(measured.not_used, "");
  EXPECT_THAT(measured.notes, ElementsAre(HasSubstr("read back without load")));
  EXPECT_THAT(run.why_not(limit(180)), HasSubstr("150 W was set in its place"));
  Training clocked;
  clocked.record.setting_changes.clear();
  clocked.change({.sm_clock = Megahertz(1200)}, 1.2, "applied");
  for (auto& reading : clocked.slow()) reading.sm_utilisation = 0.04;
  EXPECT_THAT(clocked.why_not({.sm_clock = Megahertz(1200)}), HasSubstr("no reading of the GPU at work"));
}

TEST(SweepInForce, ASettingThatWasPutBackAndSetAgainSaysSo) {
  Training run;
  run.change(limit(150), 6, "applied");
  EXPECT_THAT(run.why_not(), HasSubstr("it was set a second time"));
}

TEST(SweepInForce, AClockRequestThatIsNotHonouredIsNotUsed) {
  Training run;
  const predict::KnobPoint asked{.sm_clock = Megahertz(465)};
  run.record.setting_changes.clear();
  run.change(asked, 1.2, "applied");
  EXPECT_THAT(run.why_not(asked), HasSubstr("SM clock under load was 1200 MHz, asked for was 465 MHz"));
}

TEST(SweepInForce, AClockHeldDownByTheLimiterIsUsedAndNoted) {
  Training run;
  const predict::KnobPoint asked{.sm_clock = Megahertz(1410)};
  run.record.setting_changes.clear();
  run.change(asked, 1.2, "applied");
  const auto measured = measurement_of(run.record, asked);
  EXPECT_EQ(measured.not_used, "");
  EXPECT_THAT(measured.notes, ElementsAre(HasSubstr("held down by power cap")));
}

TEST(SweepInForce, AClockBelowTheRequestWithoutAReasonIsNotUsed) {
  Training run;
  const predict::KnobPoint asked{.sm_clock = Megahertz(1410)};
  run.record.setting_changes.clear();
  run.change(asked, 1.2, "applied");
  for (auto& reading : run.slow()) reading.limiter = LimiterReasons{.user_clocks = true};
  EXPECT_THAT(run.why_not(asked), HasSubstr("asked for was 1410 MHz"));
}

TEST(SweepInForce, MissingEnergyIsNeverZero) {
  Training run;
  run.record.end->devices.front().energy.reset();
  EXPECT_THAT(run.why_not(), HasSubstr("energy could not be read"));
}

TEST(SweepInForce, ARecordWithoutAnEndIsNotUsed) {
  Training run;
  run.record.end.reset();
  EXPECT_THAT(run.why_not(), HasSubstr("cut short"));
}

Reached under_load(double megahertz, std::vector<std::string> limiters = {}) {
  Reached reached;
  reached.sm_clock = Megahertz(megahertz);
  reached.limiters = std::move(limiters);
  return reached;
}

TEST(SweepInForce, ClocksThatSeemLockedInOneOfTwoControlsAreNamed) {
  const auto moved = found_clock_moved(under_load(900), under_load(1380, {"power cap"}));
  EXPECT_THAT(moved.value_or(""), HasSubstr("runs at 1380 MHz under load, and ran at 900 MHz"));
  EXPECT_TRUE(found_clock_moved(under_load(1380), under_load(900)));
}

TEST(SweepInForce, ClocksThatALimiterExplainsOrThatHardlyDifferAreNoLock) {
  EXPECT_FALSE(found_clock_moved(under_load(1380), under_load(900, {"power cap"})));
  EXPECT_FALSE(found_clock_moved(under_load(1380), under_load(1335)));
  EXPECT_FALSE(found_clock_moved(under_load(1380), Reached{}));
}

}  // namespace
}  // namespace rubato::experiment
