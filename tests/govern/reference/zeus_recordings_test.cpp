// Zeus re-implemented is held to Zeus itself: on twelve recordings of its own, under ten rules.
#include "zeus_recordings.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "govern/reference/zeus_search.h"

namespace rubato::govern {
namespace {

using zeus_test::Recording;
using zeus_test::Window;

plan::KnobSpace space_of(const Recording& recording) {
  plan::KnobSpace space;
  plan::KnobAxis axis{.knob = Knob::power_limit, .values = {}};
  const Watts highest = recording.windows.front().limit;
  for (double w = recording.windows.back().limit.value(); w <= highest.value(); ++w) axis.values.push_back(w);
  space.axes = {axis};
  space.found.power_limit = space.highest.power_limit = highest;
  return space;
}

const Window& window_at(const Recording& recording, Watts limit) {
  return *std::find_if(recording.windows.begin(), recording.windows.end(),
                       [&](const Window& w) { return w.limit == limit; });
}

TrialResult played_back(const Recording& recording, Watts limit) {
  const Window& window = window_at(recording, limit);
  TrialResult out;
  out.at.power_limit = limit;
  out.found = limit == recording.windows.front().limit;
  out.cost = {.work = 40, .time = window.time / 40, .energy = window.energy / 40};
  return out;
}

/// "cost 0.5 of one GPU", "max_slowdown 1.05"
ZeusOptions options_of(const std::string& rule, unsigned gpus) {
  const auto words = zeus_test::cells(rule, ' ');
  ZeusOptions out;
  out.world_size = words.size() > 2 ? 1 : gpus;
  if (words[0] == "energy") out.selector.rule = ZeusRule::energy;
  if (words[0] == "time") out.selector.rule = ZeusRule::time;
  if (words[0] == "cost") out.selector.eta = std::stod(words[1]);
  if (words[0] == "max_slowdown") {
    out.selector.rule = ZeusRule::max_slowdown;
    out.selector.slowdown_factor = std::stod(words[1]);
  }
  return out;
}

struct Decided {
  Watts limit;
  std::string sweep;  // "250@0 225@51 done@101": limit, and the steps finished when it was set
};

Decided decide(const Recording& recording, const std::string& rule) {
  ZeusSearch search(options_of(rule, recording.gpus), space_of(recording), 0);
  const Watts highest = recording.windows.front().limit;
  std::vector<TrialResult> seen = {played_back(recording, highest)};
  double finished = search.baseline().settle_work + search.baseline().work;
  std::string sweep = cat(highest.value(), "@0");
  for (;;) {
    const SearchStep step = search.next(seen);
    if (step.kind == SearchStep::Kind::hold)
      return {step.found ? highest : step.at.power_limit.value(), cat(sweep, " done@", finished)};
    sweep += cat(" ", step.at.power_limit->value(), "@", finished);
    finished += step.length.settle_work + step.length.work;
    seen.push_back(played_back(recording, *step.at.power_limit));
  }
}

class ZeusRecordings : public testing::Test {
 protected:
  void SetUp() override {
    if (all_.empty()) GTEST_SKIP() << "the recordings of Zeus's optimizer are not there (RUBATO_TEST_DATA)";
    if (decisions_.rules.empty()) GTEST_SKIP() << "run by ctest, which says where the sources are";
    ASSERT_EQ(all_.size(), 12u);
  }
  const std::vector<Recording> all_ = zeus_test::recordings();
  const zeus_test::Decisions decisions_ = zeus_test::decisions();
};

TEST_F(ZeusRecordings, LeadToTheLimitsThatZeussOwnCodeChooses) {
  ASSERT_EQ(decisions_.rules.size(), 10u);
  for (const Recording& recording : all_)
    for (const std::string& rule : decisions_.rules)
      EXPECT_EQ(decide(recording, rule).limit.value(),
                std::stod(decisions_.by_recording.at(recording.name).at(rule)))
          << recording.name << ", " << rule;
}

TEST_F(ZeusRecordings, AreSweptInTheStepsInWhichZeussOwnCodeSweeps) {
  for (const Recording& recording : all_)
    EXPECT_EQ(decide(recording, "energy").sweep, decisions_.by_recording.at(recording.name).at("sweep"))
        << recording.name;
}

TEST_F(ZeusRecordings, CostLessWhereEnergyIsLookedAtInsideTheSameBound) {
  int better = 0;
  for (const Recording& recording : all_) {
    ZeusSelector least{.rule = ZeusRule::energy, .highest_power = {}, .slowdown_factor = 1.05};
    std::vector<ZeusProfile> profiles;
    for (const Window& w : recording.windows) profiles.push_back({w.limit.value(), w.time, w.energy});
    const Window& ours = recording.windows[least.select(profiles).value()];
    const Window& zeus = window_at(
        recording, Watts(std::stod(decisions_.by_recording.at(recording.name).at("max_slowdown 1.05"))));
    EXPECT_LE(ours.time, recording.windows[0].time * 1.05) << recording.name;
    EXPECT_LE(ours.energy, zeus.energy) << recording.name;
    if (ours.energy < zeus.energy) ++better;
  }
  EXPECT_EQ(better, 2)
      << "ResNet-18 on four A40, ShuffleNet on one: the lowest limit inside the bound used more";
}

}  // namespace
}  // namespace rubato::govern
