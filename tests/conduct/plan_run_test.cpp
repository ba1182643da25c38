// Plans run in virtual time on a simulated GPU whose job has two long phases, or two short ones: this shows
// the mechanism and what it does where it cannot pay. The jobs are made for that; no saving here is one to
// quote.
#include <gmock/gmock.h>
#include <rubato/mark_layout.h>

#include <algorithm>

#include "conduct/virtual_run.h"
#include "govern/layer_plan/plan_strategy.h"

namespace rubato::conduct {
namespace {

using device::sim::Segment;
using device::sim::SimWorld;
using govern::range_of;
using record::RunRecord;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr predict::Clocks kHigh{1200_MHz, 877_MHz};
constexpr predict::Clocks kLow{900_MHz, 877_MHz};

/// What the job tells, as it tells it.
struct Told {
  KernelNews kernels;
  std::vector<Mark> marks;
  bool silent = false;  // no kernel records leave it
  bool helper = false;  // another process of the job, which runs no layer, is recorded in turns
};

/// One compute-bound and one memory-bound segment, told as forward and backward pass.
class TwoPhaseJob final : public VirtualJob {
 public:
  TwoPhaseJob(SimWorld& world, Seconds each, int iterations, Seconds resolution, Told& told)
      : world_(world),
        iterations_(static_cast<std::uint64_t>(iterations)),
        resolution_(resolution),
        told_(told) {
    const double s = each.value();
    const std::vector<Segment> segments{
        {.phase = RUBATO_PHASE_FORWARD, .compute_s = s, .memory_s = 0.1 * s, .compute_activity = 0.9},
        {.phase = RUBATO_PHASE_BACKWARD, .compute_s = 0.1 * s, .memory_s = s, .memory_activity = 0.9}};
    context_ = world_.add_context(0, VirtualRun::kJobPid, 1'000'000, segments, VirtualRun::kBegin).value();
    for (int i = 0; i < 2; ++i) submit(VirtualRun::kBegin);
    mark(RUBATO_MARK_ITERATION_BEGIN, 0, VirtualRun::kBegin);
  }

  TimePoint next_due() const override { return next_; }
  bool done() const override { return completed_ >= iterations_; }

  void step(TimePoint now) override {
    static_cast<void>(world_.truth(0, now));
    if (now < next_ || done()) return;
    next_ = now + resolution_;
    const auto progress = world_.progress(0, context_, now).value();
    const bool backward = progress.completed == completed_ && progress.fraction >= 0.5;
    if (backward && !in_backward_) tell(RUBATO_PHASE_FORWARD, now);
    for (; completed_ < progress.completed; ++completed_) {
      tell(RUBATO_PHASE_BACKWARD, now);
      mark(RUBATO_MARK_ITERATION_END, completed_, now);
      mark(RUBATO_MARK_ITERATION_BEGIN, completed_ + 1, now);
      submit(now);
    }
    in_backward_ = backward;
    if (done()) {
      EXPECT_TRUE(world_.remove_context(0, context_, now));
    }
  }

 private:
  void submit(TimePoint now) { EXPECT_TRUE(world_.submit(0, context_, 1.0, now)); }

  void mark(rubato_mark_kind kind, std::uint64_t id, TimePoint at) {
    told_.marks.push_back({.at = at, .kind = kind, .id = id, .pid = VirtualRun::kJobPid});
  }

  /// The segment that ends here.
  void tell(std::uint64_t phase, TimePoint end) {
    if (!told_.silent)
      for (int part = 0; part < 3; ++part) {
        KernelRecord record{
            .begin = since_ + (part / 3.0) * (end - since_), .name_hash = phase * 10, .layer = phase};
        record.end = record.begin + 0.3 * (end - since_);
        record.grid = {static_cast<std::uint32_t>(part) + 1, 1, 1};
        record.device_uuid[0] = 1;
        told_.kernels.kernels.push_back(record);
      }
    if (told_.helper) told_.kernels.cycles.push_back({.begin = since_, .end = end, .pid = 77});
    since_ = end;
  }

