#include "lab/campaign.h"

#include <gtest/gtest.h>

#include "small_job.h"

namespace rubato::lab {
namespace {

CampaignOptions options(std::vector<std::string> strategies) {
  CampaignOptions out;
  out.strategies = std::move(strategies);
  out.goal.max_slowdown = 0.25;
  out.iterations = 500;
  out.noise.model = NoiseModel::drift;
  return out;
}

std::vector<Job> jobs() {
  std::vector<Job> out(5, small_job());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].name = "small " + std::to_string(i);
    out[i].programs[0].energy[1] -= 0.02 * static_cast<double>(i);
  }
  return out;
}

TEST(Campaign, TheOracleCapturesAllAndMeasuringNothing) {
  const auto found = run_campaign(jobs(), options({"oracle", "measure-only"}));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_NEAR(*(*found)[0].score.captured, 1, 1e-9);
  EXPECT_EQ(*(*found)[1].score.captured, 0);
}

TEST(Campaign, ThreadsChangeNothing) {
  CampaignOptions alone = options({"oracle"});
  alone.seeds = 4;
  CampaignOptions many = alone;
  many.threads = 3;
  const auto one = run_campaign(jobs(), alone);
  const auto other = run_campaign(jobs(), many);
  ASSERT_TRUE(one && other);
  ASSERT_EQ((*one)[0].rows.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) {
    const Row& a = (*one)[0].rows[i];
    const Row& b = (*other)[0].rows[i];
    EXPECT_EQ(a.job, b.job);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(a.run.saving, b.run.saving);
  }
}

TEST(Campaign, AStrategyThatLacksWhatItNeedsCountsNeitherWay) {
  const auto found = run_campaign(jobs(), options({"fixed", "oracle"}));
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_FALSE((*found)[0].applicable);
  ASSERT_EQ((*found)[0].needs.size(), 1u);
  EXPECT_NE((*found)[0].needs[0].find("no setting was given"), std::string::npos);
  EXPECT_TRUE((*found)[0].rows.empty());
  EXPECT_TRUE((*found)[1].applicable);
}

TEST(Campaign, AnUnknownStrategyIsAnError) {
  const auto found = run_campaign(jobs(), options({"oracle", "luck"}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_NE(found.error().what.find("'luck'"), std::string::npos) << found.error().what;
  for (const char* name : {"rubato,", "bisection,", "oracle,", "oracle-phases,", "oracle-causal,",
                           "oracle-causal-measured,", "oracle-measured"})
    EXPECT_NE(found.error().what.find(name), std::string::npos) << found.error().what;
}

TEST(Campaign, AnUnknownStrategyIsFoundBeforeAnythingRuns) {
  CampaignOptions told = options({"oracle", "luck"});
  told.progress = [](std::size_t, std::size_t) { ADD_FAILURE() << "a job was run"; };
  EXPECT_FALSE(run_campaign(jobs(), told));
}

TEST(Campaign, AnUnknownVariantIsAnErrorOfItsOwn) {
  const auto found = run_campaign(jobs(), options({"bisection@published"}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_EQ(found.error().what.find("oracle"), std::string::npos) << found.error().what;
}

TEST(Campaign, ProgressIsToldRunByRun) {
  CampaignOptions told = options({"oracle"});
  told.threads = 2;
  std::vector<std::size_t> seen;
  told.progress = [&](std::size_t done, std::size_t all) {
    EXPECT_EQ(all, 5u);
    seen.push_back(done);
  };
  ASSERT_TRUE(run_campaign(jobs(), told));
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace rubato::lab
