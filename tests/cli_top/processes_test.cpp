#include "cli/top/processes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"

namespace rubato::cli::top {
namespace {

class Processes : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / cat("rubato-top-", getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void process(int pid, int parent, const std::string& command) const {
    const auto proc = folder_ / "proc" / std::to_string(pid);
    std::filesystem::create_directories(proc);
    std::ofstream(proc / "cmdline") << command;
    std::ofstream(proc / "comm") << "worker\n";
    std::ofstream(proc / "stat") << pid << " (a (b) c) S " << parent << " 1 1";
    std::ofstream(proc / "environ") << "";
  }

  std::filesystem::path folder_;
};

TEST_F(Processes, AreToldOnceWithAllTheirGpusAndTheirRun) {
  using namespace std::string_literals;
  process(10, 1, "python3\0train.py\0"s);
  process(11, 10, "a worker\0--of\0it\0"s);
  process(20, 1, "");
  RunNow run;
  run.state.run_id = "r1";
  run.state.job_pid = 10;
  const auto found =
      describe_processes(FsRoot(folder_), {{{20, 5}, {11, 100}}, {{11, 28}}, {{99, {}}}}, {run});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].pid, 11);
  EXPECT_EQ(found[0].command, "'a worker' --of it");
  EXPECT_EQ(found[0].gpus, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(found[0].memory_bytes, 128U);
  EXPECT_EQ(found[0].run_id, "r1");
  EXPECT_EQ(found[1].command, "[worker]");
  EXPECT_EQ(found[1].run_id, "");
  EXPECT_EQ(found[2].command, "") << "of another process namespace";
  EXPECT_FALSE(found[2].memory_bytes);
}

}  // namespace
}  // namespace rubato::cli::top