  SimWorld& world_;
  std::uint64_t iterations_;
  Seconds resolution_;
  Told& told_;
  device::sim::ContextId context_;
  std::uint64_t completed_ = 0;
  bool in_backward_ = false;
  TimePoint since_ = VirtualRun::kBegin;
  TimePoint next_ = VirtualRun::kBegin;
};

struct Made {
  Seconds each{1};         // a phase
  Seconds believed{0.03};  // switching delay in the plan
  Seconds resolution{0.005};
  int iterations = 300;
  double most_per_second = 10;
  unsigned batch = 0;
};

plan::LayerPlan plan_of(const Made& made) {
  plan::LayerPlan plan;
  plan.board = "Tesla V100-PCIE-16GB";
  plan.network = "two phases";
  plan.parameters = 1000;
  plan.batch = made.batch;
  plan.strategy = "phase";
  plan.max_slowdown = 0.15;
  plan.single = kHigh;
  plan.at_default = {2 * made.each, 1_J};
  plan.at_single = {2.1 * made.each, 1_J};
  plan.planned = plan.at_single;
  plan.switching_delay = made.believed;
  plan.phases = {{"a", "b", LayerPass::forward, kHigh, 1.1 * made.each, 1_J},
                 {"b", "a", LayerPass::backward, kLow, made.each, 1_J}};
  return plan;
}

VirtualRunOptions running(const Made& made, Told& told) {
  VirtualRunOptions options;
  options.scenario = {.found_power_limit = 250_W};
  options.job = [made, &told](SimWorld& world) {
    return std::make_unique<TwoPhaseJob>(world, made.each, made.iterations, made.resolution, told);
  };
  options.strategy = [made](const std::vector<std::unique_ptr<device::Gpu>>&) {
    govern::PlanOptions plan{.plan = plan_of(made), .rules = {}, .found_clock_stated = true, .never = {}};
    plan.rules.max_slowdown = 0.15;
    return std::make_unique<govern::PlanStrategy>(std::move(plan), Random(1));
  };
  options.adjust = [made, &told](SessionParts& parts) {
    const plan::LayerPlan plan = plan_of(made);
    const govern::SwitchLimits limits{plan.dwell, made.most_per_second};
    parts.plan = std::make_unique<PlanRunner>(plan, limits, std::make_unique<InlineSwitcher>(limits));
    parts.kernels = [&told](TimePoint, bool) { return std::exchange(told.kernels, {}); };
    parts.marks = [&told](TimePoint, bool) { return std::exchange(told.marks, {}); };
    parts.keep_kernels = 5_s;
  };
  return options;
}

std::string sentence(const RunRecord& run, const std::string& with) {
  for (const auto& decision : run.decisions)
    if (decision.why.find(with) != std::string::npos) return decision.why;
  return {};
}

Seconds time_at(const RunRecord& run, const Setting& setting, BlockRole role) {
  Seconds sum;
  for (const auto& block : run.blocks)
    if (block.setting == setting && block.role == role) sum += block.end - block.begin;
  return sum;
}

TEST(PlanRun, LongPhasesAreSwitchedOnTheGpusOwnTimeAndThePlanIsKept) {
  Told told;
  VirtualRun virtual_run(running({}, told));
  const RunRecord run = virtual_run.run();
  const Setting range = range_of(plan_of({}));
  EXPECT_FALSE(sentence(run, "the plan pays").empty()) << run.decisions.back().why;
  EXPECT_GT(time_at(run, range, BlockRole::hold), 100_s);
  EXPECT_THAT(sentence(run, "changes of clocks asked for"), HasSubstr("1 of 1 boundaries"));
  EXPECT_THAT(sentence(run, "changes of clocks asked for"), testing::Not(HasSubstr("dropped")));
  EXPECT_EQ(run.iterations.size(), 300U);
  EXPECT_EQ(run.end->devices.at(0).restoration, Restoration::restored);
  EXPECT_FALSE(virtual_run.truth().end.sm_lock);
  EXPECT_THAT(virtual_run.journals(), IsEmpty());
  EXPECT_THAT(virtual_run.warnings(), IsEmpty());
}

TEST(PlanRun, AnotherProcessOfTheJobThatRunsNoLayerIsNoneOfItsBusiness) {
  Told told{.kernels = {}, .marks = {}, .helper = true};
  VirtualRun virtual_run(running({}, told));
  const RunRecord run = virtual_run.run();
  EXPECT_FALSE(sentence(run, "the plan pays").empty()) << run.decisions.back().why;
  EXPECT_THAT(sentence(run, "changes of clocks asked for"), HasSubstr("1 of 1 boundaries"));
}

TEST(PlanRun, TheRecordHoldsChangesOfModeAndNotEverySwitch) {
  Told told;
  VirtualRun virtual_run(running({}, told));
  const RunRecord run = virtual_run.run();
  EXPECT_LT(run.setting_changes.size(), 60U) << "the plan alone made hundreds";
  EXPECT_LT(run.decisions.size(), 120U);
  EXPECT_LE(run.kernels.size(), 20U) << "of the first 5 s only";
}

TEST(PlanRun, WhereTheGpuSwitchesSlowerThanItsPhasesThePlanIsLeft) {
  Told told;
  // Clocks arrive 30 ms after they are asked for, when the phase they are for is all but over.
  const Made quick{
      .each = 0.03_s, .believed = 0_s, .resolution = 0.001_s, .iterations = 2000, .most_per_second = 40};
  VirtualRun virtual_run(running(quick, told));
  const RunRecord run = virtual_run.run();
  const std::string why = sentence(run, "the single setting is kept");
  EXPECT_FALSE(why.empty()) << run.decisions.back().why;
  EXPECT_EQ(time_at(run, range_of(plan_of(quick)), BlockRole::hold), 0_s);
  EXPECT_FALSE(virtual_run.truth().end.sm_lock);
}

TEST(PlanRun, WhereRecordsStopTheSingleSettingIsHeldAtOnce) {
  Told told;
  VirtualRun virtual_run(running({}, told));
  std::optional<Megahertz> at_the_end;
  virtual_run.at(470_s, [&](SimWorld&, TimePoint) { told.silent = true; });
  virtual_run.at(500_s, [&](SimWorld& world, TimePoint now) { at_the_end = world.truth(0, now)->sm_clock; });
  const RunRecord run = virtual_run.run();
  EXPECT_EQ(at_the_end, kHigh.sm);
  EXPECT_THAT(sentence(run, "the plan cannot be run"), HasSubstr("the begin of an iteration is known to"));
}

TEST(PlanRun, WithoutDeviceRecordsItIsNeverSwitched) {
  Told told;
  told.silent = true;
  Made made;
  made.iterations = 80;
  VirtualRun virtual_run(running(made, told));
  const RunRecord run = virtual_run.run();
  EXPECT_GT(time_at(run, govern::setting_of(kHigh, false), BlockRole::hold), 20_s);
  EXPECT_THAT(sentence(run, "the plan never ran"), HasSubstr("no kernel records came yet"));
}

TEST(PlanRun, ACollectiveAmongTheKernelsKeepsThePlanFromRunning) {
  Told told;
  Made made;
  made.iterations = 80;
  Mark name{.at = VirtualRun::kBegin, .kind = RUBATO_MARK_NAME, .id = 5, .pid = VirtualRun::kJobPid};
  const std::string text = "ncclDevKernel_AllReduce_Sum_f32";
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(name.detail.data()));
  told.marks.push_back(name);
  VirtualRun virtual_run(running(made, told));
  const RunRecord run = virtual_run.run();
  EXPECT_THAT(sentence(run, "the plan never ran"), HasSubstr("collective (ncclDevKernel_AllReduce_Sum_f32)"));
}

Mark model_mark(TimePoint at, std::uint64_t parameters, std::uint64_t batch) {
  return {.at = at,
          .kind = RUBATO_MARK_MODEL,
          .detail = {parameters, batch, RUBATO_PRECISION_FP32, 0},
          .pid = VirtualRun::kJobPid};
}

TEST(PlanRun, AJobThatTellsAnotherBatchIsLeftAtTheFoundSettingAndGoesOn) {
  Told told;
  Made made;
  made.iterations = 80;
  made.batch = 64;
  told.marks.push_back(model_mark(VirtualRun::kBegin, 1000, 32));
  VirtualRun virtual_run(running(made, told));
  const RunRecord run = virtual_run.run();
  EXPECT_EQ(time_at(run, range_of(plan_of(made)), BlockRole::hold), 0_s);
  for (const auto& block : run.blocks) EXPECT_TRUE(block.setting.empty()) << describe(block.setting);
  EXPECT_THAT(sentence(run, "the plan never ran"),
              HasSubstr("trains batches of 32, and the plan is for two phases at batch 64"));
  EXPECT_EQ(run.iterations.size(), 80U);
}

TEST(PlanRun, AJobThatChangesItsModelInMidRunIsPutBackToTheFoundSetting) {
  Told told;
  Made made;
  made.batch = 64;
  told.marks.push_back(model_mark(VirtualRun::kBegin, 1000, 64));
  VirtualRun virtual_run(running(made, told));
  bool locked_at_the_end = true;
  virtual_run.at(470_s, [&](SimWorld&, TimePoint now) { told.marks.push_back(model_mark(now, 2000, 64)); });
  virtual_run.at(500_s, [&](SimWorld& world, TimePoint now) {
    locked_at_the_end = world.truth(0, now)->sm_lock.has_value();
  });
  const RunRecord run = virtual_run.run();
  EXPECT_FALSE(sentence(run, "the plan pays").empty()) << run.decisions.back().why;
  EXPECT_THAT(sentence(run, "trains 2000 parameters"), HasSubstr("the found setting is kept"));
  EXPECT_FALSE(locked_at_the_end);
}

TEST(PlanRun, SaysWhatOfTheJobWasComparedWithThePlan) {
  Told told;
  Made made;
  made.iterations = 80;
  VirtualRun silent(running(made, told));
  EXPECT_THAT(sentence(silent.run(), "changes of clocks asked for"),
              HasSubstr("did not tell its model or batch: only the length of its iteration was compared"));
  Told telling;
  telling.marks.push_back(model_mark(VirtualRun::kBegin, 1000, 0));
  VirtualRun open(running(made, telling));
  EXPECT_THAT(sentence(open.run(), "changes of clocks asked for"),
              HasSubstr("the job told 1000 parameters, fp32, and nothing of it speaks against the plan"));
}

TEST(PlanRun, AGuardThatRefusesASwitchEndsItAndEverythingGoesBack) {
  Told told;
  VirtualRunOptions options = running({}, told);
  options.scenario.faults.push_back({.call = device::sim::CallId::lock_sm_clock,
                                     .after = 30,
                                     .count = 1'000'000,
                                     .effect = device::sim::Effect::error,
                                     .error = ErrorCode::not_supported});
  VirtualRun virtual_run(options);
  const RunRecord run = virtual_run.run();
  EXPECT_FALSE(virtual_run.truth().end.sm_lock);
  EXPECT_EQ(run.iterations.size(), 300U) << "the job goes on";
  EXPECT_THAT(virtual_run.warnings(), testing::SizeIs(1));
}

}  // namespace
}  // namespace rubato::conduct
