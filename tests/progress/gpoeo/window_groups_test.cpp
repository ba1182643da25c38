#include "progress/gpoeo/window_groups.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "progress/gpoeo/window_error.h"

namespace rubato::progress::gpoeo {
namespace {

using testing::ElementsAre;

std::vector<double> levels(std::initializer_list<std::pair<int, double>> parts) {
  std::vector<double> out;
  for (const auto& [samples, level] : parts) out.insert(out.end(), static_cast<std::size_t>(samples), level);
  return out;
}

TEST(GpoeoGroups, CutsWhereTheLevelChanges) {
  EXPECT_THAT(group_borders(levels({{10, 80}, {6, 20}})), ElementsAre(0, 10, 16));
}

TEST(GpoeoGroups, OneOutlierDoesNotSplitALevel) {
  EXPECT_THAT(group_borders(levels({{20, 80}, {1, 78}, {20, 80}, {15, 10}})), ElementsAre(0, 41, 56));
}

RC_GTEST_PROP(GpoeoGroups, BordersRiseFromNoughtToTheLength, (const std::vector<double>& window)) {
  RC_PRE(!window.empty());
  const std::vector<std::size_t> borders = group_borders(window);
  RC_ASSERT(borders.front() == 0U && borders.back() == window.size());
  for (std::size_t i = 1; i < borders.size(); ++i) RC_ASSERT(borders[i - 1] < borders[i]);
}

TEST(GpoeoWindowError, IsNoughtAtThePeriodAndLargeBesideIt) {
  std::vector<double> trace;
  for (int i = 0; i < 10; ++i)
    for (const double level : levels({{12, 90}, {8, 10}})) trace.push_back(level);
  EXPECT_EQ(window_error(trace, 2.0, 2.0), 0);
  EXPECT_GT(window_error(trace, 1.5, 1.5), 20);
}

TEST(GpoeoWindowError, AShortPeriodDoesNotWinOnAPlateau) {
  std::vector<double> trace;
  for (int i = 0; i < 4; ++i)
    for (const double level : levels({{44, 50}, {3, 90}, {3, 10}, {3, 90}, {3, 10}})) trace.push_back(level);
  // Cut at 0.4 s the plateau repeats well; judged by the worst pair within 5.6 s it does not.
  EXPECT_GT(window_error(trace, 0.4, 5.6), 2 * window_error(trace, 0.4, 0.4).value());
  EXPECT_EQ(window_error(trace, 5.6, 5.6), 0);
}

TEST(GpoeoWindowError, NeedsTwoWindowsAndAMeanToDivideBy) {
  EXPECT_EQ(window_error(std::vector<double>(30, 5.0), 2.0, 2.0), std::nullopt);
  EXPECT_EQ(window_error(std::vector<double>(30, 5.0), 0.05, 0.05), std::nullopt);
  EXPECT_EQ(window_error(std::vector<double>(30, 0.0), 1.0, 1.0), std::nullopt);
}

}  // namespace
}  // namespace rubato::progress::gpoeo
