#include "govern/rubato/history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "made_stretch.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kFound = 0;

void add(History& history, std::size_t setting, double from_s, double to_s, int era = 0) {
  history.add(setting, stretch(from_s, to_s), era);
}

TEST(History, ErrorsFallWithTheRootOfTheWork) {
  History history(kFound);
  for (int i = 0; i < 20; ++i) add(history, 1, i * 10.0, i * 10 + 5.0);
  EXPECT_NEAR(history.time_error(100), 0.001, 0.0001);
  EXPECT_NEAR(history.time_error(25), 0.002, 0.0001);
  EXPECT_GE(history.time_error(1e12), 0.0003);  // neighbouring units are alike
}

TEST(History, WhatCameAfterTheFoundSettingCanBeForgotten) {
  History history(kFound);
  add(history, 3, 0, 5);
  add(history, kFound, 10, 15);
  add(history, 4, 20, 25);
  history.look(2, stretch(30, 35), 0);
  history.forget_since_found();
  EXPECT_TRUE(history.measured(3));
  EXPECT_TRUE(history.measured(kFound));
  EXPECT_FALSE(history.measured(4));
  EXPECT_FALSE(history.measured(2));
}

TEST(History, BeforeAnythingWasSeenAUnitScattersByHalfAPercent) {
  EXPECT_NEAR(History(kFound).time_error(1), 0.005, 0.0001);
}

TEST(History, RowsSayWhereWhenAndHowLong) {
  History history(kFound);
  add(history, 4, 50, 60, 2);
  add(history, 3, 100, 110, 2);
  ASSERT_EQ(history.rows().size(), 2);
  const auto row = history.rows().back();
  EXPECT_EQ(row.at, 3);
  EXPECT_EQ(row.era, 2);
  EXPECT_NEAR(row.when.value(), 55, 1e-9) << "since the first began";
  EXPECT_NEAR(row.span.value(), 10, 1e-9);
  EXPECT_TRUE(history.measured(3));
  EXPECT_FALSE(history.measured(kFound));
}

TEST(History, ALookCountsUntilItIsForgottenAndForGoodOnceItIsBelieved) {
  History history(kFound);
  add(history, kFound, 0, 10);
  history.look(2, stretch(20, 25), 0);
  EXPECT_TRUE(history.measured(2));
  EXPECT_EQ(history.rows().size(), 2);
  EXPECT_TRUE(history.forget_looks());
  EXPECT_FALSE(history.measured(2));
  EXPECT_FALSE(history.forget_looks());
  history.look(2, stretch(20, 25), 0);
  history.believe();
  EXPECT_FALSE(history.forget_looks());
  EXPECT_EQ(history.work_at(2), 50);
  history.forget(2);
  EXPECT_FALSE(history.measured(2));
  EXPECT_TRUE(history.measured(kFound));
}

TEST(History, CloseStretchesOfOneSettingBecomeOneAndKeepTheirWork) {
  History history(kFound);
  for (int i = 0; i < 60; ++i) add(history, 1, i * 5.0, i * 5 + 5.0);
  EXPECT_LE(history.rows().size(), 44);
  EXPECT_EQ(history.work_at(1), 60 * 50);
  for (const auto& row : history.rows()) EXPECT_LE(row.span.value(), 60);
}

TEST(History, WhatLiesFarFromTheFoundSettingBecomesOneFirst) {
  History history(kFound);
  for (int i = 0; i < 15; ++i) {
    add(history, 1, i * 100.0, i * 100 + 5.0);
    add(history, kFound, i * 100 + 50.0, i * 100 + 55.0);
  }
  for (int i = 50; i < 90; ++i) add(history, 1, i * 100.0, i * 100 + 5.0);
  EXPECT_LE(history.rows().size(), 44);
  for (const auto& row : history.rows())
    if (row.when < 1500_s) {
      EXPECT_NEAR(row.span.value(), 5, 1e-9);
    }
  EXPECT_EQ(history.work_at(1), 55 * 50);
}

TEST(History, EverySecondOfAnEraIsKeptApartFromTheNext) {
  History history(kFound);
  for (int i = 0; i < 60; ++i) add(history, 1, i * 5.0, i * 5 + 5.0, i / 30);
  for (const auto& row : history.rows()) {
    const double begin = row.when.value() - row.span.value() / 2;
    const double end = row.when.value() + row.span.value() / 2;
    EXPECT_TRUE(end <= 150 + 1e-6 || begin >= 150 - 1e-6) << begin << " to " << end;
  }
}

TEST(History, FarFromTheFoundSettingLongStaysBecomeOneAndWhatLiesNearItStays) {
  History history(kFound);
  add(history, kFound, 0, 5);
  add(history, 2, 10, 15);
  for (int i = 1; i <= 80; ++i) add(history, 1, i * 100.0, i * 100 + 5.0);
  EXPECT_LE(history.rows().size(), 44);
  EXPECT_TRUE(history.measured(kFound));
  EXPECT_EQ(history.work_at(1), 80 * 50);
  ASSERT_EQ(history.rows()[1].at, 2);
  EXPECT_NEAR(history.rows()[1].span.value(), 5, 1e-9);
}

