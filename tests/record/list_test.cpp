#include <gmock/gmock.h>

#include <fstream>

#include "record/index.h"
#include "record/reader.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::HasSubstr;
namespace fs = std::filesystem;

void add_run(const fs::path& folder, const std::string& id, const std::string& started_at) {
  auto writer = Writer::create(folder, run_info(id, started_at));
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->finish(run_end()));
}

std::vector<std::string> ids(const fs::path& folder) {
  std::vector<std::string> out;
  const auto runs = list_runs(folder);
  for (const RunSummary& run : *runs) out.push_back(run.run_id);
  return out;
}

TEST(RunList, IsEmptyWhereThereIsNoFolder) {
  EXPECT_TRUE(list_runs("/nowhere/at/all")->empty());
}

TEST(RunList, IsInOrderOfStartWhateverTheZone) {
  const Folder folder;
  add_run(folder.path(), "b", "2026-10-25T02:30:00+02:00");  // before the clocks went back
  add_run(folder.path(), "a", "2026-10-25T02:10:00+01:00");  // 40 minutes later
  add_run(folder.path(), "c", "2026-10-24T23:00:00Z");
  EXPECT_EQ(ids(folder.path()), (std::vector<std::string>{"c", "b", "a"}));
  EXPECT_EQ(find_run(folder.path(), "last")->filename(), "a.sqlite");
}

TEST(RunList, IsMendedWhereTheIndexIsMissingStaleOrDamaged) {
  const Folder folder;
  add_run(folder.path(), "a1", "2026-11-21T08:00:00Z");
  add_run(folder.path(), "a2", "2026-11-21T09:00:00Z");
  const std::vector<std::string> both = {"a1", "a2"};
  EXPECT_EQ(ids(folder.path()), both);

  fs::remove(index_file(folder.path()));
  EXPECT_EQ(ids(folder.path()), both);
  EXPECT_EQ(read_index(folder.path()).by_file_name.size(), 2U);

  for (const char* damage : {"", "rubato-index/1\na1.sqlite\tnonsense\n", "\x01\x02\x03"}) {
    std::ofstream(index_file(folder.path()), std::ios::trunc) << damage;
    EXPECT_EQ(ids(folder.path()), both);
    EXPECT_FALSE(read_index(folder.path()).damaged);
  }

  fs::remove(folder.path() / "a1.sqlite");
  EXPECT_EQ(ids(folder.path()), std::vector<std::string>{"a2"});
  EXPECT_EQ(read_index(folder.path()).by_file_name.size(), 1U);
}

TEST(RunList, ComesFromTheIndexAlone) {
  const Folder folder;
  add_run(folder.path(), "a1", "2026-11-21T08:00:00Z");
  Index index = read_index(folder.path());
  ASSERT_EQ(index.by_file_name.size(), 1U);
  index.by_file_name["a1.sqlite"].summary.mode = "from the index";
  write_index(folder.path(), index);
  const auto runs = list_runs(folder.path());
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_EQ((*runs)[0].mode, "from the index");
  EXPECT_EQ((*runs)[0].command, run_info().command);
  EXPECT_NEAR((*runs)[0].duration->value(), 30.0, 1e-9);
  EXPECT_EQ((*runs)[0].exit_code, 3);
}

TEST(RunList, KeepsCommandsWithAnyByte) {
  const Folder folder;
  RunInfo info = run_info("a1");
  info.command = {"sh", "-c", "tab\there\nnew line, 100 %\x7f\xff"};
  ASSERT_TRUE((*Writer::create(folder.path(), info))->finish(run_end()));
  EXPECT_FALSE(read_index(folder.path()).damaged);
  EXPECT_EQ((*list_runs(folder.path()))[0].command, info.command);
  EXPECT_EQ(read_run(folder.path() / "a1.sqlite")->info.command, info.command);
}

TEST(FindRun, TakesAnIdItsBeginningOrAPath) {
  const Folder folder;
  add_run(folder.path(), "20261121-08", "2026-11-21T08:00:00Z");
  add_run(folder.path(), "20261121-09", "2026-11-21T09:00:00Z");
  const fs::path first = folder.path() / "20261121-08.sqlite";
  EXPECT_EQ(find_run(folder.path(), "20261121-08"), first);
  EXPECT_EQ(find_run(folder.path(), "20261121-08.sqlite").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_run("/nowhere", first.string()), first);
  EXPECT_EQ(find_run(folder.path(), "20261121").error().code, ErrorCode::invalid_argument);
  const auto missing = find_run(folder.path(), "1999");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().what, HasSubstr("20261121-09"));
  EXPECT_EQ(find_run("/nowhere", "last").error().code, ErrorCode::not_found);
}

TEST(FindRun, NamesARecordThatCannotBeReadAsItIsFound) {
  const Folder folder;
  std::ofstream(folder.path() / "20261121-08.sqlite") << "no database";
  const auto missing = find_run(folder.path(), "1999");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().what, HasSubstr("; 20261121-08 cannot be read"));
  EXPECT_TRUE(find_run(folder.path(), "20261121-08"));
}

}  // namespace
}  // namespace rubato::record
