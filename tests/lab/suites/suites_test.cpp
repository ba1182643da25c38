#include "lab/suites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "device/sim/profile.h"

namespace rubato::lab {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<Job> made(std::string_view name, std::vector<Knob> knobs = {}) {
  auto jobs = suite_named(name, knobs);
  EXPECT_TRUE(jobs) << jobs.error().what;
  return jobs.value_or(std::vector<Job>{});
}

TEST(Suites, HoldWhatTheirDescriptionsSay) {
  const std::vector<std::pair<std::string, std::size_t>> sizes = {
      {"gpoeo-71", 71},     {"v100", 30},     {"a100", 30},        {"h100", 30},
      {"time-varying", 12}, {"boards-8", 30}, {"shift-pairs", 200}};
  std::set<std::string> listed;
  for (const SuiteInfo& info : suites()) listed.insert(info.name);
  EXPECT_EQ(listed.size(), sizes.size());
  for (const auto& [name, size] : sizes) {
    EXPECT_TRUE(listed.contains(name));
    EXPECT_THAT(made(name, {Knob::sm_clock}), SizeIs(size)) << name;
  }
}

TEST(Suites, EveryJobIsWhole) {
  for (const SuiteInfo& info : suites()) {
    std::set<std::string> names;
    for (const Job& job : made(info.name, {Knob::sm_clock})) {
      EXPECT_TRUE(names.insert(job.name).second) << job.name;
      EXPECT_FALSE(job.group.empty()) << job.name;
      EXPECT_EQ(job.kind, Kind::modelled);
      ASSERT_LT(job.found, job.grid.size());
      EXPECT_EQ(job.grid[job.found], job.space.found);
      ASSERT_FALSE(job.programs.empty());
      for (const Truth& truth : job.programs) {
        ASSERT_EQ(truth.time.size(), job.grid.size());
        ASSERT_EQ(truth.energy.size(), job.grid.size());
        EXPECT_EQ(truth.time[job.found], 1.0);
        EXPECT_EQ(truth.energy[job.found], 1.0);
        EXPECT_GT(*std::min_element(truth.energy.begin(), truth.energy.end()), 0.3) << job.name;
        EXPECT_GT(*std::min_element(truth.time.begin(), truth.time.end()), 0.9) << job.name;
        for (const auto& [feature, value] : truth.features) {
          EXPECT_GE(value, 0) << job.name << ' ' << feature;
          EXPECT_LE(value, 1) << job.name << ' ' << feature;
        }
      }
      for (const Phase& phase : job.phases) {
        EXPECT_LT(phase.program, job.programs.size());
        EXPECT_GT(phase.iterations, 0);
      }
    }
  }
}

TEST(Suites, AreTheSameEveryTime) {
  for (const std::string_view name : {"gpoeo-71", "boards-8", "shift-pairs"}) {
    const std::vector<Job> first = made(name, {Knob::sm_clock});
    const std::vector<Job> second = made(name, {Knob::sm_clock});
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].name, second[i].name);
      EXPECT_EQ(first[i].board_efficiency, second[i].board_efficiency);
      EXPECT_EQ(first[i].programs.front().energy, second[i].programs.front().energy);
    }
  }
}

TEST(Suites, TimeFallsAndPowerRisesWithALockedClock) {
  for (const std::string_view name : {"gpoeo-71", "v100", "h100"}) {
    for (const Job& job : made(name, {Knob::sm_clock})) {
      const Truth& truth = job.programs.front();
      // The highest one locks nothing.
      for (std::size_t k = 1; k + 1 < job.grid.size(); ++k) {
        EXPECT_LE(truth.time[k], truth.time[k - 1] * (1 + 1e-9)) << job.name << ", step " << k;
        EXPECT_GE(truth.energy[k] / truth.time[k], truth.energy[k - 1] / truth.time[k - 1] * (1 - 1e-9))
            << job.name << ", step " << k;
      }
    }
  }
}

TEST(Suites, TimeNeverFallsUnderALowerLimit) {
  for (const Job& job : made("v100", {Knob::power_limit})) {
    const Truth& truth = job.programs.front();
    EXPECT_EQ(job.found + 1, job.grid.size());
    for (std::size_t k = 1; k < job.grid.size(); ++k)
      EXPECT_LE(truth.time[k], truth.time[k - 1] * (1 + 1e-9)) << job.name << ", step " << k;
  }
}

TEST(Suites, TheDesktopBoardDrawsBetweenItsStandbyAndItsLimit) {
  const device::sim::Profile& board = *device::sim::find_profile("rtx3080ti").value();
  const double limit = board.limit_default.value() / board.sensor_gain;
  std::size_t busy = 0;
  for (const Job& job : made("gpoeo-71")) {
    const Truth& truth = job.programs.front();
    EXPECT_LE(truth.power.value(), limit) << job.name;
    EXPECT_GT(truth.power.value(), board.idle.value()) << job.name;
    if (truth.features.at("sm_active") < 0.3) continue;  // emulators and tiny graphs: the GPU waits
    ++busy;
    EXPECT_GE(truth.power.value(), 0.3 * board.limit_default.value()) << job.name;
  }
  EXPECT_GE(busy, 65U);
}

