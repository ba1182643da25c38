#include "device/replay/surface.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "device/replay/steps.h"

namespace rubato::device::replay {
namespace {

Point point(double seconds, double watts) {
  return {.time = Seconds(seconds), .power = Watts(watts)};
}

TEST(Surface, IsExactOnEveryRow) {
  const std::vector<Point> points{point(4, 80), point(3, 100), point(4, 100), point(2, 200)};
  const Surface surface({{Knob::power_limit, {100, 200}}, {Knob::sm_clock, {900, 1200}}}, points);
  std::size_t i = 0;
  for (const double clock : {900.0, 1200.0})
    for (const double limit : {100.0, 200.0}) {
      const Point at = surface.at({limit, clock});
      EXPECT_EQ(at.time, points[i].time);
      EXPECT_EQ(at.power, points[i].power);
      EXPECT_TRUE(at.on_row);
      ++i;
    }
}

TEST(Surface, IsTheMeanOfFourCornersInTheMiddleOfThem) {
  const std::vector<Point> points{point(4, 80), point(3, 100), point(4, 100), point(2, 200)};
  const Surface surface({{Knob::power_limit, {100, 200}}, {Knob::sm_clock, {900, 1200}}}, points);
  const Point middle = surface.at({150, 1050});
  EXPECT_DOUBLE_EQ(middle.time.value(), 3.25);
  EXPECT_DOUBLE_EQ(middle.power.value(), 120);
  EXPECT_FALSE(middle.on_row);
  EXPECT_FALSE(surface.at({100, 1050}).on_row) << "on a row of one knob only";
}

TEST(Surface, WithoutAKnobIsOnePoint) {
  const std::vector<Point> points{point(4, 80)};
  const Point only = Surface({}, points).at({123, 456});
  EXPECT_EQ(only.time, 4_s);
  EXPECT_TRUE(only.on_row);
}

RC_GTEST_PROP(SurfaceProperty, StaysBetweenTheFourRowsAround, ()) {
  const auto axis = [] {
    const auto places = *rc::gen::suchThat(rc::gen::container<std::set<int>>(rc::gen::inRange(1, 100)),
                                           [](const auto& s) { return s.size() >= 2; });
    return std::vector<double>(places.begin(), places.end());
  };
  const std::vector<double> x = axis();
  const std::vector<double> y = axis();
  std::vector<Point> points;
  for (std::size_t i = 0; i < x.size() * y.size(); ++i)
    points.push_back(point(*rc::gen::inRange(1, 1000), *rc::gen::inRange(1, 1000)));
  const Surface surface({{Knob::power_limit, x}, {Knob::sm_clock, y}}, points);
  const auto i = *rc::gen::inRange<std::size_t>(0, x.size() - 1);
  const auto j = *rc::gen::inRange<std::size_t>(0, y.size() - 1);
  const double u = *rc::gen::inRange(0, 9) / 8.0;
  const double v = *rc::gen::inRange(0, 9) / 8.0;
  const Seconds corners[] = {points[j * x.size() + i].time, points[j * x.size() + i + 1].time,
                             points[(j + 1) * x.size() + i].time, points[(j + 1) * x.size() + i + 1].time};
  const Seconds time = surface.at({x[i] + u * (x[i + 1] - x[i]), y[j] + v * (y[j + 1] - y[j])}).time;
  RC_ASSERT(time >= *std::min_element(std::begin(corners), std::end(corners)));
  RC_ASSERT(time <= *std::max_element(std::begin(corners), std::end(corners)));
}

std::vector<double> steps_of(const std::vector<double>& measured) {
  std::vector<double> out;
  for (const Megahertz clock : clock_steps(measured)) out.push_back(clock.value());
  return out;
}

TEST(ClockSteps, Are15MHzWhereEveryClockLiesOnThatGrid) {
  EXPECT_EQ(steps_of({855, 900}), (std::vector<double>{855, 870, 885, 900}));
}

TEST(ClockSteps, Are7500KHzWithTheHalvesCutOffAsDriversDo) {
  EXPECT_EQ(steps_of({502, 525}), (std::vector<double>{502, 510, 517, 525}));
  EXPECT_EQ(steps_of({502.5, 517.5}), (std::vector<double>{502.5, 510, 517.5}));
}

TEST(ClockSteps, AreTheTablesOwnWhereTheyShowNoGrid) {
  EXPECT_EQ(steps_of({1600, 1700, 1800}), (std::vector<double>{1600, 1700, 1800}));
  EXPECT_EQ(steps_of({1600}), (std::vector<double>{1600}));
  EXPECT_EQ(steps_of({15, 3e9}), (std::vector<double>{15, 3e9})) << "and no list without end";
}

TEST(LimitSteps, AreWholeWattsAndWhatWasMeasured) {
  const std::vector<double> measured{100, 162.5};
  EXPECT_TRUE(is_limit_step(measured, 101_W));
  EXPECT_TRUE(is_limit_step(measured, Watts(162.5)));
  EXPECT_FALSE(is_limit_step(measured, Watts(101.5)));
}

}  // namespace
}  // namespace rubato::device::replay
