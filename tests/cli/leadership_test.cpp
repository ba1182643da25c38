#include "cli/leadership.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "base/text.h"

namespace rubato::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LeadershipTest : public testing::Test {
 public:
  ~LeadershipTest() override { std::filesystem::remove_all(folder_); }

 protected:
  LeadershipTest() { std::filesystem::create_directories(folder_); }

  [[nodiscard]] Leadership take(const std::vector<std::string>& uuids, const Claim& claim) const {
    return take_leadership(folder_, uuids, claim).value();
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / cat("rubato-leadership-", ::getpid());
};

const Claim kRank0{"torchrun none 29500", 0, "run-a", {}};
const Claim kRank1{"torchrun none 29500", 1, "run-b", {}};

TEST_F(LeadershipTest, TheFirstRankLeadsEveryGpuAndTheOthersFollowIt) {
  const auto first = take({"GPU-1", "GPU-2"}, kRank0);
  EXPECT_THAT(first.uuids, ElementsAre("GPU-1", "GPU-2"));
  EXPECT_FALSE(first.leader);
  const auto second = take({"GPU-2", "GPU-1"}, kRank1);
  EXPECT_THAT(second.uuids, IsEmpty());
  ASSERT_TRUE(second.leader);
  EXPECT_EQ(second.leader->local_rank, 0);
  EXPECT_EQ(second.leader->run_id, "run-a");
}

TEST_F(LeadershipTest, RanksThatSeeDifferentGpusLeadTheirOwn) {
  const auto first = take({"GPU-1"}, kRank0);
  EXPECT_THAT(take({"GPU-2"}, kRank1).uuids, ElementsAre("GPU-2"));
}

TEST_F(LeadershipTest, ADeadLeadersGpusAreFree) {
  { const auto dead = take({"GPU-1"}, kRank0); }
  const auto next = take({"GPU-1"}, kRank1);
  EXPECT_THAT(next.uuids, ElementsAre("GPU-1"));
  EXPECT_FALSE(next.leader);
}

TEST_F(LeadershipTest, AStrangersRunIsNobodysLeader) {
  const auto stranger = take({"GPU-1"}, {"torchrun none 29777", 0, "run-z", {}});
  const auto ours = take({"GPU-1"}, kRank1);
  EXPECT_THAT(ours.uuids, ElementsAre("GPU-1"));
  EXPECT_FALSE(ours.leader);
}

TEST_F(LeadershipTest, TheSameRankTwiceIsTwoRunsOfOneScript) {
  const auto first = take({"GPU-1"}, kRank0);
  EXPECT_FALSE(take({"GPU-1"}, kRank0).leader);
}

TEST_F(LeadershipTest, ARubatoUnderARubatoFollowsIt) {
  const auto outer = take({"GPU-1"}, {{}, 0, "run-outer", {}});
  const auto inner = take({"GPU-1"}, {{}, 0, "run-inner", "run-outer"});
  ASSERT_TRUE(inner.leader);
  EXPECT_EQ(inner.leader->run_id, "run-outer");
  EXPECT_FALSE(take({"GPU-1"}, {{}, 0, "run-late", "run-that-ended"}).leader);
}

}  // namespace
}  // namespace rubato::cli
