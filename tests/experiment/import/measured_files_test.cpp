// The original files, where they are present, against the tables that were made of them elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/sweep_table_csv.h"
#include "experiment/import/formats.h"

namespace rubato::experiment {
namespace {

std::filesystem::path data() {
  const char* folder = std::getenv("RUBATO_TEST_DATA");
  return folder == nullptr ? std::filesystem::path() : std::filesystem::path(folder);
}

ForeignFile original(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {path.string(), {std::istreambuf_iterator<char>(in), {}}};
}

struct Pair {
  const char* format;
  std::vector<const char*> originals;
  const char* table;
};

class MeasuredFile : public testing::TestWithParam<Pair> {};

TEST_P(MeasuredFile, GivesTheSameRows) {
  const auto path = data() / "tables" / GetParam().table;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto expected = read_sweep_table(path);
  ASSERT_TRUE(expected) << expected.error().what;
  std::vector<ForeignFile> files;
  for (const char* name : GetParam().originals) files.push_back(original(data() / name));
  const auto imported = import_files(GetParam().format, files);
  ASSERT_TRUE(imported) << imported.error().what;
  ASSERT_EQ(imported->rows.size(), expected->rows.size());
  for (std::size_t i = 0; i < expected->rows.size(); ++i) {
    const SweepRow& want = expected->rows[i];
    const auto found = std::find_if(imported->rows.begin(), imported->rows.end(), [&](const SweepRow& row) {
      return row.workload == want.workload && row.power_limit == want.power_limit &&
             row.sm_clock == want.sm_clock;
    });
    ASSERT_NE(found, imported->rows.end()) << want.workload;
    EXPECT_EQ(found->gpu, want.gpu);
    EXPECT_EQ(found->group, want.group);
    // The tables have six digits.
    EXPECT_NEAR(found->time / want.time, 1, 1e-5);
    EXPECT_NEAR(found->power / want.power, 1, 1e-5);
    EXPECT_NEAR(found->energy / want.energy, 1, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Tables, MeasuredFile,
    testing::Values(
        Pair{"zeus-power", {"zeus-format/summary_power_v100.csv"}, "v100-power-limit-training.csv"},
        Pair{"zeus-power", {"zeus-format/summary_power_p100.csv"}, "p100-power-limit-training.csv"},
        Pair{"perseus",
             {"pipeline/gpt3-175b+a100_sxm_bf16.csv", "pipeline/bloom+a100_sxm_bf16.csv"},
             "a100sxm-sm-clock-pipeline-stages.csv"}));

TEST(MeasuredRecordings, OfZeussOptimizerAllMakeOneTable) {
  const auto folder = data() / "zeus-format" / "zeus-optimizer-recordings";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  std::vector<ForeignFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(original(entry.path()));
  const auto table = import_files("zeus-optimizer", files);
  ASSERT_TRUE(table) << table.error().what;
  std::size_t lines = 0;
  for (const ForeignFile& file : files)
    lines += static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n')) - 1;
  EXPECT_EQ(table->rows.size(), lines);
  EXPECT_TRUE(write_sweep_table(*table));
}

}  // namespace
}  // namespace rubato::experiment
