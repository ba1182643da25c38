#include "plan/knob_space.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "plan/search_candidates.h"

namespace rubato::plan {
namespace {

using testing::ElementsAre;

KnobAxis axis(Knob knob, double from, double to, double step) {
  KnobAxis out{.knob = knob, .values = {}};
  for (double v = from; v <= to; v += step) out.values.push_back(v);
  return out;
}

std::vector<double> watts(const std::vector<predict::KnobPoint>& points) {
  std::vector<double> out;
  for (const auto& p : points) out.push_back(p.power_limit->value());
  return out;
}

KnobSpace limits() {
  return {.gpu = "a board",
          .axes = {axis(Knob::power_limit, 100, 200, 10)},
          .found = {.power_limit = 150_W},
          .highest = {.power_limit = 200_W}};
}

/// 11 limits and 101 clocks.
KnobSpace both() {
  KnobSpace out = limits();
  out.axes.push_back(axis(Knob::sm_clock, 1000, 2000, 10));
  out.found.sm_clock = out.highest.sm_clock = 2000_MHz;
  return out;
}

TEST(KnobSpace, FewValuesAreAllKept) {
  EXPECT_EQ(watts(candidates(limits(), 11)).size(), 11);
  EXPECT_EQ(watts(candidates(limits(), 600)).size(), 11);
}

TEST(KnobSpace, ThinnedAxesKeepTheirEndsAndTheFoundSetting) {
  EXPECT_THAT(watts(candidates(limits(), 3)), ElementsAre(100, 150, 200));
  KnobSpace odd = limits();
  odd.found.power_limit = 170_W;
  EXPECT_THAT(watts(candidates(odd, 3)), ElementsAre(100, 170, 200));
  EXPECT_THAT(watts(candidates(odd, 4)), ElementsAre(100, 130, 170, 200));
}

TEST(KnobSpace, TheProductIsAtMostWhatWasAskedAndShortAxesStayWhole) {
  const auto points = candidates(both(), 220);
  EXPECT_LE(points.size(), 220);
  EXPECT_GE(points.size(), 150);
  EXPECT_EQ(
      std::count_if(points.begin(), points.end(), [](const auto& p) { return p.sm_clock->value() == 2000; }),
      11);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
}

TEST(SearchCandidates, GoInTheHardwaresStepsAlongEachAxisAlone) {
  const auto points = search_candidates(both(), 420);
  EXPECT_LE(points.size(), 420);
  EXPECT_GE(points.size(), 300);
  EXPECT_TRUE(std::is_sorted(points.begin(), points.end()));
  EXPECT_EQ(std::adjacent_find(points.begin(), points.end()), points.end());
  const auto along = [&](auto same) { return std::count_if(points.begin(), points.end(), same); };
  EXPECT_EQ(along([](const auto& p) { return p.sm_clock->value() == 2000; }), 11);
  EXPECT_EQ(along([](const auto& p) { return p.power_limit->value() == 150; }), 101);
  EXPECT_GE(along([](const auto& p) { return p.power_limit->value() == 120; }), 10) << "crossings too";
  EXPECT_EQ(search_candidates(both(), 1111).size(), 1111) << "all where they fit";
  EXPECT_EQ(search_candidates(limits(), 5), candidates(limits(), 5)) << "one axis";
}

TEST(KnobSpace, WithoutALimitItIsTheWholeProduct) {
  EXPECT_EQ(candidates(both(), std::numeric_limits<std::size_t>::max()).size(), 11 * 101);
}

TEST(KnobSpace, WithoutAxesThereAreNoCandidates) {
  EXPECT_TRUE(candidates({.gpu = "a board", .axes = {}, .found = {}, .highest = {}}, 600).empty());
}

TEST(KnobSpace, APointBetweenStepsStandsAtTheNearestAndAnAbsentKnobAtItsHighest) {
  EXPECT_THAT(position_of(both(), {.power_limit = 114_W}), ElementsAre(1, 100));
  EXPECT_THAT(position_of(both(), {.power_limit = 116_W, .sm_clock = 900_MHz}), ElementsAre(2, 0));
  const Position there = {3, 7};
  EXPECT_EQ(position_of(both(), point_at(both(), there)), there);
}

}  // namespace
}  // namespace rubato::plan
