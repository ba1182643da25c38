#include "base/shared_file.h"

#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <fstream>

#include "base/text.h"

namespace rubato {
namespace {

using testing::HasSubstr;

// Two numbers that are always equal, unless somebody saw half a change.
struct Pair {
  std::uint64_t left = 0;
  std::uint64_t right = 0;
};

constexpr SharedFileFormat kFormat{.magic = 0x5041495231ULL,
                                   .version = 1,
                                   .cell_size = sizeof(Pair),
                                   .least_header = 4,
                                   .noun = "pair file",
                                   .make_hint = "make one",
                                   .remove_hint = "remove it"};

class SharedFileTest : public testing::Test {
 public:
  ~SharedFileTest() override { std::filesystem::remove(path); }

 protected:
  std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) /
      cat("shared-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());
  std::vector<Pair> pairs{{1, 1}, {2, 2}};
  std::string header = "head";

  Status create(const SharedFileFormat& format = kFormat) {
    return SharedFile::create(path, format, std::as_bytes(std::span(header)),
                              std::as_bytes(std::span(pairs)));
  }
  std::unique_ptr<SharedFile> open() {
    auto file = SharedFile::open(path, kFormat);
    EXPECT_TRUE(file) << file.error().what;
    return file ? std::move(*file) : nullptr;
  }
  static Pair read(SharedFile& file, std::size_t cell) {
    Pair out;
    EXPECT_TRUE(file.update(cell, [&](std::byte* at) { std::memcpy(&out, at, sizeof out); }));
    return out;
  }
  static Status add(SharedFile& file, std::size_t cell) {
    return file.update(cell, [](std::byte* at) {
      auto* pair = reinterpret_cast<Pair*>(at);
      ++pair->left;
      ++pair->right;
    });
  }
};

TEST_F(SharedFileTest, EveryOpenerSeesHeaderAndCells) {
  ASSERT_TRUE(create());
  const auto a = open();
  const auto b = open();
  ASSERT_TRUE(add(*a, 1));
  EXPECT_EQ(read(*b, 1).right, 3U);
  EXPECT_EQ(read(*b, 0).right, 1U);
  EXPECT_EQ(b->cells(), 2U);
  EXPECT_EQ(std::memcmp(b->header().data(), "head", 4), 0);
  EXPECT_EQ(b->owner(), ::geteuid());
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(SharedFileTest, InMemoryItWorksTheSame) {
  const auto file =
      SharedFile::in_memory(kFormat, std::as_bytes(std::span(header)), std::as_bytes(std::span(pairs)));
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_TRUE(add(**file, 0));
  EXPECT_TRUE(add(**file, 0));
  EXPECT_EQ(read(**file, 0).left, 3U);
  EXPECT_TRUE((*file)->path().empty());
  EXPECT_FALSE((*file)->owner());
}

TEST_F(SharedFileTest, AWriterKilledAnywhereLeavesNoHalfChange) {
  ASSERT_TRUE(create());
  const auto file = open();
  for (int round = 0; round < 40; ++round) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (;;) static_cast<void>(add(*file, 0));
    }
    ::usleep(static_cast<useconds_t>(300 + 97 * round));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const Pair pair = read(*file, 0);
    ASSERT_EQ(pair.left, pair.right);
  }
  EXPECT_GT(read(*file, 0).left, 1U);
}

TEST_F(SharedFileTest, TwoProcessesLoseNoChange) {
  ASSERT_TRUE(create());
  const auto file = open();
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (int i = 0; i < 500; ++i) static_cast<void>(add(*file, 0));
    ::_exit(0);
  }
  for (int i = 0; i < 500; ++i) EXPECT_TRUE(add(*file, 0));
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(read(*file, 0).left, 1001U);
}

TEST_F(SharedFileTest, ALockedFileIsAnErrorAndNotAHang) {
  ASSERT_TRUE(create());
  const auto file = open();
  const ScopedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(fd.get(), LOCK_EX), 0);
  const Status locked = add(*file, 0);
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().code, ErrorCode::timeout);
  EXPECT_THAT(locked.error().what, HasSubstr(path.string()));
}

TEST_F(SharedFileTest, IsMadeOnceOnly) {
  ASSERT_TRUE(create());
  EXPECT_EQ(create().error().code, ErrorCode::conflict);
}

TEST_F(SharedFileTest, AnotherVersionIsAConflict) {
  SharedFileFormat other = kFormat;
  other.version = 2;
  ASSERT_TRUE(create(other));
  const auto file = SharedFile::open(path, kFormat);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::conflict);
  EXPECT_EQ(file.error().hint, "remove it");
}

TEST_F(SharedFileTest, WhatIsNotSuchAFileIsCorrupt) {
  EXPECT_EQ(SharedFile::open(path, kFormat).error().code, ErrorCode::not_found);
  std::ofstream(path) << std::string(1000, 'x');
  EXPECT_EQ(SharedFile::open(path, kFormat).error().code, ErrorCode::corrupt);
  std::filesystem::resize_file(path, 5);
  EXPECT_EQ(SharedFile::open(path, kFormat).error().code, ErrorCode::corrupt);
  std::filesystem::remove(path);
  ASSERT_TRUE(create());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_EQ(SharedFile::open(path, kFormat).error().code, ErrorCode::corrupt);
}

TEST_F(SharedFileTest, ACellItDoesNotHaveIsNotFound) {
  ASSERT_TRUE(create());
  EXPECT_EQ(add(*open(), 2).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace rubato
