#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "progress/shift.h"
#include "progress/shift/readings.h"

namespace rubato::progress {
namespace {

using test::Level;
using test::Readings;

struct Told {
  int reading = 0;
  Shift shift;
};

std::vector<Told> story(std::uint64_t seed, const Level& before, const Level& after, double watts = 1,
                        TimePoint origin = {}) {
  ShiftDetector detector;
  Readings readings(seed);
  std::vector<Told> told;
  for (int i = 0; i < 120; ++i) {
    ShiftReading r = readings.next(i < 60 ? before : after);
    r.power = *r.power * watts;
    r.begin.ns += origin.ns;
    r.end.ns += origin.ns;
    if (auto shift = detector.add(r)) told.push_back({i, *shift});
  }
  return told;
}

RC_GTEST_PROP(ShiftDetector, AnotherUnitOfPowerChangesNothingButFromAndTo, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Level after{.power_w = *rc::gen::inRange(150, 600) * 1.0};
  const double factor = *rc::gen::element(0.001, 0.5, 3.0, 1000.0);
  const auto plain = story(seed, {}, after);
  const auto scaled = story(seed, {}, after, factor);
  RC_ASSERT(plain.size() == scaled.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    RC_ASSERT(plain[i].reading == scaled[i].reading);
    RC_ASSERT(plain[i].shift.at == scaled[i].shift.at);
    RC_ASSERT(plain[i].shift.what == scaled[i].shift.what);
    const double of = plain[i].shift.what == "power" ? factor : 1;
    RC_ASSERT(std::abs(scaled[i].shift.from / (of * plain[i].shift.from) - 1) < 1e-6);
    RC_ASSERT(std::abs(scaled[i].shift.to / (of * plain[i].shift.to) - 1) < 1e-6);
  }
}

RC_GTEST_PROP(ShiftDetector, WhenTheRunBeganDoesNotMatter, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const TimePoint origin{*rc::gen::inRange<std::int64_t>(0, 1'000'000) * 1'000'000'000};
  const auto plain = story(seed, {}, {.power_w = 360});
  const auto moved = story(seed, {}, {.power_w = 360}, 1, origin);
  RC_ASSERT(plain.size() == moved.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    RC_ASSERT(plain[i].reading == moved[i].reading);
    RC_ASSERT(plain[i].shift.at.ns + origin.ns == moved[i].shift.at.ns);
  }
}

RC_GTEST_PROP(ShiftDetector, ALargeChangeIsToldOnceAndAtItsPlace, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const double factor = *rc::gen::inRange(130, 400) / 100.0;
  const bool up = *rc::gen::arbitrary<bool>();
  const auto told = story(seed, {}, {.power_w = up ? 300 * factor : 300 / factor});
  RC_ASSERT(told.size() == 1U);
  RC_ASSERT(told[0].reading >= 62 && told[0].reading <= 65);
  RC_ASSERT(std::abs(told[0].shift.at.since_epoch().value() - 60) <= 2);
}

RC_GTEST_PROP(ShiftDetector, NoSeriesOfReadingsBreaksIt, ()) {
  ShiftDetector detector;
  TimePoint now{};
  for (int i = 0; i < 200; ++i) {
    ShiftReading r;
    r.begin = now + Seconds(*rc::gen::inRange(-100, 300) / 100.0);
    r.end = r.begin + Seconds(*rc::gen::inRange(-10, 500) / 100.0);
    now = r.end;
    r.power = Watts(*rc::gen::element(0.0, 1e-300, 1.0, 300.0, 1e300, -5.0));
    r.period = Seconds(*rc::gen::element(0.0, 1e-12, 0.4, 1e9));
    if (const auto shift = detector.add(r)) {
      RC_ASSERT(std::isfinite(shift->from) && std::isfinite(shift->to));
      RC_ASSERT(shift->at <= shift->noticed);
    }
    if (*rc::gen::inRange(0, 50) == 0) detector.rebase(now);
  }
}

}  // namespace
}  // namespace rubato::progress
