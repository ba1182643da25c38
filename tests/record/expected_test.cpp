// What was expected of settings: as written, and in records of schema version 4, which had none of it.
#include <gmock/gmock.h>

#include "record/reader.h"
#include "record/sqlite.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const Setting k150{.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}};

std::filesystem::path written(const Folder& folder) {
  auto writer = Writer::create(folder.path(), run_info());
  EXPECT_TRUE(writer);
  Writer& w = **writer;
  w.goal({kBegin, "rubato", {.objective = Objective::edp, .max_slowdown = 0.07, .host_watts = 120_W}});
  w.decision({kBegin + 5_s, "warmup", k150, "trying it"});
  w.expectation({kBegin + 5_s,
                 {{{.setting = {}, .measured = true},
                   {.setting = k150,
                    .time = {1.05, 1.01, 1.09},
                    .energy = {0.8, 0.7, 0.9},
                    .holds = 0.625,
                    .on_curve = false}}}});
  w.expectation({kBegin + 9_s, {{{.setting = k150, .energy = {0.81, 0.8, 0.82}}}}});
  const auto file = w.finish(run_end());
  EXPECT_TRUE(file);
  return *file;
}

void change(const std::filesystem::path& file, const char* sql) {
  sqlite3* raw = nullptr;
  EXPECT_EQ(sqlite3_open(file.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(raw);
  sqlite3_close(raw);
}

TEST(RecordOfExpectations, ComesBackAsItWasWritten) {
  const Folder folder;
  const auto run = read_run(written(folder));
  ASSERT_TRUE(run) << run.error().what;
  ASSERT_TRUE(run->goal);
  EXPECT_EQ(run->goal->strategy, "rubato");
  EXPECT_EQ(run->goal->goal.objective, Objective::edp);
  EXPECT_DOUBLE_EQ(run->goal->goal.max_slowdown, 0.07);
  EXPECT_EQ(run->goal->goal.host_watts, 120_W);
  ASSERT_THAT(run->expectations, SizeIs(2));
  EXPECT_EQ(run->expectations[0].at, run->decisions[0].at);
  ASSERT_THAT(run->expectations[0].expectation.settings, SizeIs(2));
  const ExpectedSetting& found = run->expectations[0].expectation.settings[0];
  EXPECT_TRUE(found.setting.empty() && found.measured && found.on_curve);
  const ExpectedSetting& tried = run->expectations[0].expectation.settings[1];
  EXPECT_EQ(tried.setting, k150);
  EXPECT_DOUBLE_EQ(tried.time.high, 1.09);
  EXPECT_DOUBLE_EQ(tried.energy.low, 0.7);
  EXPECT_DOUBLE_EQ(tried.holds, 0.625);
  EXPECT_FALSE(tried.measured || tried.on_curve);
  EXPECT_DOUBLE_EQ(run->expectations[1].expectation.settings[0].energy.value, 0.81);
}

TEST(RecordOfExpectations, ASettingOfNoneIsDamage) {
  const Folder folder;
  const auto file = written(folder);
  change(file, "PRAGMA foreign_keys=OFF; DELETE FROM expectation WHERE id=1");
  const auto run = read_run(file);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().what, HasSubstr("expectation"));
}

TEST(RecordOfSchema4, IsStillReadAndExpectsNothing) {
  const Folder folder;
  const auto file = written(folder);
  change(file,
         "UPDATE schema_version SET version=4; DROP TABLE goal; DROP TABLE expected_setting;"
         "DROP TABLE expectation");
  const auto run = read_run(file);
  ASSERT_TRUE(run) << run.error().what;
  EXPECT_FALSE(run->goal);
  EXPECT_THAT(run->expectations, IsEmpty());
  EXPECT_THAT(run->decisions, SizeIs(1));
}

}  // namespace
}  // namespace rubato::record
