// Runs in virtual time whose setting a strategy chooses: what it is told, and how the GPU is left.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "conduct/run_space.h"
#include "conduct/virtual_run.h"
#include "govern/registry.h"

namespace rubato::conduct {
namespace {

using device::sim::SimWorld;
using record::RunRecord;
using testing::IsEmpty;
using Gpus = std::vector<std::unique_ptr<device::Gpu>>;

VirtualRunOptions governed(const std::string& name, int iterations) {
  VirtualRunOptions options;
  options.train->iterations = iterations;
  options.strategy = [name](const Gpus& gpus) -> std::unique_ptr<govern::Strategy> {
    govern::StrategyRequest request;
    request.space = run_space(gpus, {.knobs = {Knob::power_limit}}).value().space;
    request.found_clock_stated = true;
    return std::move(govern::make_strategy(name, request).value());
  };
  return options;
}

std::set<double> limits_of(const RunRecord& run, BlockRole role) {
  std::set<double> out;
  for (const record::Block& block : run.blocks)
    if (block.role == role && block.setting.power_limit) out.insert(block.setting.power_limit->value());
  return out;
}

TEST(GovernedRun, ABisectionTriesHoldsWhatItFoundAndPutsTheFoundSettingBack) {
  VirtualRun virtual_run(governed("bisection", 1500));
  const RunRecord run = virtual_run.run();
  const auto tried = limits_of(run, BlockRole::trial);
  const auto held = limits_of(run, BlockRole::hold);
  EXPECT_GE(tried.size(), 3U);
  ASSERT_EQ(held.size(), 1U);
  EXPECT_LT(*held.begin(), 200) << "a ResNet-50 on a V100 does not need 200 W for 95 % of its speed";
  for (const record::Block& block : run.blocks)
    EXPECT_TRUE(block.role != BlockRole::baseline || block.setting.empty());
  EXPECT_EQ(run.iterations.size(), 1500U);
  EXPECT_EQ(run.end->exit_code, 0);
  EXPECT_EQ(run.end->devices.at(0).restoration, Restoration::restored);
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
  EXPECT_THAT(virtual_run.journals(), IsEmpty());
  EXPECT_THAT(virtual_run.warnings(), IsEmpty());
}

TEST(GovernedRun, TheRecordHasTheGoalAndWhatWasExpectedOfEachTry) {
  VirtualRunOptions options = governed("rubato", 1500);
  const Goal goal{.max_slowdown = 0.08};
  options.adjust = [goal](SessionParts& parts) { parts.goal = goal; };
  const RunRecord run = VirtualRun(options).run();
  ASSERT_TRUE(run.goal);
  EXPECT_EQ(run.goal->strategy, "rubato");
  EXPECT_DOUBLE_EQ(run.goal->goal.max_slowdown, 0.08);
  const auto tried = limits_of(run, BlockRole::trial);
  ASSERT_FALSE(tried.empty());
  for (const double limit : tried) {
    const auto first = std::ranges::find_if(run.blocks, [&](const record::Block& b) {
      return b.role == BlockRole::trial && b.setting.power_limit == Watts(limit);
    });
    const bool told = std::ranges::any_of(run.expectations, [&](const record::ExpectationAt& e) {
      return e.at <= first->begin &&
             std::ranges::any_of(e.expectation.settings, [&](const ExpectedSetting& s) {
               return s.setting == first->setting && !s.measured;
             });
    });
    EXPECT_TRUE(told) << limit << " W was expected to be something before it was tried";
  }
  for (const record::ExpectationAt& e : run.expectations)
    EXPECT_TRUE(std::ranges::any_of(run.decisions, [&](const auto& d) { return d.at == e.at; }));
}

TEST(GovernedRun, AReferenceStrategyExpectsNothing) {
  const RunRecord run = VirtualRun(governed("bisection", 600)).run();
  EXPECT_THAT(run.expectations, IsEmpty());
}

TEST(GovernedRun, TheSameSeedsGiveTheSameRows) {
  EXPECT_EQ(rows_of(VirtualRun(governed("bisection", 300)).run()),
            rows_of(VirtualRun(governed("bisection", 300)).run()));
}

TEST(GovernedRun, AForeignLimitInMidSearchEndsTheSearchAndStands) {
  VirtualRun virtual_run(governed("bisection", 1500));
  bool changed = false;
  for (int s = 20; s < 300; s += 5)
    virtual_run.at(Seconds(s), [&](SimWorld& world, TimePoint now) {
      const auto truth = world.truth(0, now);
      if (changed || !truth || truth->requested_limit == 200_W) return;  // while something is tried
      changed = true;
      EXPECT_TRUE(world.set_external_limit(0, 180_W, now));
    });
  const RunRecord run = virtual_run.run();
  ASSERT_TRUE(changed);
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 180_W);
  EXPECT_EQ(run.iterations.size(), 1500U);
  EXPECT_EQ(run.end->devices.at(0).restoration, Restoration::left_alone);
}

/// Asks for one setting after the other, each for 20 s from the first load on, and keeps what it is told.
class Script final : public govern::Strategy {
 public:
  Script(std::vector<Setting> settings, std::vector<govern::Observation>& told)
      : settings_(std::move(settings)), told_(told) {}
  std::string_view name() const override { return "script"; }
  govern::Decision next(const govern::Observation& o) override {
    told_.push_back(o);
    if (!o.may_set && !begin_) return {govern::Action::wait, {}, BlockRole::warmup, "no load", {}};
    if (!begin_) begin_ = o.now;
    const auto step = static_cast<std::size_t>((o.now - *begin_) / Seconds(20));
    if (step >= settings_.size()) return {govern::Action::use_found, {}, BlockRole::control, "done", {}};
    if (settings_[step] == o.in_force) return {govern::Action::wait, {}, BlockRole::trial, "there", {}};
    return {govern::Action::use_setting, settings_[step], BlockRole::trial, "next", {}};
  }

