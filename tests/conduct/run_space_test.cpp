#include "conduct/run_space.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "device/sim/gpu_view.h"

namespace rubato::conduct {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::unique_ptr<device::Gpu>> gpus(const std::vector<std::string>& profiles,
                                               const device::sim::Scenario& scenario = {}) {
  const std::shared_ptr<device::sim::SimWorld> world =
      device::sim::SimWorld::create_private(profiles, scenario).value();
  std::vector<std::unique_ptr<device::Gpu>> made;
  for (unsigned i = 0; i < world->gpu_count(); ++i) made.push_back(device::sim::make_gpu(world, i));
  return made;
}

TEST(RunSpace, OneGpuOffersItsLimitUpToTheOneFoundAndItsSmClocks) {
  const auto made = gpus({"v100"}, {.found_power_limit = 200_W});
  const RunSpace out = run_space(made, {}).value();
  ASSERT_THAT(out.knobs, ElementsAre(Knob::power_limit, Knob::sm_clock));
  const auto& limits = out.space.axes[0].values;
  EXPECT_EQ(limits.front(), 100);
  EXPECT_EQ(limits.back(), 200) << "nobody asked for more";
  EXPECT_EQ(limits.size(), 101U);
  EXPECT_EQ(out.space.axes[1].values.back(), made[0]->supported_clocks()->sm.back().value());
  EXPECT_EQ(out.space.found.power_limit, 200_W);
  EXPECT_FALSE(out.space.found.sm_clock) << "not locked";
  EXPECT_EQ(out.space.highest.power_limit, 200_W);
  EXPECT_THAT(out.notes, IsEmpty());
  EXPECT_THAT(describe(out.space),
              HasSubstr("a power limit of 100 to 200 W (101 values) and an SM clock of"));
}

TEST(RunSpace, SeveralGpusGetOneSmClockTheyAllHave) {
  const auto made = gpus({"v100", "rtxa4000"});
  const RunSpace out = run_space(made, {}).value();
  EXPECT_THAT(out.knobs, ElementsAre(Knob::sm_clock));
  EXPECT_FALSE(out.space.found.power_limit) << "it is no axis";
  for (const auto& gpu : made) {
    const auto have = gpu->supported_clocks()->sm;
    for (const double clock : out.space.axes[0].values)
      EXPECT_NE(std::find(have.begin(), have.end(), Megahertz(clock)), have.end()) << clock;
  }
}

TEST(RunSpace, KnobsThatWereNamedAreTheOnlyOnes) {
  const RunSpace out =
      run_space(gpus({"rtxa4000"}), {.knobs = {Knob::memory_clock, Knob::power_limit}}).value();
  EXPECT_THAT(out.knobs, ElementsAre(Knob::power_limit, Knob::memory_clock));
}

TEST(RunSpace, AKnobTheGpuLacksDropsOutWithAWord) {
  const RunSpace out = run_space(gpus({"v100"}), {.knobs = {Knob::memory_clock, Knob::power_limit}}).value();
  EXPECT_THAT(out.knobs, ElementsAre(Knob::power_limit));
  EXPECT_THAT(out.notes, ElementsAre(HasSubstr("the memory-clock is left out")));
}

TEST(RunSpace, WithoutTheRightNothingIsLeftUnlessTheGuardHasIt) {
  const auto made = gpus({"v100"}, {.rights = device::sim::Rights::none});
  const auto refused = run_space(made, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::no_permission);
  EXPECT_TRUE(run_space(made, {.more_rights_than_us = true}));
}

TEST(RunSpace, AStatedLockIsWhereTheClockStands) {
  const RunSpace out = run_space(gpus({"v100"}), {.found_sm_clock = ClockRange{210_MHz, 1005_MHz}}).value();
  EXPECT_EQ(out.space.found.sm_clock, 1005_MHz);
  const plan::KnobSpace fewer = without_clocks(out.space);
  ASSERT_EQ(fewer.axes.size(), 1U);
  EXPECT_EQ(fewer.axes[0].knob, Knob::power_limit);
  EXPECT_FALSE(fewer.found.sm_clock);
}

}  // namespace
}  // namespace rubato::conduct
