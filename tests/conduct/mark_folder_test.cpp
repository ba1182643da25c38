#include "conduct/mark_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"

namespace rubato::conduct {
namespace {
namespace fs = std::filesystem;

class MarkFolders : public testing::Test {
 protected:
  MarkFolders() {
    static int made = 0;
    here_ = fs::path(testing::TempDir()) / cat("rubato-marks-", ::getpid(), "-", made++);
    fs::create_directories(here_ / "root" / "proc");
  }
  ~MarkFolders() override {
    std::error_code ignored;
    fs::remove_all(here_, ignored);
  }
  void left_behind(const std::string& run_id) {
    fs::create_directories(here_ / ("marks-" + run_id));
    std::ofstream(here_ / ("marks-" + run_id) / "7-7.ring") << "ring";
  }
  void process(int pid, const std::string& environment) {
    const fs::path folder = here_ / "root" / "proc" / std::to_string(pid);
    fs::create_directories(folder);
    std::ofstream(folder / "environ") << environment;
  }
  std::size_t sweep() { return sweep_mark_folders(here_, FsRoot(here_ / "root")); }
  bool there(const std::string& run_id) { return fs::exists(here_ / ("marks-" + run_id)); }

  fs::path here_;
};

TEST_F(MarkFolders, AreGoneWithTheirOwner) {
  {
    const auto folder = MarkFolder::create(here_, "run1");
    ASSERT_TRUE(folder) << folder.error().what;
    EXPECT_EQ(folder->path(), here_ / "marks-run1");
    EXPECT_TRUE(there("run1"));
    EXPECT_FALSE(fs::exists(here_ / "new-marks-run1"));
  }
  EXPECT_FALSE(there("run1"));
}

TEST_F(MarkFolders, OfADeadRunAreSwept) {
  left_behind("run1");
  process(7, std::string("PATH=/bin\0RUBATO_RUN_ID=run2\0", 29));
  EXPECT_EQ(sweep(), 1U);
  EXPECT_FALSE(there("run1"));
  EXPECT_EQ(sweep(), 0U);
}

TEST_F(MarkFolders, OfAJobThatOutlivedItsRubatoStay) {
  left_behind("run1");
  process(7, std::string("PATH=/bin\0RUBATO_RUN_ID=run1\0", 29));
  EXPECT_EQ(sweep(), 0U);
  EXPECT_TRUE(there("run1"));
}

TEST_F(MarkFolders, ThatAnotherRubatoReadsStay) {
  const auto theirs = MarkFolder::create(here_, "run1");
  ASSERT_TRUE(theirs);
  EXPECT_EQ(sweep(), 0U);
  EXPECT_TRUE(there("run1"));
}

TEST_F(MarkFolders, NothingElseIsTouchedNorFollowed) {
  fs::create_directories(here_ / "sim");
  fs::create_directories(here_ / "elsewhere");
  std::ofstream(here_ / "elsewhere" / "precious") << "x";
  fs::create_directory_symlink(here_ / "elsewhere", here_ / "marks-link");
  std::ofstream(here_ / "marks-file") << "x";
  left_behind("run1");
  fs::create_directory_symlink(here_ / "elsewhere", here_ / "marks-run1" / "inside");
  EXPECT_EQ(sweep(), 1U);
  EXPECT_TRUE(fs::exists(here_ / "elsewhere" / "precious"));
  EXPECT_TRUE(fs::exists(here_ / "marks-file"));
  EXPECT_TRUE(fs::is_symlink(here_ / "marks-link"));
  EXPECT_TRUE(fs::exists(here_ / "sim"));
}

}  // namespace
}  // namespace rubato::conduct