 private:
  std::vector<Setting> settings_;
  std::vector<govern::Observation>& told_;
  std::optional<TimePoint> begin_;
};

/// Never warm, for two reasons that take turns every second.
class NeverWarm final : public govern::Strategy {
 public:
  std::string_view name() const override { return "never warm"; }
  govern::Decision next(const govern::Observation& o) override {
    const bool even = static_cast<long>(o.now.since_epoch().value()) % 2 == 0;
    return {govern::Action::wait, {}, BlockRole::warmup, even ? "the board" : "the job", {}};
  }
};

TEST(GovernedRun, AWarmUpSaysOnceWhatItWaitsFor) {
  VirtualRunOptions options;
  options.train->iterations = 200;
  options.strategy = [](const Gpus&) { return std::make_unique<NeverWarm>(); };
  const RunRecord run = VirtualRun(options).run();
  std::vector<std::string> reasons;
  for (const auto& decision : run.decisions)
    if (decision.action == name_of(BlockRole::warmup)) reasons.push_back(decision.why);
  EXPECT_THAT(reasons, testing::UnorderedElementsAre("the board", "the job"));
}

VirtualRunOptions scripted(std::vector<Setting> settings, std::vector<govern::Observation>& told) {
  VirtualRunOptions options;
  options.train->iterations = 400;
  options.strategy = [settings, &told](const Gpus&) { return std::make_unique<Script>(settings, told); };
  return options;
}

TEST(GovernedRun, AKnobThatTheNextSettingLeavesAloneGoesBackFirst) {
  std::vector<govern::Observation> told;
  const ClockRange slow{1005_MHz, 1005_MHz};
  VirtualRun virtual_run(
      scripted({{.power_limit = 150_W, .sm_clock = slow}, {.sm_clock = slow}, {.power_limit = 160_W}}, told));
  std::vector<std::pair<Watts, bool>> seen;  // limit, locked
  for (const double s : {15.0, 35.0, 55.0})
    virtual_run.at(Seconds(s), [&](SimWorld& world, TimePoint now) {
      const auto truth = world.truth(0, now);
      seen.emplace_back(truth->requested_limit, truth->sm_lock.has_value());
    });
  const RunRecord run = virtual_run.run();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0], (std::pair<Watts, bool>(150_W, true)));
  EXPECT_EQ(seen[1], (std::pair<Watts, bool>(200_W, true)));
  EXPECT_EQ(seen[2], (std::pair<Watts, bool>(160_W, false)));
  EXPECT_EQ(virtual_run.truth().end.requested_limit, 200_W);
  EXPECT_FALSE(virtual_run.truth().end.sm_lock);
}

TEST(GovernedRun, TheTallyIsTheWorkDoneAndWhatItTrulyDrew) {
  std::vector<govern::Observation> told;
  VirtualRun virtual_run(scripted({{.power_limit = 150_W}}, told));
  const RunRecord run = virtual_run.run();
  const auto& last = *told.back().tally;
  EXPECT_GE(last.work, 395);
  EXPECT_LE(last.work, 400);
  const auto& device = run.end->devices.at(0);
  ASSERT_TRUE(last.energy);
  // The run goes on for a moment after the latest iteration that was told of.
  EXPECT_LE(*last.energy, device.energy->energy);
  EXPECT_GE(*last.energy, 0.97 * device.energy->energy);
  std::optional<govern::Tally> before;
  for (const auto& o : told) {
    if (!o.tally) continue;
    EXPECT_LE(o.tally->at, o.now);
    EXPECT_LE(o.tally->work, static_cast<double>(o.iterations));
    if (before && o.tally->work > before->work) {
      const govern::Cost cost = govern::cost_between(*before, *o.tally);
      EXPECT_GT(cost.time, 0_s);
      EXPECT_GT(cost.energy.value(), 0_J);
    }
    before = o.tally;
  }
}

