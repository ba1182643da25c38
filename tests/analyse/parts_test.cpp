#include "analyse/parts.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "made_training.h"

namespace rubato::analyse {
namespace {

using namespace testing_data;
using testing::HasSubstr;
using testing::SizeIs;

Parts parts(const record::RunRecord& run) {
  const Timeline timeline = timeline_of(run);
  return parts_of(run, timeline, sources_of(run));
}

const Part* row(const Parts& parts, const std::string& label) {
  const auto at = std::ranges::find(parts.rows, label, &Part::label);
  return at == parts.rows.end() ? nullptr : &*at;
}

TEST(Parts, EachEpochHasItsEnergy) {
  const Parts p = parts(three_epochs().ended());
  ASSERT_THAT(p.epochs, SizeIs(3));
  for (const SpanEnergy& epoch : p.epochs) {
    EXPECT_EQ(epoch.iterations, 50);
    EXPECT_NEAR(epoch.iteration_time->value(), 0.4, 1e-6);
    ASSERT_TRUE(epoch.energy[0]);
    EXPECT_NEAR(epoch.energy[0]->energy.value(), 7000, 1);
    EXPECT_EQ(epoch.energy[0]->kind, Kind::measured);
    EXPECT_NEAR(epoch.energy[0]->band_calibration.value(), 350, 1);
  }
}

TEST(Parts, RowsSayWhatLiesBetweenTheIterations) {
  const Parts p = parts(three_epochs().ended());
  const Part* iterations = row(p, "iterations");
  ASSERT_NE(iterations, nullptr);
  EXPECT_EQ(iterations->times, 3);
  EXPECT_NEAR(iterations->energy[0].measured->energy.value(), 18'000, 1);
  EXPECT_FALSE(iterations->energy[0].apportioned);
  EXPECT_NEAR(row(p, "start-up")->energy[0].measured->energy.value(), 500, 1);
  EXPECT_NEAR(row(p, "evaluation")->energy[0].measured->energy.value(), 3000, 1);
  // A second is ten updates: apportioned.
  EXPECT_FALSE(row(p, "between epochs")->energy[0].measured);
  EXPECT_NEAR(row(p, "between epochs")->energy[0].apportioned->energy.value(), 120, 1);
  EXPECT_NEAR(row(p, "end")->energy[0].apportioned->energy.value(), 160, 1);
  EXPECT_NEAR(p.balance[0].residual->value(), 0, 1e-6);
  EXPECT_NEAR(p.balance[0].time.value(), 105, 1e-6);
}

TEST(Parts, AddUpWithoutACounterToo) {
  MadeTraining made(2, false);
  made.channel("snmp:rack", "outlet-7", Scope::node, 150_W, 1.0);
  const Parts p = parts(three_epochs(std::move(made)).ended());
  for (const Balance& balance : p.balance) {
    ASSERT_TRUE(balance.residual);
    EXPECT_NEAR(balance.residual->value(), 0, 1e-6);
  }
}

TEST(Parts, OfACalibratedBoardAreCorrectedLikeTheRun) {
  MadeTraining made(1, true);
  record::RunRecord run = three_epochs(std::move(made)).ended();
  const Parts plain = parts(run);
  run.devices[0].info.sensor.gain = 0.9;
  run.devices[0].info.sensor.offset = Watts(10);
  run.end->devices[0].energy->energy =
      run.end->devices[0].energy->energy / 0.9 - Watts(10) * run.end->devices[0].energy->duration();
  const Parts p = parts(run);
  EXPECT_NEAR(p.balance[0].residual->value(), 0, 1e-6);
  const auto joules = [](const Parts& of) {
    return row(of, "iterations")->energy[0].measured->energy.value();
  };
  const double seconds = row(p, "iterations")->time.value();
  EXPECT_NEAR(joules(p), joules(plain) / 0.9 - 10 * seconds, 1);
}

TEST(Parts, IterationEnergyIsMeasuredOverGroups) {
  const Parts p = parts(three_epochs().ended());
  ASSERT_TRUE(p.iterations);
  EXPECT_EQ(p.iterations->count, 150);
  EXPECT_NEAR(p.iterations->seconds.mean, 0.4, 1e-6);
  const IterationEnergy& e = p.iterations->energy[0];
  ASSERT_TRUE(e.joules);
  EXPECT_NEAR(e.joules->mean, 120, 0.1);
  EXPECT_NEAR(e.joules->median, 120, 0.1);
  EXPECT_FALSE(e.apportioned);
  EXPECT_EQ(e.groups, 9);  // 13 iterations are the first 5 s: three groups of 50 an epoch
}

TEST(Parts, WhatMostIterationsAreTooShortForIsNotTheMeanOfTheFewThatWereMeasured) {
  // The first epoch compiles; only its iterations are long enough in a row to be measured.
  MadeTraining made;
  made.wait(5_s, 50_W).iterate(20, 0.5_s, 100_W);
  for (int epoch = 0; epoch < 5; ++epoch) made.wait(1_s, 50_W).iterate(20, 0.05_s, 100_W);
  const Parts p = parts(made.wait(5_s, 50_W).ended());
  const IterationEnergy& e = p.iterations->energy[0];
  EXPECT_EQ(p.iterations->count, 120);
  EXPECT_TRUE(e.apportioned);
  EXPECT_EQ(e.kind, Kind::apportioned);
  const double truth = (20 * 50.0 + 100 * 5.0) / 120;
  EXPECT_NEAR(e.joules->mean, truth, e.band_sampling + 0.35 * truth) << "50 J by the first epoch alone";
  EXPECT_LT(e.joules->mean, 17);
}

TEST(Parts, AFirstIterationThatOnlyQueuesWorkIsNoneInTheMeans) {
  MadeTraining made;
  made.wait(5_s, 50_W).iterate(1, 0.001_s, 100_W).iterate(40, 0.4_s, 100_W);
  const Parts p = parts(made.wait(5_s, 50_W).ended());
  EXPECT_EQ(p.iterations->count, 41);
  EXPECT_NEAR(p.iterations->seconds.mean, 0.4, 1e-6);
  EXPECT_NEAR(p.iterations->energy[0].joules->mean, 40, 0.4);
}

TEST(Parts, TooFewIterationsToMeasureAreApportionedAtTheMeanPower) {
  MadeTraining made;
  made.iterate(5, 0.4_s, 300_W);
  const Parts p = parts(made.ended());
  const IterationEnergy& e = p.iterations->energy[0];
  ASSERT_TRUE(e.joules);
  EXPECT_TRUE(e.apportioned);
  EXPECT_EQ(e.kind, Kind::apportioned);
  EXPECT_NEAR(e.joules->mean, 120, 1);
}

TEST(Parts, AShortWindowIsApportionedByTheStretchAroundIt) {
  MadeTraining made;
  made.wait(10_s, 100_W)
      .say(RUBATO_MARK_WINDOW_BEGIN, 3, "tiny")
      .wait(1_s, 100_W)
      .mark(RUBATO_MARK_WINDOW_END, 3);
  made.wait(10_s, 100_W);
  const Parts p = parts(made.ended());
  ASSERT_THAT(p.windows, SizeIs(1));
  EXPECT_NEAR(p.windows[0].energy[0]->energy.value(), 100, 1e-6);
  EXPECT_EQ(p.windows[0].energy[0]->kind, Kind::apportioned);
}

TEST(Parts, AnEpochThatBeganBeforeTheFirstReadingKeepsItsEnergy) {
  MadeTraining made;
  made.mark(RUBATO_MARK_EPOCH_BEGIN, 0).wait(50_s, 100_W).mark(RUBATO_MARK_EPOCH_END, 0);
  record::RunRecord run = made.ended();
  auto& fast = run.devices[0].fast;
  fast.erase(fast.begin(), fast.begin() + 10);
  const auto energy = parts(run).epochs[0].energy[0];
  ASSERT_TRUE(energy);
  EXPECT_NEAR(energy->energy.value(), 5000, 10);
  EXPECT_GT(energy->unseen, Seconds(0));
  fast.erase(fast.begin(), fast.begin() + 100);
  EXPECT_FALSE(parts(run).epochs[0].energy[0]);  // a fifth is missing
}

// The GPU runs later what the host launches: the energy of the same seconds is not the phase's.
TEST(Parts, PhasesThatOnlyLaunchWorkHaveNoEnergy) {
  MadeTraining made;
  made.phase(RUBATO_PHASE_FORWARD, 10_s, 100_W).phase(RUBATO_PHASE_CHECKPOINT, 10_s, 100_W);
  const Parts p = parts(made.ended());
  ASSERT_THAT(p.phases, SizeIs(2));
  EXPECT_THAT(p.phases[0].energy, SizeIs(0));
  EXPECT_NEAR(p.phases[1].energy[0].measured->energy.value(), 1000, 1);
}

TEST(Parts, OfASimulatedGpuSayModelledAndStillWhatWasSplit) {
  const Parts p = parts(three_epochs(MadeTraining(1, true, Kind::modelled)).ended());
  EXPECT_EQ(row(p, "between epochs")->energy[0].apportioned->kind, Kind::modelled);
  EXPECT_TRUE(row(p, "between epochs")->energy[0].apportioned->apportioned);
}

TEST(Parts, WithoutIterationsAreTheRunInOnePiece) {
  MadeTraining made;
  made.wait(20_s, 80_W);
  const Parts p = parts(made.ended());
  ASSERT_THAT(p.rows, SizeIs(1));
  EXPECT_EQ(p.rows[0].label, "without iterations");
  EXPECT_FALSE(p.iterations);
  EXPECT_NEAR(p.rows[0].energy[0].measured->energy.value(), 1600, 1);
}

TEST(Parts, ASourceThatWasNeverReadHasNoFigures) {
  record::RunRecord run = three_epochs().channel("mqtt:plug", "outlet", Scope::node, 200_W).ended();
  run.channels[0].readings.clear();
  run.end->channels[0].energy.reset();
  const Parts p = parts(run);
  EXPECT_FALSE(p.balance[1].run);
  EXPECT_FALSE(p.balance[1].residual);
  EXPECT_FALSE(p.epochs[0].energy[1]);
  EXPECT_THAT(p.iterations->energy[1].why_not, HasSubstr("no readings"));
}

// Any order of what programs do, with marks lost and garbled.
MadeTraining any_training(bool counter) {
  const auto gpus = *rc::gen::inRange(1, 4);
  MadeTraining made(gpus, counter);
  if (*rc::gen::arbitrary<bool>()) made.channel("snmp:rack", "outlet-7", Scope::node, 150_W, 1.0);
  const auto steps = *rc::gen::inRange(1, 25);
  for (int i = 0; i < steps; ++i) {
    const Watts power{static_cast<double>(*rc::gen::inRange(20, 700))};
    const Seconds time{static_cast<double>(*rc::gen::inRange(1, 120)) / 7.0};
    const auto id = static_cast<std::uint64_t>(*rc::gen::inRange(0, 4));
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
        made.wait(time, power);
        break;
      case 1:
        made.mark(RUBATO_MARK_EPOCH_BEGIN, id, id);
        break;
      case 2:
        made.mark(RUBATO_MARK_EPOCH_END, id);
        break;
      case 3:
        made.phase(static_cast<std::uint64_t>(*rc::gen::inRange(1, 8)), time, power);
        break;
      case 4:
        made.mark(static_cast<std::uint32_t>(*rc::gen::inRange(0, 20)), id);
        break;
      default:
        made.iterate(*rc::gen::inRange(1, 30), time * 0.05, power);
    }
  }
  return made.wait(1_s, 50_W);
}

RC_GTEST_PROP(PartsOfAnyRun, AddUpWithinRounding, ()) {
  MadeTraining made = any_training(true);
  const bool crashed = *rc::gen::arbitrary<bool>();
  const record::RunRecord run = crashed ? made.record() : made.ended();
  const Parts p = parts(run);
  Seconds time;
  for (const Part& part : p.rows) time += part.time;
  RC_ASSERT(std::abs(time.value() -
                     ((crashed ? run.devices[0].fast.back().at : run.end->end) - kBegin).value()) < 1e-6);
  for (std::size_t s = 0; s < run.devices.size(); ++s) {
    RC_ASSERT(p.balance[s].residual.has_value());
    // The last reading is up to a tick before the end, which the curve goes on to at the power before.
    const double rounding = crashed ? 1e-6 : p.balance[s].band_sampling.value() + 70.0;
    RC_ASSERT(std::abs(p.balance[s].residual->value()) <= rounding);
  }
}

RC_GTEST_PROP(PartsOfAnyRun, WithoutACounterAddUpToTheirSamplesToo, ()) {
  const Parts p = parts(any_training(false).record());
  for (const Balance& balance : p.balance) {
    RC_ASSERT(balance.residual.has_value());
    RC_ASSERT(std::abs(balance.residual->value()) <= 1e-6);
  }
}

RC_GTEST_PROP(PartsOfAnyRun, NeverCallAShortStretchMeasured, ()) {
  const Parts p = parts(any_training(true).ended());
  for (const SpanEnergy& epoch : p.epochs)
    for (const auto& figure : epoch.energy)
      if (figure) RC_ASSERT(figure->apportioned == (epoch.span.duration() < 50 * kTick));
  for (const Part& part : p.rows)
    for (const SplitEnergy& energy : part.energy) {
      if (energy.measured) RC_ASSERT(!energy.measured->apportioned && part.time >= 50 * kTick);
      if (energy.apportioned) RC_ASSERT(energy.apportioned->kind == Kind::apportioned);
    }
}

}  // namespace
}  // namespace rubato::analyse
