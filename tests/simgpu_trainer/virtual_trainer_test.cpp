#include "simgpu/trainer/virtual_trainer.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/setting.h"
#include "rubato/mark_layout.h"

namespace rubato::sim_trainer {
namespace {

struct Training {
  std::unique_ptr<device::sim::SimWorld> world;
  std::vector<Mark> marks;
  TimePoint end;

  explicit Training(const TrainOptions& options, const Setting& setting = {}) {
    const std::vector<std::string> names{"v100"};
    world = std::move(*device::sim::SimWorld::create_private(names));
    if (setting.sm_clock) {
      EXPECT_TRUE(world->lock_sm_clock(0, *setting.sm_clock, {}));
    }
    auto trainer = VirtualTrainer::start(*world, options, 77, {}, [&](const Mark& m) { marks.push_back(m); });
    EXPECT_TRUE(trainer) << trainer.error().what;
    if (!trainer) return;
    while (const auto due = (*trainer)->next_due()) {
      end = *due;
      EXPECT_TRUE((*trainer)->step(end));
    }
    EXPECT_EQ((*trainer)->completed(), static_cast<std::uint64_t>(options.iterations));
  }
  [[nodiscard]] std::vector<Mark> of(std::uint32_t kind) const {
    std::vector<Mark> out;
    for (const Mark& m : marks)
      if (m.kind == kind) out.push_back(m);
    return out;
  }
};

TEST(VirtualTrainer, EveryIterationBeginsAndEndsOnce) {
  const Training t({.iterations = 20});
  const auto begins = t.of(RUBATO_MARK_ITERATION_BEGIN);
  const auto ends = t.of(RUBATO_MARK_ITERATION_END);
  ASSERT_EQ(begins.size(), 20U);
  ASSERT_EQ(ends.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(begins[i].id, i);
    EXPECT_EQ(ends[i].id, i);
    EXPECT_LE(begins[i].at, ends[i].at);
  }
  for (std::size_t i = 1; i < t.marks.size(); ++i) EXPECT_LE(t.marks[i - 1].at, t.marks[i].at);
}

TEST(VirtualTrainer, TakesTheTimeTheGpuTakes) {
  const Training t({.iterations = 50, .jitter = 0.0});
  // 0.403 s at the reference clock, which an uncapped V100 reaches within the first tick.
  EXPECT_NEAR(t.end.since_epoch().value(), 50 * 0.403, 0.2);
  const auto begins = t.of(RUBATO_MARK_ITERATION_BEGIN);
  EXPECT_NEAR((begins[40].at - begins[30].at).value(), 4.03, 1e-6);
}

TEST(VirtualTrainer, ALockedClockMakesItSlowerByItsClockedShare) {
  const TrainOptions options{.iterations = 50, .jitter = 0.0};
  const double full = Training(options).end.since_epoch().value();
  const double slow = Training(options, {.sm_clock = ClockRange{952_MHz, 952_MHz}}).end.since_epoch().value();
  // ResNet-50 spends 0.638 of its time in step with the clock.
  EXPECT_NEAR(slow / full, 1.0 + 0.638 * (1380.0 / 952.0 - 1.0), 0.01);
}

TEST(VirtualTrainer, AStarvedGpuLosesAlmostNothingToALowerClock) {
  const TrainOptions options{.workload = "shufflenet", .iterations = 50, .jitter = 0.0};
  const double full = Training(options).end.since_epoch().value();
  const double slow = Training(options, {.sm_clock = ClockRange{952_MHz, 952_MHz}}).end.since_epoch().value();
  EXPECT_LT(slow / full, 1.03);
}

TEST(VirtualTrainer, TheSameSeedGivesTheSameMarks) {
  const Training a({.iterations = 30, .seed = 5});
  const Training b({.iterations = 30, .seed = 5});
  const Training c({.iterations = 30, .seed = 6});
  EXPECT_EQ(a.end, b.end);
  EXPECT_NE(a.end, c.end);
}

TEST(VirtualTrainer, EpochsEncloseTheirIterations) {
  const Training t({.iterations = 6, .iterations_per_epoch = 3});
  EXPECT_EQ(t.of(RUBATO_MARK_EPOCH_BEGIN).size(), 2U);
  EXPECT_EQ(t.of(RUBATO_MARK_EPOCH_END).size(), 2U);
  EXPECT_EQ(t.marks.front().kind, std::uint32_t{RUBATO_MARK_EPOCH_BEGIN});
  EXPECT_EQ(t.marks.back().kind, std::uint32_t{RUBATO_MARK_EPOCH_END});
}

TEST(VirtualTrainer, TakesItsContextOffTheGpu) {
  const Training t({.iterations = 1});
  EXPECT_TRUE(t.world->read_processes(0, t.end)->empty());
}

TEST(VirtualTrainer, OnAReplayedGpuIterationsTakeTheTablesTime) {
  SweepTable table;
  for (const auto& [limit, seconds] : {std::pair{100_W, 4_s}, {200_W, 2_s}})
    table.rows.push_back({.gpu = "V100",
                          .workload = "net",
                          .group = "g",
                          .power_limit = limit,
                          .time = seconds,
                          .power = 100_W,
                          .energy = 100_W * seconds});
  const device::replay::ReplaySource source{.table = table, .iteration = {}};
  const auto world = std::move(*device::replay::ReplayWorld::create_private(std::span(&source, 1)));
  std::vector<Mark> marks;
  auto trainer = std::move(
      *VirtualTrainer::start(*world, {.iterations = 3}, 77, {}, [&](const Mark& m) { marks.push_back(m); }));
  ASSERT_TRUE(trainer->step(*trainer->next_due()));
  const TimePoint first_done{2'000'000'000};
  EXPECT_EQ(trainer->completed(), 1U);
  ASSERT_TRUE(world->set_power_limit(0, 100_W, first_done));
  ASSERT_TRUE(trainer->step(first_done));
  EXPECT_EQ(trainer->next_due(), first_done + 4_s);
  while (const auto due = trainer->next_due()) ASSERT_TRUE(trainer->step(*due));
  EXPECT_EQ(marks.back().at, first_done + 8_s);
  trainer.reset();
  EXPECT_TRUE(world->read_processes(0, marks.back().at)->empty());
  EXPECT_EQ(VirtualTrainer::start(*world, {.iterations = 0}, 77, {}, {}).error().code,
            ErrorCode::invalid_argument);
}

TEST(VirtualTrainer, RefusesAnUnknownWorkloadAndNoIterations) {
  const std::vector<std::string> names{"v100"};
  const auto world = std::move(*device::sim::SimWorld::create_private(names));
  EXPECT_EQ(VirtualTrainer::start(*world, {.workload = "x"}, 1, {}, {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(VirtualTrainer::start(*world, {.iterations = 0}, 1, {}, {}).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace rubato::sim_trainer
