#include "cli/rank_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rubato::cli {
namespace {

using Environment = std::map<std::string, std::string>;

Environment torchrun(const std::string& local_rank, const std::string& port = "29500") {
  return {{"TORCHELASTIC_RUN_ID", "none"},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", port},
          {"LOCAL_RANK", local_rank},
          {"LOCAL_WORLD_SIZE", "8"}};
}

TEST(RankGroup, RanksOfOneStartHaveOneKeyAndTwoStartsHaveTwo) {
  const auto first = rank_group(torchrun("0"));
  const auto second = rank_group(torchrun("3"));
  const auto other_job = rank_group(torchrun("0", "29501"));
  ASSERT_TRUE(first && second && other_job);
  EXPECT_EQ(first->launcher, "torchrun");
  EXPECT_EQ(first->key, second->key);
  EXPECT_EQ(second->local_rank, 3);
  EXPECT_NE(first->key, other_job->key);
}

TEST(RankGroup, OneProcessPerNodeIsNoGroup) {
  auto alone = torchrun("0");
  alone["LOCAL_WORLD_SIZE"] = "1";
  EXPECT_FALSE(rank_group(alone));
  EXPECT_FALSE(rank_group({}));
  EXPECT_FALSE(rank_group({{"LOCAL_RANK", "0"}})) << "anybody may have such a variable";
}

TEST(RankGroup, SrunAndOpenMpiAreKnownByTheirOwnVariables) {
  const auto srun = rank_group(
      {{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "0"}, {"SLURM_LOCALID", "2"}, {"SLURM_STEP_NUM_TASKS", "8"}});
  ASSERT_TRUE(srun);
  EXPECT_EQ(srun->launcher, "srun");
  EXPECT_EQ(srun->local_rank, 2);
  const auto mpi = rank_group({{"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                               {"PMIX_NAMESPACE", "prterun-node-12@1"}});
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->local_rank, 1);
}

TEST(RankGroup, ABatchScriptOfSlurmIsNoRank) {
  EXPECT_FALSE(rank_group({{"SLURM_JOB_ID", "7"}, {"SLURM_LOCALID", "0"}, {"SLURM_NTASKS", "8"}}));
}

TEST(RankGroup, LaunchersThatOnlyNameTheRendezvousAreKnownByIt) {
  Environment deepspeed = {
      {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
  ASSERT_TRUE(rank_group(deepspeed));
  deepspeed["WORLD_SIZE"] = "1";
  EXPECT_FALSE(rank_group(deepspeed));
}

TEST(RankGroup, OtherRanksAreCountedOnceEachAndNeverOurOwn) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "rubato-ranks";
  std::filesystem::remove_all(folder);
  const auto process = [&](const std::string& pid, const Environment& environment) {
    std::filesystem::create_directories(folder / "proc" / pid);
    std::ofstream file(folder / "proc" / pid / "environ");
    for (const auto& [name, value] : environment) file << name << '=' << value << '\0';
  };
  process("10", torchrun("0"));  // our own job
  process("11", torchrun("1"));  // rubato of rank 1 ...
  process("12", torchrun("1"));  // ... and its job
  process("13", torchrun("2"));
  process("14", torchrun("5", "29501"));  // of another start
  process("15", {});
  EXPECT_EQ(other_ranks_alive(*rank_group(torchrun("0")), FsRoot(folder)), 2U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rubato::cli