TEST(GovernedRun, ACounterThatFailsForAWhileIsNoLeapOfTheTally) {
  std::vector<govern::Observation> told;
  VirtualRunOptions options = scripted({}, told);
  options.scenario.faults.push_back({.call = device::sim::CallId::read_energy_counter,
                                     .after = 1000,
                                     .count = 2000,
                                     .effect = device::sim::Effect::error,
                                     .error = ErrorCode::unavailable});
  VirtualRun virtual_run(options);
  static_cast<void>(virtual_run.run());
  std::optional<govern::Tally> before;
  int compared = 0;
  for (const auto& o : told) {
    if (!o.tally || o.tally->work < 20) continue;
    if (before && o.tally->work - before->work >= 10) {
      const Joules each = govern::cost_between(*before, *o.tally).energy.value();
      EXPECT_GT(each, 55_J) << "at iteration " << o.tally->work;
      EXPECT_LT(each, 85_J) << "at iteration " << o.tally->work;
      ++compared;
    }
    if (!before || o.tally->work - before->work >= 10) before = o.tally;
  }
  EXPECT_GE(compared, 30);
}

TEST(GovernedRun, AGpuTheJobNeverUsesIsNotTallied) {
  std::vector<govern::Observation> told;
  VirtualRunOptions options = scripted({{.power_limit = 150_W}}, told);
  options.profiles = {"v100", "v100"};
  VirtualRun virtual_run(options);
  const RunRecord run = virtual_run.run();
  ASSERT_EQ(run.end->devices.size(), 1U);
  ASSERT_EQ(run.bystanders.size(), 1U);
  // Before the job was seen on either, both counted for a moment.
  EXPECT_NEAR(*told.back().tally->energy / run.end->devices[0].energy->energy, 0.99, 0.02);
  Joules before;
  for (const auto& o : told) {
    if (!o.tally) continue;
    EXPECT_GE(*o.tally->energy, before);
    before = *o.tally->energy;
  }
}

TEST(GovernedRun, CountersReadAtTheFoundSettingReachTheStrategy) {
  std::vector<govern::Observation> told;
  VirtualRunOptions options = scripted({}, told);
  options.counters = "auto";
  VirtualRun virtual_run(options);
  static_cast<void>(virtual_run.run());
  ASSERT_TRUE(told.back().features);
  EXPECT_FALSE(told.front().features);
  EXPECT_FALSE(told.back().features->empty());
  for (const auto& [name, value] : *told.back().features) EXPECT_EQ(name.find("feature_"), std::string::npos);
}

/// What a watcher of the run is told, every second.
std::vector<record::RunState> states_of(VirtualRunOptions options,
                                        const std::function<void(VirtualRun&)>& prepare = {}) {
  std::vector<record::RunState> told;
  options.adjust = [&told](SessionParts& parts) {
    parts.state = [&told](record::RunState state) { told.push_back(std::move(state)); };
  };
  VirtualRun virtual_run(std::move(options));
  if (prepare) prepare(virtual_run);
  static_cast<void>(virtual_run.run());
  return told;
}

TEST(RunState, TellsEachRoleItsSettingAndWhatCameOfIt) {
  const auto told = states_of({.train = sim_trainer::TrainOptions{.iterations = 400}});
  ASSERT_GT(told.size(), 30U);
  std::vector<std::string> roles;
  for (const auto& state : told)
    if (roles.empty() || roles.back() != state.doing) roles.push_back(state.doing);
  EXPECT_THAT(roles, testing::IsSupersetOf({"baseline", "hold"}));
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].iterations, told[i - 1].iterations);
    EXPECT_GT(told[i].running, told[i - 1].running);
  }
  const auto held = std::find_if(told.rbegin(), told.rend(), [](const auto& s) { return s.doing == "hold"; });
  ASSERT_NE(held, told.rend());
  EXPECT_EQ(held->setting.power_limit, 150_W);
  EXPECT_EQ(held->gpus.at(0).in_force.power_limit, 150_W);
  EXPECT_EQ(held->gpus.at(0).found_limit, 200_W);
  EXPECT_EQ(held->gpus.at(0).used_by_job, true);
  EXPECT_GT(*held->gpus.at(0).energy, Joules(0));
  EXPECT_EQ(held->iteration->source, ProgressSource::marks);
  EXPECT_FALSE(held->why.empty());
  ASSERT_TRUE(held->saving) << "there is a baseline";
  EXPECT_GT(held->saving->saved.value, held->saving->saved.half_width);
  EXPECT_EQ(held->saving->kind, Kind::modelled);
}

TEST(RunState, SaysThatSomebodyElseTookOver) {
  const auto told = states_of({.train = sim_trainer::TrainOptions{.iterations = 400}}, [](VirtualRun& run) {
    run.at(Seconds(60),
           [](SimWorld& world, TimePoint now) { EXPECT_TRUE(world.set_external_limit(0, 180_W, now)); });
  });
  const record::RunState& last = told.back();
  EXPECT_EQ(last.doing, "measure_only");
  EXPECT_TRUE(last.gpus.at(0).changed_by_someone_else);
  EXPECT_TRUE(last.gpus.at(0).in_force.empty());
  EXPECT_THAT(last.why, testing::HasSubstr("someone else set the power limit"));
}

}  // namespace
}  // namespace rubato::conduct