TEST(History, WhatErasThatAreOverToldOfASettingStays) {
  History history(kFound);
  for (int era = 0; era < 200; ++era) {
    const double begin = era * 100.0;
    const double level = 1 + 0.03 * std::sin(era);
    history.add(kFound, stretch(begin, begin + 5, level), era);
    history.add(1, stretch(begin + 10, begin + 15, level * 1.05), era);
    history.add(1, stretch(begin + 80, begin + 85, level * 1.3), era);  // too far from the found setting
  }
  EXPECT_LE(history.rows().size(), 44);
  EXPECT_GT(history.work_at(kFound), 100 * 20)
      << "of 50 each, what counts once a change may have gone unnoticed";
  std::optional<double> found;
  std::optional<double> other;
  for (const auto& row : history.rows()) {
    if (row.era != Contrasts::kEra) continue;
    (row.at == kFound ? found : other) = row.log_time;
  }
  ASSERT_TRUE(found && other);
  EXPECT_NEAR(*other - *found, std::log(1.05), 1e-9);
}

// Of a job that drifts and never jumps: how far the setting held is from the found one is known better with
// every control block.
TEST(History, WhatLongRunsToldOfASettingStays) {
  History history(kFound);
  history.drifts(0.005);
  const double hours = 10;
  double level = 1;
  for (double at = 0; at < hours * 3600; at += 900) {
    level = 1 + 0.005 * std::sin(at);
    history.add(kFound, stretch(at, at + 5, level), 0);
    for (double held = at + 6; held < at + 890; held += 13)
      history.add(1, stretch(held, held + 12, level * 1.05), 0);
  }
  EXPECT_LE(history.rows().size(), 44);
  EXPECT_GE(history.work_at(kFound), 0.75 * hours * 4 * 50);
  std::optional<double> found;
  std::optional<double> other;
  for (const auto& row : history.rows()) {
    if (row.era != Contrasts::kEra) continue;
    (row.at == kFound ? found : other) = row.log_time;
    EXPECT_LT(row.drifted.value_or(1), 0.02);
  }
  ASSERT_TRUE(found && other);
  EXPECT_NEAR(*other - *found, std::log(1.05), 3e-4);
}

TEST(History, WhatWasSeenSinceTheFoundSettingMayBeOfAnotherEra) {
  History history(kFound);
  add(history, 1, 0, 5);
  add(history, kFound, 10, 15);
  add(history, 1, 20, 25);
  history.look(2, stretch(30, 35), 0);
  history.part_from_found(7);
  for (const auto& row : history.rows()) EXPECT_EQ(row.era, row.when > 15_s ? 7 : 0);
}

TEST(History, AnEraThatIsOverAndShowsOneSettingTellsNothing) {
  History history(kFound);
  add(history, kFound, 0, 5, 0);
  add(history, 1, 10, 15, 0);
  for (int i = 0; i < 60; ++i) add(history, 2, 100 + i * 100.0, 105 + i * 100.0, 1 + i);
  EXPECT_LE(history.work_at(2), 44 * 50);
  EXPECT_TRUE(history.measured(kFound));
  EXPECT_TRUE(history.measured(1));
}

// A job that is known at more settings than there is room for, far from the found one.
TEST(History, WhereAllIsTakenWhatIsNewStaysAndWhatLittleIsKnownOfGoes) {
  History history(kFound);
  for (std::size_t setting = 1; setting <= 60; ++setting) {
    const double begin = static_cast<double>(setting) * 1000;
    for (int i = 0; i < 20; ++i) add(history, setting, begin + i * 10, begin + i * 10 + 9.0);
    EXPECT_EQ(history.work_at(setting), 20 * 50) << "of setting " << setting;
    EXPECT_LE(history.rows().size(), 44);
  }
}

// The same beside the found setting, in eras that are over.
TEST(History, WhereAllIsTakenByDifferencesTheOneThatLeastIsKnownOfGoes) {
  History history(kFound);
  for (int setting = 1; setting <= 60; ++setting) {
    const double begin = setting * 1000.0;
    add(history, kFound, begin, begin + 9, setting);
    for (int i = 1; i <= (setting == 5 ? 1 : 4); ++i)
      add(history, static_cast<std::size_t>(setting), begin + i * 10, begin + i * 10 + 9.0, setting);
    // Shares a setting with those before.
    add(history, 100, begin + 60, begin + 69, setting);
    EXPECT_TRUE(history.measured(static_cast<std::size_t>(setting))) << setting;
    EXPECT_LE(history.rows().size(), 44);
  }
  EXPECT_TRUE(history.measured(kFound));
  EXPECT_TRUE(history.measured(100));
  EXPECT_FALSE(history.measured(5));
}

TEST(History, WhatIsInheritedTellsNoBetterThanTwoSuchProgramsAreAlike) {
  History history(kFound);
  for (int i = 0; i < 20; ++i) add(history, i % 2 == 0 ? kFound : 3, i * 20.0, i * 20 + 10.0);
  history.inherit();
  EXPECT_GE(history.time_error(history.work_at(3)), 0.0099);
  EXPECT_TRUE(history.measured(3));
  const double before = history.work_at(3);
  add(history, 3, 500, 510);
  EXPECT_NEAR(history.work_at(3), before + 50, 1e-9) << "its own counts in full";
}

}  // namespace
}  // namespace rubato::govern
