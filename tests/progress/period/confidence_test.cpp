#include "progress/period/confidence.h"

#include <gtest/gtest.h>

namespace rubato::progress {
namespace {

Evidence clear() {
  Evidence e;
  e.chance = 0.99;
  e.cycles = 20;
  e.good = 1;
  e.matched = 0.98;
  e.updates = 40;
  e.continuity = 0.9;
  e.covered = 0.95;
  return e;
}

TEST(Confidence, IsHighWhereNothingSpeaksAgainst) {
  EXPECT_GT(confidence_of(clear()), 0.95);
}

TEST(Confidence, StaysAtNineTenthsWhereThePeriodMayBeAnAlias) {
  Evidence e = clear();
  e.updates = 5;
  EXPECT_LE(confidence_of(e), 0.9);
}

TEST(Confidence, StaysAtNineTenthsWhereSomeStretchesDiffer) {
  Evidence e = clear();
  e.good = 0.85;  // a longer cycle may be around it
  EXPECT_LE(confidence_of(e), 0.9);
}

TEST(Confidence, IsNotHighWhereAFewHarmonicsMayBeAFasterIteration) {
  Evidence e = clear();
  e.smooth = 0.8;
  EXPECT_LE(confidence_of(e), 0.75);
}

TEST(Confidence, WhatTheUpdatesCallABeatStaysBelowNineTenths) {
  Evidence e = clear();
  e.relation = PeriodRelation::beat;
  EXPECT_LE(confidence_of(e), 0.9);
}

TEST(Confidence, FallsWithWorseEvidence) {
  Evidence e = clear();
  const double before = confidence_of(e);
  e.chance = 0.5;
  EXPECT_LT(confidence_of(e), before - 0.3);
}

TEST(Confidence, FallsWhereSingleCyclesAreNotFound) {
  Evidence e = clear();
  e.matched = 0.4;
  EXPECT_LT(confidence_of(e), 0.7);
}

TEST(Confidence, ThatThereIsNoneGrowsWithTimeAndFallsWithACandidate) {
  Look look;
  look.chance = 0.02;
  EXPECT_GT(confidence_in_none(look, 60), confidence_in_none(look, 12));
  const double before = confidence_in_none(look, 60);
  look.chance = 0.15;
  EXPECT_LT(confidence_in_none(look, 60), before);
}

}  // namespace
}  // namespace rubato::progress
