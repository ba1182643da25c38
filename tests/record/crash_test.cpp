#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "record/reader.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;

/// Writes tenths for ever, and after each step tells the pipe how far the run's clock is.
[[noreturn]] void write_until_killed(const std::filesystem::path& folder, int pipe) {
  auto writer = Writer::create(folder, run_info());
  if (!writer) ::_exit(1);
  (*writer)->device(device_info());
  for (int tenth = 0;; ++tenth) {
    (*writer)->iteration({tenth, fast(tenth).at, fast(tenth + 1).at});
    if (!write_tenths(**writer, tenth, tenth + 1)) ::_exit(2);
    if (::write(pipe, &tenth, sizeof tenth) != sizeof tenth) ::_exit(3);
  }
}

class KilledWriter : public testing::TestWithParam<int> {};

// The child is killed while it is busy with what follows tenth number `parameter`, wherever that is.
TEST_P(KilledWriter, LosesAtMostTheLastSecond) {
  const Folder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) write_until_killed(folder.path(), ends[1]);
  ::close(ends[1]);
  int last = -1;
  int tenth = 0;
  while (last < GetParam() && ::read(ends[0], &tenth, sizeof tenth) == sizeof tenth) last = tenth;
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  while (::read(ends[0], &tenth, sizeof tenth) == sizeof tenth) last = tenth;
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));

  const auto runs = list_runs(folder.path());
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_FALSE((*runs)[0].duration);
  const auto read = read_run((*runs)[0].file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_FALSE(read->end);
  const int kept = read->devices.empty() ? 0 : static_cast<int>(read->devices[0].fast.size());
  EXPECT_GE(kept, last - 10);
  EXPECT_GE(static_cast<int>(read->iterations.size()), last - 10);
  for (int i = 0; i < kept; ++i) ASSERT_EQ(read->devices[0].fast[static_cast<std::size_t>(i)].at, fast(i).at);
}

INSTANTIATE_TEST_SUITE_P(AtManyPoints, KilledWriter,
                         testing::Values(0, 1, 5, 9, 10, 11, 19, 20, 37, 64, 98, 99, 100, 101, 102, 109, 110,
                                         111, 150, 199, 200, 201, 256, 300, 301, 400, 555, 777, 1000, 1001));

TEST(CorruptRecord, IsNamedAndLeftAsItIs) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->device(device_info());
  ASSERT_TRUE(write_tenths(**writer, 0, 300));
  const auto file = (*writer)->finish(run_end());
  ASSERT_TRUE(file);
  std::ifstream in(*file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 0; size < whole.size(); size += 1024) {
    std::ofstream(*file, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto read = read_run(*file);
    // The last page may be one that is not in use any more.
    if (read && whole.size() - size < 4096) {
      EXPECT_EQ(read->devices[0].fast.size(), 300U);
      continue;
    }
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << size << read.error().what;
    EXPECT_NE(read.error().what.find(file->string()), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(*file), size);
    EXPECT_TRUE(list_runs(folder.path()));
  }
  std::ofstream(*file, std::ios::binary | std::ios::trunc) << "time_s,power_w\n0,100\n";
  EXPECT_EQ(read_run(*file).error().code, ErrorCode::corrupt);
  EXPECT_EQ(read_run(folder.path() / "none.sqlite").error().code, ErrorCode::not_found);
}

// Whatever a flipped byte hits, reading ends with a record or an error, never with a crash.
TEST(CorruptRecord, WithAnyFlippedByteIsReadOrRefused) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->device(device_info());
  ASSERT_TRUE(write_tenths(**writer, 0, 30));
  const auto file = (*writer)->finish(run_end());
  ASSERT_TRUE(file);
  std::fstream raw(*file, std::ios::binary | std::ios::in | std::ios::out);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(*file));
  int refused = 0;
  for (std::streamoff at = 0; at < size; at += 97) {
    raw.seekg(at);
    const int byte = raw.get();
    const auto put = [&](int value) {
      raw.seekp(at);
      raw.put(static_cast<char>(value));
      raw.flush();
    };
    put(byte ^ 0x55);
    if (!read_run(*file)) ++refused;
    put(byte);
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(read_run(*file));
}

}  // namespace
}  // namespace rubato::record
