#include "conduct/iteration_watch.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::conduct {
namespace {

TimePoint at(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

/// A GPU that is read every 20 ms, and a job of one second an iteration: 0.7 s of work at 250 W, 0.3 s at
/// 100.
class IterationWatchTest : public testing::Test {
 protected:
  struct Story {
    double begin = 0;
    double end = 0;
    bool telemetry = true;
    bool marks = false;
    bool kernels = false;
    double length = 1;  // of an iteration
  };

  void live(const Story& story) {
    for (double t = story.begin; t < story.end; t += 0.02) {
      const double phase = std::fmod(t, story.length) / story.length;
      if (story.telemetry) watch_.fast(0, {.at = at(t), .power = Watts(phase < 0.7 ? 250 : 100)});
      if (phase * story.length >= 0.02) continue;
      if (story.marks) mark(std::floor(t));
      if (story.kernels) kernels(std::floor(t));
      hear(watch_.step(at(t), {true}));
    }
  }

  void mark(double begin) {
    watch_.marked({{marks_++, at(begin), at(begin + 0.9)}, false, false, std::nullopt});
  }

  /// Six kernels in each iteration; the whole second is one cycle of recording among others.
  void kernels(double begin) { watch_.kernels(iteration_of(77, begin)); }

  static KernelNews iteration_of(std::int32_t pid, double begin) {
    KernelNews news;
    for (unsigned k = 0; k < 6; ++k) {
      KernelRecord kernel;
      kernel.begin = at(begin + 0.1 * k);
      kernel.end = at(begin + 0.1 * k + 0.08);
      kernel.name_hash = 100 + k;
      kernel.pid = pid;
      kernel.device_uuid[0] = static_cast<std::uint8_t>(pid);
      news.kernels.push_back(kernel);
    }
    return news;
  }

  void hear(const IterationNews& news) {
    for (const auto& statement : news.statements)
      if (statement.used) used_.push_back(statement.estimate);
    for (const auto& one : news.iterations) given_out_.push_back(one.iteration);
  }

  IterationWatch watch_{{{GpuId{"GPU-1"}, {}}}};
  std::int64_t marks_ = 0;
  std::vector<IterationEstimate> used_;
  std::vector<Iteration> given_out_;
};

TEST_F(IterationWatchTest, TelemetryAloneFindsAndCountsTheIterations) {
  live({.end = 60});
  ASSERT_FALSE(used_.empty());
  EXPECT_EQ(used_.back().source, ProgressSource::telemetry);
  EXPECT_NEAR(used_.back().period->value(), 1, 0.01);
  EXPECT_LT((used_.front().at - at(0)).value(), 10);
  ASSERT_GT(given_out_.size(), 40U);
  for (std::size_t i = 0; i < given_out_.size(); ++i) {
    EXPECT_EQ(given_out_[i].index, static_cast<std::int64_t>(i));
    EXPECT_NEAR(given_out_[i].duration().value(), 1, 0.1);
    EXPECT_EQ(given_out_[i].source, ProgressSource::telemetry);
  }
}

TEST_F(IterationWatchTest, AtAnotherSettingIterationsOfAnotherLengthAreCounted) {
  live({.end = 60});
  watch_.setting_changed(at(60));
  live({.begin = 60, .end = 120, .length = 1.2});
  EXPECT_NEAR(used_.back().period->value(), 1.2, 0.02);
  // 60 and 50, but for the first that found them and what is not over yet.
  ASSERT_FALSE(given_out_.empty());
  EXPECT_NEAR(static_cast<double>(given_out_.back().index - given_out_.front().index), 110, 8);
  EXPECT_GT((given_out_.back().end - at(0)).value(), 115);
}

// Nothing tells whether the work became twice as long or the detector sees two of them as one: either way the
// same work is counted.
TEST_F(IterationWatchTest, AtOneSettingTwiceTheLengthIsCountedAsTwo) {
  live({.end = 100});
  live({.begin = 100, .end = 600, .length = 2});
  EXPECT_NEAR(used_.back().period->value(), 2, 0.02);
  EXPECT_GT((given_out_.back().end - at(0)).value(), 590);
  for (std::size_t i = given_out_.size() - 50; i < given_out_.size(); ++i)
    EXPECT_NEAR(given_out_[i].duration().value(), 1, 0.1);
  EXPECT_NEAR(static_cast<double>(given_out_.back().index - given_out_.front().index), 600, 20);
}

// Libraries, data and the tuning of kernels: the board rests at two levels with bursts of work that repeat
// nothing.
TEST_F(IterationWatchTest, WhatAJobDoesBeforeItGoesToWorkDoesNotHideItsIterations) {
  constexpr double kWork = 40;
  const auto slow = [&](double t, double busy) {
    SlowReading reading;
    reading.at = at(t);
    reading.sm_utilisation = busy;
    watch_.slow(0, reading);
  };
  for (double t = 0; t < kWork; t += 0.02) {
    const bool burst = std::fmod(t * t, 7.3) < 0.25;
    watch_.fast(0, {.at = at(t), .power = Watts(burst ? 300 : (t < 12 ? 78 : 123))});
    if (std::fmod(t, 1) < 0.02) slow(t, burst ? 0.1 : 0.0);
    if (std::fmod(t, 1) < 0.02) hear(watch_.step(at(t), {true}));
  }
  std::optional<double> found;
  for (double t = kWork; t < kWork + 20; t += 0.02) {
    const double phase = std::fmod(t, 1);
    watch_.fast(0, {.at = at(t), .power = Watts(phase < 0.7 ? 250 : 100)});
    if (phase >= 0.02) continue;
    slow(t, 0.7);
    hear(watch_.step(at(t), {true}));
    if (!found && !given_out_.empty()) found = t;
  }
  ASSERT_TRUE(found);
  EXPECT_LT(*found, kWork + 10);
  for (const Iteration& one : given_out_) EXPECT_NEAR(one.duration().value(), 1, 0.1);
}

TEST_F(IterationWatchTest, WhatTheSensorDoesNotShowForAMomentIsCountedAllTheSame) {
  live({.end = 60});
  const std::int64_t before = given_out_.back().index;
  // Two iterations and a half in which the board is read as if it stood still.
  for (double t = 60; t < 62.5; t += 0.02) watch_.fast(0, {.at = at(t), .power = Watts(200)});
  live({.begin = 62.5, .end = 120});
  EXPECT_NEAR(static_cast<double>(given_out_.back().index - before), 60, 3);
}

TEST_F(IterationWatchTest, MarksAreBelievedBeforeTelemetryAndTelemetryAgrees) {
  live({.end = 60, .marks = true});
  ASSERT_TRUE(watch_.ruling().estimate);
  EXPECT_EQ(watch_.ruling().estimate->source, ProgressSource::marks);
  ASSERT_EQ(watch_.ruling().checks.size(), 1U);
  EXPECT_TRUE(watch_.ruling().checks[0].agrees);
  EXPECT_TRUE(given_out_.empty()) << "the program tells of its iterations itself";
}

TEST_F(IterationWatchTest, FromTheFirstMarkOnNothingElseIsCounted) {
  live({.end = 30});
  const std::size_t before = given_out_.size();
  EXPECT_GT(before, 10U);
  live({.begin = 30, .end = 60, .marks = true});
  EXPECT_EQ(given_out_.size(), before);
  EXPECT_EQ(watch_.ruling().estimate->source, ProgressSource::marks);
}

TEST_F(IterationWatchTest, KernelsTellWhereTheBoardTellsNothing) {
  live({.end = 60, .telemetry = false, .kernels = true});
  ASSERT_FALSE(used_.empty());
  EXPECT_EQ(used_.back().source, ProgressSource::kernels);
  EXPECT_EQ(used_.back().launches, 6U);
  EXPECT_GT(given_out_.size(), 40U);
}

// Four processes, each on its own GPU: each ends its cycle of ten seconds.
TEST_F(IterationWatchTest, CyclesOfOtherRanksAreNotThoseOfThisGpu) {
  for (int second = 0; second < 60; ++second) {
    for (std::int32_t rank = 1; rank <= 4; ++rank) {
      KernelNews news = iteration_of(rank, second);
      if (second % 10 == 9) news.cycles.push_back({at(second - 9), at(second + 0.6), rank, 0});
      watch_.kernels(news);
    }
    hear(watch_.step(at(second + 0.9), {true}));
  }
  ASSERT_TRUE(watch_.ruling().estimate);
  EXPECT_EQ(watch_.ruling().estimate->why.find("no whole iteration"), std::string::npos);
  EXPECT_GT(watch_.ruling().estimate->confidence, 0.6);
  EXPECT_GT(given_out_.size(), 45U);
}

// Recorded for a tenth of each second and told all at once: between cycles nothing is known, and nothing is
// joined.
TEST_F(IterationWatchTest, CyclesOfOneNewsAreNotJoined) {
  KernelNews news;
  for (int cycle = 0; cycle < 12; ++cycle) {
    for (int i = 0; i < 4; ++i) {
      const KernelNews one = iteration_of(77, 0);
      for (KernelRecord kernel : one.kernels) {
        const double within = (kernel.begin - at(0)).value() / 20;  // iterations of 30 ms
        kernel.begin = at(cycle + 0.03 * i + within);
        kernel.end = at(cycle + 0.03 * i + within + 0.004);
        news.kernels.push_back(kernel);
      }
    }
    news.cycles.push_back({.begin = at(cycle), .end = at(cycle + 0.12), .pid = 77});
  }
  watch_.kernels(news);
  hear(watch_.step(at(12), {true}));
  ASSERT_FALSE(given_out_.empty());
  for (const Iteration& one : given_out_) EXPECT_NEAR(one.duration().value(), 0.03, 0.001);
}

TEST_F(IterationWatchTest, GpusThatAreAsSureDoNotTakeTurns) {
  for (int second = 0; second < 60; ++second) {
    // Now the one, now the other is read first, and is a little surer for having one iteration more.
    for (const std::int32_t gpu : {1 + second % 2, 2 - second % 2}) {
      watch_.kernels(iteration_of(gpu, second + 0.3 * gpu));
      hear(watch_.step(at(second + 0.9), {true}));
    }
  }
  ASSERT_GT(given_out_.size(), 40U);
  for (const Iteration& one : given_out_)
    EXPECT_EQ((one.begin.ns - given_out_.front().begin.ns) % 1'000'000'000, 0);
}

TEST_F(IterationWatchTest, KernelsOnMoreGpusThanAHostHasAreCountedAndNotLookedAt) {
  for (std::int32_t gpu = 1; gpu <= 70; ++gpu) watch_.kernels(iteration_of(gpu, 0));
  EXPECT_EQ(watch_.kernels_elsewhere(), 6U * 6U);
}

TEST_F(IterationWatchTest, ASteadyStateIsStatedOnce) {
  live({.end = 200, .marks = true});
  const std::size_t said = used_.size();
  live({.begin = 200, .end = 400, .marks = true});
  EXPECT_LE(used_.size(), said + 1);
}

TEST_F(IterationWatchTest, AJobThatTellsNothingHasNoIterations) {
  live({.end = 60, .telemetry = false});
  EXPECT_TRUE(used_.empty());
  EXPECT_FALSE(watch_.ruling().estimate);
}

}  // namespace
}  // namespace rubato::conduct
