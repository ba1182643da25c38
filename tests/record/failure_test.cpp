#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "record/location.h"
#include "record/reader.h"
#include "record/sqlite.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// Environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  Variable(const Variable&) = delete;
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(RecordDirectory, FollowsTheXdgRules) {
  const Variable home("HOME", "/home/ada");
  {
    const Variable state("XDG_STATE_HOME", "/state");
    EXPECT_EQ(default_directory(), fs::path("/state/rubato/runs"));
  }
  const Variable state("XDG_STATE_HOME", "relative/counts/as/unset");
  EXPECT_EQ(default_directory(), fs::path("/home/ada/.local/state/rubato/runs"));
}

TEST(RecordDirectory, WithoutHomeSaysWhatToSet) {
  const Variable home("HOME", nullptr);
  const Variable state("XDG_STATE_HOME", nullptr);
  const auto directory = default_directory();
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().hint, HasSubstr("XDG_STATE_HOME"));
}

TEST(RecordDirectory, IsCreatedForItsOwnerAlone) {
  const Folder folder;
  const fs::path runs = folder.path() / "state/rubato/runs";
  ASSERT_TRUE(Writer::create(runs, run_info()));
  struct stat there {};
  ASSERT_EQ(::stat(runs.c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0700U);
}

TEST(RecordWriter, NamesPathAndRemedyWhereTheFolderCannotBeMade) {
  const Folder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  const auto writer = Writer::create(folder.path() / "file" / "runs", run_info());
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().what, HasSubstr((folder.path() / "file").string()));
  EXPECT_THAT(writer.error().hint, HasSubstr("XDG_STATE_HOME"));
}

TEST(RecordWriter, RefusesAReadOnlyFolder) {
  if (::geteuid() == 0) {
    // Root may write anywhere; /proc is the folder even root cannot write to.
    const auto writer = Writer::create("/proc", run_info());
    ASSERT_FALSE(writer);
    EXPECT_THAT(writer.error().what, HasSubstr("/proc/"));
    EXPECT_THAT(writer.error().hint, HasSubstr("XDG_STATE_HOME"));
    return;
  }
  const Folder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const auto writer = Writer::create(folder.path(), run_info());
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().what, HasSubstr(folder.path().string()));
  EXPECT_THAT(writer.error().hint, HasSubstr("XDG_STATE_HOME"));
}

TEST(RecordWriter, NeverOverwritesARecord) {
  const Folder folder;
  ASSERT_TRUE(Writer::create(folder.path(), run_info()));
  EXPECT_EQ(Writer::create(folder.path(), run_info()).error().code, ErrorCode::conflict);
}

// A file size limit fails the same writes a full disk fails.
TEST(RecordWriter, TellsOnceThatTheDiskIsFullAndThenKeepsQuiet) {
  const Folder folder;
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  (*writer)->device(device_info());
  ASSERT_TRUE(write_tenths(**writer, 0, 50));
  rlimit normal{};
  ::getrlimit(RLIMIT_FSIZE, &normal);
  rlimit tight = normal;
  tight.rlim_cur = 150'000;
  ::setrlimit(RLIMIT_FSIZE, &tight);
  int errors = 0;
  std::string what;
  for (int tenth = 50; tenth < 3000; ++tenth) {
    const Status stepped = write_tenths(**writer, tenth, tenth + 1);
    if (stepped) continue;
    ++errors;
    what = stepped.error().what;
  }
  const auto finished = (*writer)->finish(run_end());
  ::setrlimit(RLIMIT_FSIZE, &normal);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(errors, 1);
  EXPECT_THAT(what, HasSubstr("20261121-081500-1a2b.sqlite"));
  EXPECT_FALSE(finished);
  const fs::path file = (*writer)->file();
  writer->reset();
  const auto read = read_run(file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_GE(read->devices[0].fast.size(), 40U);
}

TEST(RecordWriter, WritesElsewhereAndMovesTheRecordWhereTheFolderIsOnANetwork) {
  const Folder network;
  const Folder local;
  const Placement placement{[&](const fs::path& p) { return p == network.path(); }, local.path()};
  auto writer = Writer::create(network.path(), run_info(), placement);
  ASSERT_TRUE(writer);
  EXPECT_EQ((*writer)->file().parent_path().parent_path(), local.path());
  (*writer)->device(device_info());
  ASSERT_TRUE(write_tenths(**writer, 0, 20));
  EXPECT_TRUE(fs::is_empty(network.path()));
  const auto file = (*writer)->finish(run_end());
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(*file, network.path() / "20261121-081500-1a2b.sqlite");
  EXPECT_TRUE(fs::is_empty(local.path()));
  EXPECT_TRUE(read_run(*file));
  EXPECT_EQ(list_runs(network.path())->size(), 1U);
}

TEST(RecordWriter, LeavesTheRecordWhereItIsWhenItCannotBeMoved) {
  const Folder network;
  const Folder local;
  const Placement placement{[](const fs::path&) { return true; }, local.path()};
  auto writer = Writer::create(network.path() / "gone", run_info(), placement);
  ASSERT_TRUE(writer);
  fs::remove_all(network.path() / "gone");
  const auto file = (*writer)->finish(run_end());
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().what, HasSubstr((*writer)->file().string()));
  EXPECT_TRUE(read_run((*writer)->file()));
}

