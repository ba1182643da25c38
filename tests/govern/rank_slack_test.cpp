#include "govern/slack/rank_slack.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace rubato::govern {
namespace {

/// A job whose ranks' own parts are so long, of the slowest's, and go with their clocks as is thought.
int ask_all(RankSlack& ranks, const std::vector<double>& parts) {
  int probes = 0;
  for (; probes < 500; ++probes) {
    const auto probe = ranks.next();
    if (!probe) break;
    double longest = 1;
    for (const std::size_t i : probe->ranks) longest = std::max(longest, parts[i] * (1 + probe->growth));
    ranks.tell(*probe, probe->growth, longest, 0.0005);
  }
  return probes;
}

TEST(RankSlack, FindsWhatEachMayGrow) {
  const std::vector<double> parts{1, 0.98, 0.9, 0.95, 0.7};
  RankSlack ranks(std::vector<double>(parts.size(), 4));
  EXPECT_LE(ask_all(ranks, parts), 20);
  const auto growth = ranks.growth(0.005);
  EXPECT_EQ(growth[0], 0);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EXPECT_LE(parts[i] * (1 + growth[i]), 0.996) << i;
    EXPECT_GE(parts[i] * (1 + growth[i]), 0.985) << i;
  }
}

TEST(RankSlack, SplitsGroupsUntilTheStragglerIsAlone) {
  std::vector<double> parts(64, 0.87);
  parts[37] = 1;
  RankSlack ranks(std::vector<double>(parts.size(), 1));
  EXPECT_LE(ask_all(ranks, parts), 256);  // of which a run makes those that it repays
  const auto growth = ranks.growth(0.005);
  EXPECT_EQ(growth[37], 0);
  EXPECT_EQ(std::count_if(growth.begin(), growth.end(), [](double g) { return g > 0.12; }), 63);
}

TEST(RankSlack, GivesNothingWhereAllAreAlike) {
  RankSlack ranks(std::vector<double>(6, 1));
  EXPECT_LE(ask_all(ranks, std::vector<double>(6, 1)), 12);
  EXPECT_THAT(ranks.growth(0.005), testing::Each(0.0));
}

TEST(RankSlack, BelievesWhatItIsSettledWith) {
  const std::vector<double> parts{1, 0.9};
  RankSlack ranks({1, 1});
  static_cast<void>(ask_all(ranks, parts));
  ASSERT_GT(ranks.growth(0.005)[1], 0.09);
  ranks.settle({0, 0.05}, 0.005);
  EXPECT_NEAR(ranks.growth(0.005)[1], 0.05, 1e-9);
  EXPECT_FALSE(ranks.next());
}

}  // namespace
}  // namespace rubato::govern
