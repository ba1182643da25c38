#include "lab/score.h"

#include <gtest/gtest.h>

namespace rubato::lab {
namespace {

Row row(double saving, double slowdown, double oracle) {
  Row out;
  out.oracles.fixed.saving = oracle;
  out.oracles.mixed.saving = 2 * oracle;
  out.run.saving = saving;
  out.run.slowdown = slowdown;
  return out;
}

TEST(Score, CapturedIsARatioOfMeans) {
  const std::vector<Row> rows = {row(0.1, 0.04, 0.1), row(0.0, 0.0, 0.3)};
  const Score s = score(rows, 0.05);
  EXPECT_NEAR(s.saving, 0.05, 1e-12);
  EXPECT_NEAR(*s.captured, 0.25, 1e-12);
  EXPECT_NEAR(*s.captured_of_mixed, 0.125, 1e-12);
}

TEST(Score, ABrokenBoundKeepsItsSavingAndIsCountedApart) {
  const std::vector<Row> rows = {row(0.1, 0.05 + 1e-10, 0.1), row(0.3, 0.07, 0.1)};
  const Score s = score(rows, 0.05);
  EXPECT_EQ(s.bound_violations, 1);
  EXPECT_NEAR(s.excess, 0.01, 1e-9);
  EXPECT_NEAR(s.saving, 0.2, 1e-12);
  EXPECT_NEAR(s.slowdown_max, 0.07, 1e-12);
}

TEST(Score, WhatNoRunHasIsMissing) {
  const std::vector<Row> rows = {row(0, 0, 0)};
  const Score s = score(rows, 0.05);
  EXPECT_FALSE(s.captured);
  EXPECT_FALSE(s.worst_running_slowdown);
  EXPECT_FALSE(s.settled_after);
  EXPECT_EQ(s.settled, 0);
}

TEST(Score, SettlingIsAMeanOverThoseThatSettled) {
  std::vector<Row> rows = {row(0, 0, 0.1), row(0, 0, 0.1)};
  rows[0].run.settled_after = 80;
  rows[1].run.worst_running_slowdown = -0.01;
  const Score s = score(rows, 0.05);
  EXPECT_EQ(s.settled, 1);
  EXPECT_EQ(s.settled_after, 80);
  EXPECT_EQ(s.worst_running_slowdown, -0.01);
}

}  // namespace
}  // namespace rubato::lab
