// Hours of trace in virtual time: what is stated when the program changes late.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "progress/period/period_detector.h"
#include "progress/period/wave.h"

namespace rubato::progress {
namespace {

constexpr double kHour = 3600;
constexpr double kRate = 10;
constexpr double kSure = 0.45;  // from here on iterations are counted

/// Half the time full, a short dip, then a middle level.
double dips(double t, double period_s) {
  const double phase = t / period_s - std::floor(t / period_s);
  if (phase < 0.55) return 280;
  if (phase < 0.65) return 90;
  return phase < 0.8 ? 210 : 100;
}

using Watched = std::function<void(double now_s, const IterationEstimate&)>;

void watch(double seconds, const std::function<double(double)>& watts, const Watched& watched) {
  const auto detector = make_period_detector();
  for (const auto& point : readings(seconds, 1 / kRate, 3, watts)) {
    detector->add(point);
    if (const auto said = detector->estimate()) watched(point.at.since_epoch().value(), *said);
  }
}

bool sure_of(const IterationEstimate& said, double period_s) {
  return said.periodic && said.confidence >= kSure && std::abs(said.period->value() / period_s - 1) < 0.02;
}

struct Change {
  double before_s;
  double after_s;
  double known_within_s;
};

class LateChange : public ::testing::TestWithParam<Change> {};

TEST_P(LateChange, IsStatedWithinMinutes) {
  const double before_s = GetParam().before_s;
  const double after_s = GetParam().after_s;
  const double changed_s = 2 * kHour;
  double old_s = 0;     // how long after the change the old one was stated
  double before = 0;    // of the time before it
  double known_at = 0;  // from here on the new one was stated
  double last_s = 0;
  watch(
      2.5 * kHour,
      [&](double t) { return t < changed_s ? three_levels(t, before_s) : dips(t - changed_s, after_s); },
      [&](double now, const IterationEstimate& said) {
        const double passed = now - std::exchange(last_s, now);
        if (now < changed_s && sure_of(said, before_s)) before += passed;
        if (now >= changed_s && sure_of(said, before_s)) old_s += passed;
        if (now < changed_s || !sure_of(said, after_s))
          known_at = 0;
        else if (known_at == 0)
          known_at = now;
      });
  EXPECT_GT(before, 0.98 * changed_s);
  // Three short looks at the most, each at 24 iterations or 30 s.
  EXPECT_LT(old_s, std::max(100.0, 73 * before_s));
  ASSERT_GT(known_at, 0);
  EXPECT_LT(known_at - changed_s, GetParam().known_within_s);
}

// One at another clock, as it were, and ones that nobody can take for the iteration before.
INSTANTIATE_TEST_SUITE_P(PeriodDetector, LateChange,
                         ::testing::Values(Change{1, 1.6, 120}, Change{1, 2.6, 120}, Change{1.5, 0.6, 120},
                                           Change{5, 12, 400}, Change{1, 25, 300}));

TEST(PeriodDetector, AnIterationThatEndsLateIsNotStatedForHours) {
  double old_s = 0;
  double last_s = 0;
  watch(
      2.5 * kHour, [](double t) { return t < 2 * kHour ? three_levels(t, 1) : 240.0; },
      [&](double now, const IterationEstimate& said) {
        const double passed = now - std::exchange(last_s, now);
        if (now >= 2 * kHour && sure_of(said, 1)) old_s += passed;
      });
  EXPECT_LT(old_s, 100);
}

TEST(PeriodDetector, AnIterationThatBeginsLateIsFoundWithinAQuarterOfAnHour) {
  double found_at = 0;
  watch(
      2.5 * kHour, [](double t) { return t < 2 * kHour ? 240.0 : three_levels(t, 1.5); },
      [&](double now, const IterationEstimate& said) {
        if (found_at == 0 && sure_of(said, 1.5)) found_at = now;
      });
  EXPECT_GT(found_at, 2 * kHour);
  EXPECT_LT(found_at, 2.26 * kHour);
}

TEST(PeriodDetector, AfterAnEvaluationTheIterationIsKnownAtOnce) {
  // Ten minutes of training, then a minute and a half of something steady.
  double known_s = 0;
  double training_s = 0;
  double last_s = 0;
  watch(
      2 * kHour,
      [](double t) {
        const double inside = std::fmod(t, 690);
        return inside < 600 ? three_levels(inside, 2) : 150.0;
      },
      [&](double now, const IterationEstimate& said) {
        const double passed = now - std::exchange(last_s, now);
        if (std::fmod(now, 690) >= 600) return;
        training_s += passed;
        if (sure_of(said, 2)) known_s += passed;
      });
  EXPECT_GT(known_s, 0.88 * training_s);
}

// Of two programs in turns one may be over before the other is known: which one runs now nobody is sure of.
TEST(PeriodDetector, AJobThatKeepsChangingIsSurelySaidOfNoOneOfItsIterations) {
  const auto length = [](double t) { return std::fmod(t, 800) < 400 ? 1.0 : 2.6; };
  double wrong_s = 0;
  double last_s = 0;
  watch(
      3 * kHour, [&](double t) { return length(t) == 1 ? three_levels(t, 1) : dips(t, 2.6); },
      [&](double now, const IterationEstimate& said) {
        const double passed = now - std::exchange(last_s, now);
        const bool surely = said.periodic && said.confidence > 0.9;
        if (now > 2 * kHour && surely && !sure_of(said, length(now))) wrong_s += passed;
      });
  EXPECT_LT(wrong_s, 0.02 * kHour);
}

}  // namespace
}  // namespace rubato::progress
