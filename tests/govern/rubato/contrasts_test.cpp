#include "govern/rubato/contrasts.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/random.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kFound = 0;

plan::MeasuredStretch row(std::size_t at, double when_s, double log_time, double work = 50) {
  return {.at = at,
          .span = 5_s,
          .when = Seconds(when_s),
          .work = work,
          .log_time = log_time,
          .log_power = 5 - log_time};
}

plan::MeasuredStretch at(const Contrasts& contrasts, std::size_t setting) {
  for (const auto& r : contrasts.rows())
    if (r.at == setting) return r;
  ADD_FAILURE() << "nothing is known of setting " << setting;
  return contrasts.rows().front();
}

double slower(const Contrasts& contrasts, std::size_t setting) {
  return at(contrasts, setting).log_time - at(contrasts, kFound).log_time;
}

TEST(Contrasts, KeepHowSettingsDifferWhateverTheLevel) {
  Contrasts contrasts(kFound);
  for (int i = 0; i < 100; ++i) {
    const double level = 0.3 * std::sin(i);
    const double off = i % 2 == 0 ? 0.01 : -0.01;
    contrasts.add(row(kFound, i * 100.0, level), std::array{row(1, i * 100.0 + 20, level + 0.05 + off)}, 0);
  }
  ASSERT_EQ(contrasts.rows().size(), 2);
  EXPECT_NEAR(slower(contrasts, 1), 0.05, 1e-9);
  EXPECT_NEAR(at(contrasts, 1).log_power - at(contrasts, kFound).log_power, -0.05, 1e-9);
  EXPECT_NEAR(at(contrasts, 1).work, 100 * 50, 1e-6);
  const double once = 2 * (1 - plan::drift_together(row(kFound, 0, 0), row(1, 20, 0)));
  EXPECT_NEAR(at(contrasts, 1).drifted.value_or(0), once / 100, 0.1 * once / 100) << "it averages out";
  EXPECT_EQ(at(contrasts, kFound).drifted.value_or(1), 0);
}

TEST(Contrasts, ASettingSeenOnceTakesItsPlaceByWhatItsGroupShares) {
  Contrasts contrasts(kFound);
  contrasts.add(row(kFound, 0, 0.1), std::array{row(1, 20, 0.15)}, 0);
  contrasts.add(row(kFound, 500, 0.4), std::array{row(1, 480, 0.45), row(2, 530, 0.52), row(1, 525, 0.45)},
                0);
  EXPECT_NEAR(slower(contrasts, 1), 0.05, 1e-9);
  EXPECT_NEAR(slower(contrasts, 2), 0.12, 1e-9);
  EXPECT_LT(at(contrasts, 1).drifted.value_or(1), at(contrasts, 2).drifted.value_or(0)) << "seen twice";
}

// In a job that drifts a long stay tells how two settings differ at one time; many short ones tell it better.
TEST(Contrasts, WhereTheJobDriftsALongStayCountsLittleMoreThanAShortOne) {
  const auto contrast = [](double drift_per_unit) {
    Contrasts contrasts(kFound);
    contrasts.add(row(kFound, 0, 0.1, 4000), std::array{row(1, 60, 0.1 + 0.07, 4000)}, drift_per_unit);
    for (int i = 1; i <= 20; ++i)
      contrasts.add(row(kFound, i * 1000.0, 0.1), std::array{row(1, i * 1000.0 + 10, 0.1 + 0.05)},
                    drift_per_unit);
    return slower(contrasts, 1);
  };
  EXPECT_NEAR(contrast(0.25), 0.05, 0.003) << "0.5 % of drift, 1 % from one unit to the next";
  EXPECT_GT(contrast(0), 0.06);
}

// Of settings that took turns beside one another in groups of unequal work, one of which entered late: what
// is believed of each one's difference to the found setting is what many such runs show.
TEST(Contrasts, ErrorsAreThoseThatManyRunsShowOfASettingThatEnteredLateToo) {
  constexpr int kRuns = 4000;
  Random random(1);
  double squares_early = 0;
  double squares_late = 0;
  const auto seen = [&](std::size_t setting, double when, double work) {
    return row(setting, when, 0.05 * static_cast<double>(setting) + random.normal() / std::sqrt(work), work);
  };
  Contrasts contrasts(kFound);
  for (int run = 0; run < kRuns; ++run) {
    contrasts.clear();
    for (int i = 0; i < 12; ++i)
      contrasts.add(seen(kFound, i * 100.0, 30), std::array{seen(1, i * 100.0 + 20, 120)}, 0);
    for (int i = 12; i < 14; ++i)
      contrasts.add(seen(kFound, i * 100.0, 20),
                    std::array{seen(1, i * 100.0 + 20, 40), seen(2, i * 100.0 + 40, 900)}, 0);
    squares_early += std::pow(slower(contrasts, 1) - 0.05, 2) / kRuns;
    squares_late += std::pow(slower(contrasts, 2) - 0.10, 2) / kRuns;
  }
  const double found = 1 / at(contrasts, kFound).work;
  EXPECT_NEAR((1 / at(contrasts, 1).work + found) / squares_early, 1, 0.1);
  EXPECT_NEAR((1 / at(contrasts, 2).work + found) / squares_late, 1, 0.1);
  EXPECT_GT(squares_late, 2 * squares_early);
}

TEST(Contrasts, WhatIsForgottenLeavesTheOthers) {
  Contrasts contrasts(kFound);
  contrasts.add(row(kFound, 0, 0.1), std::array{row(1, 20, 0.15), row(2, 40, 0.2)}, 0);
  contrasts.forget(2);
  EXPECT_EQ(contrasts.rows().size(), 2);
  EXPECT_NEAR(slower(contrasts, 1), 0.05, 1e-9);
  contrasts.clear();
  EXPECT_TRUE(contrasts.rows().empty());
}

}  // namespace
}  // namespace rubato::govern
