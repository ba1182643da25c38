#include "govern/rubato/contrasts.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

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

const plan::MeasuredStretch& at(const Contrasts& contrasts, std::size_t setting) {
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
    contrasts.add(row(kFound, i * 100.0, level), std::array{row(1, i * 100.0 + 20, level + 0.05 + off)});
  }
  ASSERT_EQ(contrasts.rows().size(), 2);
  EXPECT_NEAR(slower(contrasts, 1), 0.05, 1e-9);
  EXPECT_NEAR(at(contrasts, 1).log_power - at(contrasts, kFound).log_power, -0.05, 1e-9);
  EXPECT_EQ(at(contrasts, 1).work, 100 * 50);
  EXPECT_EQ(at(contrasts, 1).repeats, 100);
  EXPECT_NEAR((at(contrasts, 1).when - at(contrasts, kFound).when).value(), 20, 1e-9) << "apart as they were";
}

TEST(Contrasts, ASettingSeenOnceTakesItsPlaceByWhatItsGroupShares) {
  Contrasts contrasts(kFound);
  contrasts.add(row(kFound, 0, 0.1), std::array{row(1, 20, 0.15)});
  contrasts.add(row(kFound, 500, 0.4), std::array{row(1, 480, 0.45), row(2, 530, 0.52), row(1, 525, 0.45)});
  EXPECT_NEAR(slower(contrasts, 1), 0.05, 1e-9);
  EXPECT_NEAR(slower(contrasts, 2), 0.12, 1e-9);
  EXPECT_EQ(at(contrasts, 2).repeats, 1);
  EXPECT_EQ(at(contrasts, 1).repeats, 2) << "before and after a look it is one contrast";
}

TEST(Contrasts, WhatIsForgottenLeavesTheOthers) {
  Contrasts contrasts(kFound);
  contrasts.add(row(kFound, 0, 0.1), std::array{row(1, 20, 0.15), row(2, 40, 0.2)});
  contrasts.forget(2);
  EXPECT_EQ(contrasts.rows().size(), 2);
  EXPECT_NEAR(slower(contrasts, 1), 0.05, 1e-9);
  contrasts.clear();
  EXPECT_TRUE(contrasts.rows().empty());
}

}  // namespace
}  // namespace rubato::govern
