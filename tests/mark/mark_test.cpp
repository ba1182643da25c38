#include <gtest/gtest.h>
#include <rubato/mark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "conduct/mark_reader.h"
#include "mark/c_program.h"

namespace rubato::conduct {
namespace {

class MarkHeader : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "rubato-mark-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::setenv(RUBATO_MARKS_ENV, name.c_str(), 1);
    for (const char* rank : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}) ::unsetenv(rank);
  }
  void TearDown() override {
    rubato_mark_close();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::vector<Mark> marks() const {
    MarkReader reader(folder_);
    auto read = reader.poll(TimePoint{std::chrono::steady_clock::now().time_since_epoch().count()});
    EXPECT_EQ(reader.lost(), 0U);
    EXPECT_TRUE(reader.take_complaints().empty());
    return read;
  }

  std::filesystem::path folder_;
};

std::string name_of(const std::vector<Mark>& marks, std::uint64_t id) {
  std::string text;
  for (const Mark& mark : marks) {
    if (mark.kind != RUBATO_MARK_NAME || mark.id != id) continue;
    EXPECT_EQ(mark.flags >> 16, text.size() / 32);
    text.append(reinterpret_cast<const char*>(mark.detail.data()), sizeof mark.detail);
  }
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

TEST_F(MarkHeader, what_a_c_program_marks_is_read_in_its_order) {
  mark_from_c();
  std::vector<std::uint32_t> kinds;
  for (const Mark& mark : marks()) kinds.push_back(mark.kind);
  const std::vector<std::uint32_t> iteration{RUBATO_MARK_ITERATION_BEGIN, RUBATO_MARK_PHASE_BEGIN,
                                             RUBATO_MARK_PHASE_END, RUBATO_MARK_ITERATION_END};
  std::vector<std::uint32_t> wanted{RUBATO_MARK_TRAINING_BEGIN, RUBATO_MARK_EPOCH_BEGIN};
  for (int i = 0; i < 3; ++i) wanted.insert(wanted.end(), iteration.begin(), iteration.end());
  wanted.insert(wanted.end(), {RUBATO_MARK_EPOCH_END, RUBATO_MARK_TRAINING_END});
  EXPECT_EQ(kinds, wanted);
  EXPECT_EQ(marks()[2].detail[0], 4U);
  EXPECT_EQ(marks()[2].detail[1], 100U);
}

// SIGXFSZ would end the program; nobody who trains asked for a ring.
TEST_F(MarkHeader, where_files_may_not_grow_nothing_is_marked_and_the_program_lives) {
  const auto limited = [] {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    ::_exit(rubato_mark_open() == 0 ? 7 : 1);
  };
  EXPECT_EXIT(limited(), ::testing::ExitedWithCode(7), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(MarkHeader, all_files_of_a_program_share_the_ring_of_a_thread) {
  mark_window_from_c("from C");
  rubato_window_begin("from C++");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(MarkHeader, a_name_is_told_once_and_whole) {
  const std::string name(100, 'x');
  rubato_mark(name.c_str());
  rubato_mark(name.c_str());
  const auto read = marks();
  ASSERT_EQ(read.size(), 6U);  // four parts, and two moments
  EXPECT_EQ(name_of(read, read.back().id), name);
}

TEST_F(MarkHeader, what_is_trained_is_told_with_its_figures) {
  rubato_model("resnet50", 25557032, 64, RUBATO_PRECISION_BF16);
  const auto read = marks();
  ASSERT_FALSE(read.empty());
  EXPECT_EQ(read.back().kind, RUBATO_MARK_MODEL);
  EXPECT_EQ(name_of(read, read.back().id), "resnet50");
  EXPECT_EQ(read.back().detail, (std::array<std::uint64_t, 4>{25557032, 64, RUBATO_PRECISION_BF16, 0}));
}

TEST_F(MarkHeader, a_long_name_is_cut_between_characters) {
  std::string name(1023, 'x');
  name += "\u00e9t\u00e9";
  rubato_mark(name.c_str());
  const auto read = marks();
  EXPECT_EQ(name_of(read, read.back().id), std::string(1023, 'x'));
}

TEST_F(MarkHeader, each_thread_has_a_ring_of_its_own) {
  rubato_iteration_begin(1);
  std::thread([] {
    rubato_iteration_begin(2);
    rubato_mark_close();
  }).join();
  const auto read = marks();
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].pid, read[1].pid);
  EXPECT_NE(read[0].tid, read[1].tid);
}

TEST_F(MarkHeader, a_forked_child_writes_to_a_ring_of_its_own) {
  rubato_iteration_begin(1);
  const pid_t child = ::fork();
  if (child == 0) {
    rubato_iteration_begin(2);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  rubato_iteration_end(1);
  const auto read = marks();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[1].pid, child);
  EXPECT_EQ(read[2].pid, ::getpid());
}

TEST_F(MarkHeader, the_rank_is_that_of_the_launcher) {
  ::setenv("RANK", "none", 1);
  ::setenv("SLURM_PROCID", "7", 1);
  rubato_iteration_begin(0);
  ::unsetenv("RANK");
  ::unsetenv("SLURM_PROCID");
  EXPECT_EQ(marks().at(0).rank, 7);
}

TEST_F(MarkHeader, a_full_ring_keeps_the_newest) {
  const std::uint64_t count = RUBATO_MARK_DEFAULT_CAPACITY + 10;
  for (std::uint64_t i = 0; i < count; ++i) rubato_iteration_begin(i);
  MarkReader reader(folder_);
  const auto read = reader.poll(TimePoint{std::chrono::steady_clock::now().time_since_epoch().count()});
  EXPECT_GE(reader.lost(), 10U);  // one more may be under way as it looks
  ASSERT_FALSE(read.empty());
  EXPECT_EQ(read.back().id, count - 1);
}

TEST_F(MarkHeader, without_anybody_to_read_them_marks_cost_no_file) {
  ::unsetenv(RUBATO_MARKS_ENV);
  mark_from_c();
  EXPECT_EQ(rubato_mark_open(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(MarkHeader, a_folder_that_is_gone_leaves_errno_and_the_program_alone) {
  ::setenv(RUBATO_MARKS_ENV, (folder_ / "gone").c_str(), 1);
  errno = EDOM;
  mark_from_c();
  EXPECT_EQ(errno, EDOM);
}

}  // namespace
}  // namespace rubato::conduct
