// docs/evidence/power-limits.md is what the tables and the simulator give now. To renew it:
//   build/release/bin/rubato-power-limits --data ../shared/data > docs/evidence/power-limits.md
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/sweep_table_csv.h"
#include "generated_page.h"
#include "power_limits/answers.h"

namespace rubato::limits {
namespace {

constexpr const char* kHeader =
    "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n";

// a: 200 W at the default; 150 W costs 4 % of time for 20 % of energy, 100 W 20 % for 25 %. b: nothing helps.
Board small() {
  const auto table = parse_sweep_table(std::string(kHeader) +
                                       "X,a,a,250,,,1,200,200\nX,a,a,150,,,1.04,153.8,160\n"
                                       "X,a,a,100,,,1.2,125,150\n"
                                       "X,b,b,250,,,1,100,100\nX,b,b,150,,,1.02,100,102\n"
                                       "X,b,b,100,,,1.1,100,110\n");
  EXPECT_TRUE(table);
  return board_of(*table, "made up").value();
}

TEST(PowerLimitAnswers, EachWorkloadTakesItsBestLimitInsideTheBound) {
  const Answer free = answer(small(), {false, std::nullopt, 0_W});
  EXPECT_EQ(free.limit, (std::vector<Watts>{100_W, 250_W}));
  EXPECT_NEAR(free.saved[0], 0.25, 1e-12);
  const Answer bounded = answer(small(), {false, 0.05, 0_W});
  EXPECT_EQ(bounded.limit[0], 150_W);
  EXPECT_NEAR(bounded.slower[0], 0.04, 1e-12);
  EXPECT_EQ(answer(small(), {false, 0.01, 0_W}).limit[0], 250_W);
}

TEST(PowerLimitAnswers, TheHostAndTheDelayMakeSlownessDear) {
  // EDP of a: 0.8 * 1.04 = 0.832 at 150 W, 0.75 * 1.2 = 0.9 at 100 W.
  EXPECT_NEAR(answer(small(), {true, std::nullopt, 0_W}).saved[0], 0.168, 1e-12);
  // 200 W of host beside 200 W of board: half of 0.8 and half of 1.04.
  EXPECT_NEAR(answer(small(), {false, std::nullopt, 200_W}).saved[0], 0.08, 1e-12);
}

TEST(PowerLimitAnswers, OneLimitForAllBreaksNobodysBound) {
  const Answer bounded = answer(small(), {false, 0.05, 0_W});
  EXPECT_EQ(bounded.one_limit, 150_W);
  EXPECT_NEAR(bounded.one_saved, (0.20 - 0.02) / 2, 1e-12);
  EXPECT_NEAR(bounded.one_worst_slowdown, 0.04, 1e-12);
  EXPECT_EQ(answer(small(), {false, 0.01, 0_W}).one_limit, 250_W);
}

TEST(PowerLimitAnswers, TheSavingVanishesWhereTheHostDrawsWhatASecondSaves) {
  // 200 J/s * 0.20 / 0.04
  EXPECT_NEAR(vanishing_host(small(), 0.05).value().value(), 1000, 1e-9);
  EXPECT_FALSE(vanishing_host(small(), 0.01));
}

TEST(RankCorrelation, IsOfRanksAndTiesShareTheirs) {
  EXPECT_NEAR(rank_correlation({1, 2, 3}, {10, 100, 1000}), 1, 1e-12);
  EXPECT_NEAR(rank_correlation({1, 2, 3}, {3, 2, 1}), -1, 1e-12);
  EXPECT_EQ(rank_correlation({1, 2, 3}, {5, 5, 5}), 0);
}

TEST(PowerLimitsPage, IsWhatTablesAndSimulatorGiveNow) {
  const std::string source = environment("RUBATO_SOURCE_DIR");
  const std::string data = environment("RUBATO_TEST_DATA");
  if (source.empty()) GTEST_SKIP() << "run by ctest, which says where the sources are";
  if (!std::filesystem::exists(data + "/tables")) GTEST_SKIP() << "the measured tables are not there";
  std::ostringstream committed;
  committed << std::ifstream(source + "/docs/evidence/power-limits.md").rdbuf();
  EXPECT_EQ(committed.str(), output_of(std::string(RUBATO_POWER_LIMITS) + " --data '" + data + "'"))
      << "renew it: rubato-power-limits --data ../shared/data > docs/evidence/power-limits.md";
}

}  // namespace
}  // namespace rubato::limits