/// What the effective user may not do: root may write everywhere, so it steps down meanwhile.
class Unprivileged {
 public:
  Unprivileged() : changed_(::geteuid() == 0 && ::seteuid(65534) == 0) {}
  Unprivileged(const Unprivileged&) = delete;
  ~Unprivileged() {
    if (changed_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool changed_;
};

/// The record of a run that goes on, copied without the files of `left_out`.
fs::path copied(const Folder& from, const Folder& to, const std::vector<std::string>& left_out) {
  auto writer = Writer::create(from.path(), run_info());
  EXPECT_TRUE(writer);
  (*writer)->device(device_info());
  EXPECT_TRUE(write_tenths(**writer, 0, 30));
  for (const auto& entry : fs::directory_iterator(from.path())) {
    const std::string name = entry.path().filename().string();
    if (std::none_of(left_out.begin(), left_out.end(), [&](const auto& end) { return name.ends_with(end); }))
      fs::copy_file(entry.path(), to.path() / name);
  }
  return to.path() / "20261121-081500-1a2b.sqlite";
}

TEST(RecordReader, SaysWhyARunCutShortCannotBeReadInAReadOnlyFolder) {
  const Folder run;
  const Folder archive;
  const fs::path file = copied(run, archive, {"-shm", "index.tsv"});
  for (const auto& entry : fs::directory_iterator(archive.path()))
    fs::permissions(entry.path(), fs::perms(0444));
  fs::permissions(archive.path(), fs::perms(0555));
  {
    const Unprivileged reader;
    if (::eaccess(file.c_str(), R_OK) != 0) GTEST_SKIP() << "the temporary folder is not open to others";
    const auto read = read_run(file);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::no_permission);
    EXPECT_THAT(read.error().what, HasSubstr("20261121-081500-1a2b.sqlite-shm"));
    EXPECT_THAT(read.error().hint, HasSubstr("20261121-081500-1a2b.sqlite-wal"));
  }
  fs::permissions(archive.path(), fs::perms(0755));
  EXPECT_GE(read_run(file)->devices[0].fast.size(), 20U);
}

TEST(RecordReader, SaysWhoseARecordIsThatItMayNotRead) {
  const Folder run;
  const Folder archive;
  const fs::path file = copied(run, archive, {"-shm", "index.tsv"});
  fs::permissions(archive.path(), fs::perms(0755));
  fs::permissions(file, fs::perms(0000));
  const Unprivileged reader;
  const auto read = read_run(file);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what, HasSubstr("Permission denied"));
  EXPECT_THAT(read.error().hint, HasSubstr("ls -l"));
}

TEST(RecordReader, NamesTheLogThatWasNotCopiedAlong) {
  const Folder run;
  const Folder archive;
  const auto read = read_run(copied(run, archive, {"-shm", "-wal", "index.tsv"}));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::corrupt);
  EXPECT_THAT(read.error().what, HasSubstr("its log 20261121-081500-1a2b.sqlite-wal is not beside it"));
  EXPECT_THAT(read.error().hint, HasSubstr("20261121-081500-1a2b.sqlite-wal"));
}

TEST(RecordReader, RefusesANewerSchema) {
  const Folder folder;
  auto writer = Writer::create(folder.path(), run_info());
  ASSERT_TRUE(writer);
  const auto file = (*writer)->finish(run_end());
  writer->reset();
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(file->c_str(), &raw), SQLITE_OK);
  sqlite3_exec(raw, "UPDATE schema_version SET version=99", nullptr, nullptr, nullptr);
  sqlite3_close(raw);
  const auto read = read_run(*file);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::not_supported);
  EXPECT_THAT(read.error().what, HasSubstr("99"));
}

}  // namespace
}  // namespace rubato::record
