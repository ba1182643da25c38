// A small sample of what rubato-shift-rate measures, with a seed of its own.
#include <gtest/gtest.h>

#include "shift_rate/gpoeo_rule.h"
#include "shift_rate/trial.h"

namespace rubato::shift_rate {
namespace {

constexpr std::uint64_t kSeed = 50000;

TEST(ShiftRate, TwoHoursOfEachKindOfNoiseHoldTheStatedRate) {
  std::uint64_t alarms = 0;
  double hours = 0;
  for (const Family& family : kFamilies) {
    const Quiet quiet = run_quiet(family, kSeed, 2);
    alarms += quiet.alarms;
    hours += quiet.hours;
  }
  EXPECT_GT(hours, 23);
  // 0.1 an hour: 2.4 are expected at most, and seven come once in a hundred such samples.
  EXPECT_LE(alarms, 6U);
}

TEST(ShiftRate, LargeChangesAreToldInEveryKindOfNoise) {
  for (const Family& family : kFamilies) {
    const Delays delays = run_changes(family, Changed::power, 0.5, kSeed, 4);
    EXPECT_EQ(delays.told + delays.spoiled, 4U) << family.name;
    EXPECT_EQ(delays.wrong_signal, 0U) << family.name;
  }
}

TEST(GpoeoRule, AlarmsFromEighteenPercentOnAndNeverForgets) {
  GpoeoRule rule;
  EXPECT_FALSE(rule.add(Watts(100)));
  EXPECT_FALSE(rule.add(Watts(119)));  // 19 / 109.5
  EXPECT_FALSE(rule.add(Watts(110)));
  EXPECT_TRUE(rule.add(Watts(120)));  // 20 / 110, however slowly it came there
}

}  // namespace
}  // namespace rubato::shift_rate