TEST(Suites, ProgramsThatWaitForTheHostHardlyFeelTheClock) {
  // RL-PPO on a V100: 1 % of its time follows the clock.
  for (const Job& job : made("v100", {Knob::sm_clock})) {
    if (job.group != "reinforcement") continue;
    const auto half =
        static_cast<std::size_t>(std::find_if(job.grid.begin(), job.grid.end(),
                                              [&](const predict::KnobPoint& p) {
                                                return *p.sm_clock >= *job.space.highest.sm_clock * 0.5;
                                              }) -
                                 job.grid.begin());
    EXPECT_LT(job.programs.front().time[half], 1.15);
    EXPECT_LT(job.programs.front().energy[half], 0.9);
  }
}

TEST(Suites, DefaultKnobsOfTheDesktopAreThoseOfGpoeo) {
  const Job job = made("gpoeo-71").front();
  ASSERT_EQ(job.space.axes.size(), 2U);
  EXPECT_EQ(job.space.axes[0].knob, Knob::sm_clock);
  EXPECT_EQ(job.space.axes[1].knob, Knob::memory_clock);
  EXPECT_THAT(job.space.axes[1].values, SizeIs(5));
  // Compute runs a step below the highest memory clock.
  EXPECT_EQ(job.space.found.memory_clock, Megahertz(9251));
  EXPECT_EQ(job.grid.size(), job.space.axes[0].values.size() * 5);
}

TEST(Suites, LimitAndClockMoveInTheHardwaresOwnSteps) {
  const Job job = made("a100").front();
  ASSERT_EQ(job.space.axes.size(), 2U);
  EXPECT_EQ(job.space.axes[0].values[1] - job.space.axes[0].values[0], 1.0);
  EXPECT_EQ(job.space.axes[1].values[1] - job.space.axes[1].values[0], 15.0);
  EXPECT_EQ(job.grid.size(), 151U * 81U);
}

TEST(Suites, ABoardWithoutAMemoryLockSaysSo) {
  const auto jobs = suite_named("a100", std::vector<Knob>{Knob::memory_clock});
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(jobs.error().what, HasSubstr("NVIDIA A100"));
  EXPECT_THAT(jobs.error().what, HasSubstr("memory-clock"));
}

TEST(Suites, AnUnknownNameListsThem) {
  const auto jobs = suite_named("nothing");
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().code, ErrorCode::not_found);
  EXPECT_THAT(jobs.error().what, HasSubstr("gpoeo-71"));
}

TEST(Suites, BoardsInStepDifferByNoMoreThanFourPercent) {
  for (const Job& job : made("boards-8")) {
    ASSERT_THAT(job.board_efficiency, SizeIs(8));
    EXPECT_THAT(job.board_efficiency, Each(testing::AllOf(testing::Ge(0.96), testing::Le(1.04))));
    EXPECT_GT(*std::max_element(job.board_efficiency.begin(), job.board_efficiency.end()) -
                  *std::min_element(job.board_efficiency.begin(), job.board_efficiency.end()),
              0.02);
  }
}

double minutes(const Job& job, const Phase& phase) {
  return static_cast<double>(phase.iterations) * job.programs[phase.program].iteration.value() / 60;
}

TEST(Suites, VaryingJobsStayWithAProgramForMinutes) {
  for (const Job& job : made("time-varying", {Knob::sm_clock})) {
    EXPECT_GE(job.phases.size(), 2U);
    for (const Phase& phase : job.phases) EXPECT_GE(minutes(job, phase), 1.0 - 1e-9) << job.name;
    EXPECT_NE(job.programs[0].energy, job.programs[1].energy) << job.name;
  }
}

TEST(Suites, AShiftComesOnceInMidRun) {
  for (const Job& job : made("shift-pairs")) {
    ASSERT_EQ(job.phases.size(), 2U);
    EXPECT_GE(minutes(job, job.phases[0]), 8.0);
    EXPECT_LE(minutes(job, job.phases[0]), 16.1);
    EXPECT_GT(minutes(job, job.phases[1]), 60 * 24 * 365);
    EXPECT_NE(job.programs[0].energy, job.programs[1].energy) << job.name;
  }
}

TEST(Suites, AreMadeInNoTime) {
  const std::clock_t begin = std::clock();
  made("gpoeo-71", {Knob::power_limit, Knob::sm_clock});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5.0);
}

}  // namespace
}  // namespace rubato::lab
