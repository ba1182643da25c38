// What a prolog or epilog makes of what slurmd and the driver tell it.
#include "node.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "energy_line.h"

namespace rubato::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SlurmNode, ReadsTheJobThatSlurmdTells) {
  const auto job = job_of({{"SLURM_JOB_ID", "12"},
                           {"SLURM_JOB_UID", "1000"},
                           {"SLURMD_NODENAME", "n1"},
                           {"SLURM_JOB_GPUS", "0,2-3"}});
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->id, 12);
  EXPECT_EQ(job->user, 1000);
  EXPECT_EQ(job->node, "n1");
  EXPECT_THAT(job->gpus, ElementsAre(0U, 2U, 3U));
  EXPECT_THAT(job_of({{"SLURM_JOB_ID", "12"}, {"SLURM_JOB_UID", "0"}}).value().gpus, IsEmpty());
}

TEST(SlurmNode, RefusesWhatSlurmDoesNotSay) {
  EXPECT_EQ(job_of({}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(job_of({{"SLURM_JOB_ID", "12"}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(job_of({{"SLURM_JOB_ID", "-1"}, {"SLURM_JOB_UID", "0"}}).error().code,
            ErrorCode::invalid_argument);
  for (const char* gpus : {"a", "0,", "3-2", "0-999", "-1", "0--1"}) {
    EXPECT_FALSE(parse_numbers(gpus)) << gpus;
    EXPECT_FALSE(job_of({{"SLURM_JOB_ID", "1"}, {"SLURM_JOB_UID", "0"}, {"SLURM_JOB_GPUS", gpus}})) << gpus;
  }
}

class DriverTree : public ::testing::Test {
 protected:
  DriverTree() : root_(std::filesystem::temp_directory_path() / cat("rubato-slurm-node-", ::getpid())) {}
  ~DriverTree() override { std::filesystem::remove_all(root_); }
  void put(const std::string& bus, unsigned minor, const std::string& uuid) const {
    const auto folder = root_ / "proc/driver/nvidia/gpus" / bus;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "information")
        << "Model: \t\t NVIDIA H100\nGPU UUID: \t " << uuid << "\nBus Location: \t " << bus
        << "\nDevice Minor: \t " << minor << "\n";
  }
  [[nodiscard]] FsRoot root() const { return FsRoot(root_); }
  std::filesystem::path root_;
  wire::StatusReply status_{"manage", {{.gpu = {"GPU-a"}, .index = 0}, {.gpu = {"GPU-b"}, .index = 1}}, {}};
};

TEST_F(DriverTree, TheDriversMinorSaysWhichGpuADeviceFileIs) {
  put("0000:1b:00.0", 1, "GPU-a");
  put("0000:2b:00.0", 0, "GPU-b");
  EXPECT_THAT(uuids_of({0}, status_, root()), ElementsAre(GpuId{"GPU-b"}));
  EXPECT_THAT(uuids_of({0, 1}, status_, root()), ElementsAre(GpuId{"GPU-b"}, GpuId{"GPU-a"}));
}

TEST_F(DriverTree, OfWhatRubatodDoesNotManageNothingIsTold) {
  put("0000:1b:00.0", 0, "GPU-z");
  EXPECT_THAT(uuids_of({0, 1, 7}, status_, root()), IsEmpty());
}

TEST_F(DriverTree, WithoutADriverItIsTheIndex) {
  EXPECT_THAT(uuids_of({1, 5}, status_, root()), ElementsAre(GpuId{"GPU-b"}));
}

TEST(SlurmEnergy, OfAJobIsALineOfJson) {
  const Job job{12, 1000, "n1", {0, 1}};
  const wire::Cleared cleared{
      {{{{"GPU-a"}, Restoration::restored, "power limit 200 W (was 150 W)"}, Joules(1234.5), Seconds(60)},
       {{{"GPU-b"}, Restoration::failed, "it \"hangs\""}}}};
  const auto line = nlohmann::json::parse(energy_line(job, cleared, "2026-11-22T12:00:00Z"));
  EXPECT_EQ(line.at("schema"), "rubato.slurm-job/1");
  EXPECT_EQ(line.at("slurm_job"), 12);
  EXPECT_EQ(line.at("node"), "n1");
  EXPECT_EQ(line.at("gpus").at(0).at("energy_j"), 1234.5);
  EXPECT_EQ(line.at("gpus").at(0).at("duration_s"), 60);
  EXPECT_TRUE(line.at("gpus").at(1).at("energy_j").is_null());
  EXPECT_EQ(line.at("gpus").at(1).at("restoration"), "failed");
}

TEST(SlurmEnergy, IsAppendedAndALinkIsNotFollowed) {
  const auto folder = std::filesystem::temp_directory_path() / cat("rubato-slurm-energy-", ::getpid());
  std::filesystem::create_directories(folder);
  const auto file = folder / "energy.jsonl";
  ASSERT_TRUE(append_energy(file, {1, 0, "n1", {}}, {}).has_value());
  ASSERT_TRUE(append_energy(file, {2, 0, "n1", {}}, {}).has_value());
  std::ifstream in(file);
  std::string line;
  for (int job = 1; job <= 2; ++job) {
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(nlohmann::json::parse(line).at("slurm_job"), job);
  }
  std::filesystem::create_symlink(file, folder / "link");
  EXPECT_FALSE(append_energy(folder / "link", {3, 0, "n1", {}}, {}).has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rubato::slurm
