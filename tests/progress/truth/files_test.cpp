#include "period_truth/files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "period_truth/trace.h"

namespace rubato::period_truth {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TraceFiles, HoldEveryReadingAndTheTruthBesideThem) {
  const std::string folder = testing::TempDir() + "period_truth_files";
  ASSERT_TRUE(write_traces(folder, 100'000, 2));
  const auto truth = lines_of(folder + "/truth.csv");
  ASSERT_EQ(truth.size(), 3U);
  EXPECT_EQ(truth[0], "file,seed,family,sensor,periodic,period_s,observable");
  EXPECT_EQ(truth[1].rfind("100000.csv,100000,", 0), 0U) << truth[1];
  const auto lines = lines_of(folder + "/100000.csv");
  EXPECT_EQ(lines[0], "time_s,power_w,sm_util_pct,memory_util_pct,sm_clock_mhz");
  EXPECT_EQ(lines.size(), draw_trace(100'000).points.size() + 1);
  std::filesystem::remove_all(folder);
}

TEST(TraceFiles, SayWhereTheyCannotBeWritten) {
  const Status written = write_traces("/dev/null/traces", 100'000, 1);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().what.find("/dev/null/traces"), std::string::npos);
}

}  // namespace
}  // namespace rubato::period_truth
