// The parts of the kernel detector, one question each.
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "progress/kernels/accumulation.h"
#include "progress/kernels/algebra.h"
#include "progress/kernels/alignment.h"
#include "progress/kernels/candidates.h"
#include "progress/kernels/confidence.h"
#include "progress/kernels/consensus.h"
#include "progress/kernels/cutter.h"
#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {
namespace {

std::vector<Token> tokens(std::string_view letters) {
  return {letters.begin(), letters.end()};
}
std::string letters(const std::vector<Token>& tokens) {
  std::string out;
  for (const Token t : tokens) out += static_cast<char>(t);
  return out;
}

TEST(TokenTable, NameGridBlockAndGraphMakeAToken) {
  TokenTable table;
  KernelRecord r;
  r.name_hash = 1;
  const Token first = table.token(r);
  EXPECT_EQ(table.token(r), first);
  r.grid[2] = 8;
  const Token other_grid = table.token(r);
  EXPECT_NE(other_grid, first);
  EXPECT_EQ(table.name(other_grid), table.name(first));
  r.block[1] = 4;
  EXPECT_NE(table.token(r), other_grid);
  r.graph = 3;
  const Token in_graph = table.token(r);
  EXPECT_NE(table.name(in_graph), table.name(first));
  EXPECT_TRUE(table.is_graph(in_graph));
  EXPECT_FALSE(table.is_graph(first));
}

TEST(TokenTable, KeepsItsNumbersWhileItGrowsAndThenStops) {
  TokenTable table;
  KernelRecord r;
  std::vector<Token> first;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    r.name_hash = i;
    const Token t = table.token(r);
    if (i < 1'000) first.push_back(t);
  }
  EXPECT_EQ(table.size(), TokenTable::kMostTokens);
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    r.name_hash = i;
    EXPECT_EQ(table.token(r), first[i]);
  }
}

TEST(Alignment, ARepeatedSequenceMatchesItself) {
  const auto t = tokens(times("ABCDEFGH", 10));
  EXPECT_EQ(match_itself(t, 8).fraction(), 1);
  EXPECT_EQ(match_itself(t, 3).fraction(), 0);
}

TEST(Alignment, ALostLaunchCostsLittle) {
  const auto t = tokens(times("ABCDEFGH", 6) + "ABCEFGH" + times("ABCDEFGH", 6));
  EXPECT_GT(match_itself(t, 8).fraction(), 0.85);
}

TEST(Alignment, ALagLongerThanTheSequenceMatchesNothing) {
  EXPECT_EQ(match_itself(tokens("ABC"), 3).fraction(), 0);
  EXPECT_EQ(match_itself({}, 1).fraction(), 0);
}

TEST(Candidates, HoldThePeriodAlthoughEveryLaunchComesSeveralTimesInIt) {
  const auto found = candidate_periods(tokens(times("AABABB", 20)));
  EXPECT_NE(std::ranges::find(found, 6U), found.end());
}

TEST(Consensus, PutsBackWhatOneIterationLost) {
  const auto made = consensus(tokens("ABCEFGH" + times("ABCDEFGH", 9)), 7);
  EXPECT_EQ(letters(made.pattern), "ABCDEFGH");
}

TEST(Consensus, LeavesOutWhatOnlyOneIterationHas) {
  const auto made = consensus(tokens("ABCxyDEFGH" + times("ABCDEFGH", 9)), 10);
  EXPECT_EQ(letters(made.pattern), "ABCDEFGH");
}

NowAndThen every(std::size_t units, double launches, double busy_ms) {
  return {.units = units,
          .distance = units * 500,
          .launches = launches,
          .unit_launches = 500,
          .busy = Seconds(busy_ms / 1'000),
          .unit_busy = Seconds(0.05)};
}

TEST(Accumulation, AFewBatchesAndAnOptimizerAreOneIteration) {
  EXPECT_GT(log_odds_of_a_step(every(4, 40, 2)), 2);
  EXPECT_GT(log_odds_of_a_step(every(8, 1, 2)), 1);  // a fused optimizer
}

TEST(Accumulation, ALogLineEveryFiftyIterationsIsNone) {
  EXPECT_LT(log_odds_of_a_step(every(50, 2, 0.01)), -2);
}

TEST(Accumulation, AnEvaluationEveryHundredIterationsIsNone) {
  EXPECT_LT(log_odds_of_a_step(every(100, 5'000, 500)), -2);
}

// The optimizer has come twice only: not yet known, so nothing is sure.
TEST(Accumulation, WhatCameTwiceAndMayComeAgainLowersTheChance) {
  const auto t = tokens(times(times("ABCDEFGH", 4) + "OPQ", 2) + times("ABCDEFGH", 3));
  const std::vector<double> busy(t.size(), 1e-5);
  const Accumulation found = find_accumulation(t, busy, 8);
  EXPECT_FALSE(found.step);
  EXPECT_LT(found.chance, 0.7);
}

TEST(Cutter, AnIterationWithoutMostOfItsLaunchesIsCountedButNotTold) {
  const std::string_view whole = "ABCDEFGHIJKLMNOP";
  Cutter cutter(tokens(whole));
  std::size_t told = 0;
  std::int64_t at = 0;
  for (const char c : times(whole, 3) + "ABCDMNOP" + times(whole, 1) + "A")
    if (cutter.add(static_cast<Token>(c), TimePoint{++at})) ++told;
  EXPECT_EQ(cutter.ended(), 5);
  EXPECT_EQ(told, 4U);
}

TEST(Cutter, AnIterationWithAnotherJobInItIsNotTold) {
  Cutter cutter(tokens("ABCDEFGH"));
  std::size_t told = 0;
  std::int64_t at = 0;
  for (const char c : "ABCDEFGH" + ("ABCD" + times("x", 30)) + "EFGH" + times("ABCDEFGH", 2) + "A")
    if (cutter.add(static_cast<Token>(c), TimePoint{++at})) ++told;
  EXPECT_EQ(told, 3U);
}

TEST(Confidence, GrowsWithTheIterationsAndFallsWithSilentCycles) {
  Evidence e{.iterations = 3, .period = Seconds(0.3), .launches = 1'000};
  const double few = confidence_in(e);
  e.iterations = 100;
  const double many = confidence_in(e);
  EXPECT_LT(few, 0.9);
  EXPECT_GT(many, 0.9);
  e.silent_cycles = 2;
  EXPECT_LT(confidence_in(e), 0.85 * many);
}

TEST(Confidence, AFewShortLaunchesMayBeALayer) {
  const Evidence layer{.iterations = 24, .period = Seconds(0.001), .launches = 20};
  const Evidence batch{.iterations = 24, .period = Seconds(0.1), .launches = 1'000};
  EXPECT_LT(confidence_in(layer), 0.75);
  EXPECT_GT(confidence_in(batch), 0.85);
}

}  // namespace
}  // namespace rubato::progress::kernels
