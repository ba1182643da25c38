#include "govern/fixed_strategy.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::govern {
namespace {

// Frameworks tune kernels and fill caches in the first iterations; the limiter and the clocks follow within a
// second.
constexpr StretchNeeds kWarmup{2_s, 10, 8};
constexpr Seconds kLongestWarmup{60};
// Without iterations the first seconds of load are all there is to go by.
constexpr Seconds kIterationPatience{30};
// 50 sensor updates bring the error at a batch's edges to 2 % (docs: energy windows), and an interval needs
// at least four batches (analyse/): five, with the whole iterations that fit into them.
constexpr StretchNeeds kBaseline{3_s, 250, 16};
// A job that never gives a clean baseline is still run as its user asked, after this much work.
constexpr Seconds kLongestUntilHold{300};
constexpr Seconds kLongestForClocks{15};
constexpr StretchNeeds kControl{1_s, 50, 4};
// What was launched before a change runs after it: the iteration under way and the one queued behind it do
// not count.
constexpr StretchNeeds kDrain{Seconds(0.5), 5, 2};
constexpr Seconds kLongestDrain{10};
constexpr double kControlShare = 0.01;
constexpr double kControlMargin = 1.25;  // planned for, as iterations may take longer than they did
// A data loader that starves the GPU for a moment is not the end of the load.
constexpr Seconds kLoadGone{3};
constexpr Seconds kAskAgain{5};

}  // namespace

FixedStrategy::FixedStrategy(FixedOptions options, Random random)
    : wanted_(options.wanted), found_clock_stated_(options.found_clock_stated), random_(random) {}

bool FixedStrategy::in_force(const Observation& o) const {
  // What is in force may be clamped or rounded: only conduct knows. Here it counts whether it is ours or the
  // found one.
  return o.in_force.empty() == (target_ == Target::found);
}

bool FixedStrategy::load_gone(const Observation& o) const {
  return idle_since_ && o.now - *idle_since_ >= kLoadGone;
}

Seconds FixedStrategy::patience() const {
  return iteration_time_ ? std::max(kIterationPatience, *iteration_time_ * 3) : kIterationPatience;
}

Decision FixedStrategy::next(const Observation& o) {
  if (o.under_load) {
    idle_since_.reset();
  } else if (!idle_since_) {
    idle_since_ = o.now;
  }
  if (o.under_load && last_asked_) loaded_ += o.now - *last_asked_;
  last_asked_ = o.now;
  switch (stage_) {
    case Stage::no_load:
      return no_load(o);
    case Stage::warming:
      return warming(o);
    case Stage::baseline:
      return baseline(o);
    case Stage::going:
      return going(o);
    case Stage::settling:
      return settling(o);
    case Stage::holding:
      return target_ == Target::wanted ? hold(o) : control(o);
    case Stage::refused:
      break;
  }
  return {Action::wait, {}, BlockRole::baseline, why_, std::nullopt};
}

Decision FixedStrategy::no_load(const Observation& o) {
  if (!o.under_load) {
    return {Action::wait, {}, BlockRole::warmup, "the job has not put this GPU to work yet", std::nullopt};
  }
  stage_ = Stage::warming;
  stretch_.begin(o);
  steadiness_.restart();
  why_ = "the job warms up; nothing is judged before load and iterations are steady";
  return warming(o);
}

Decision FixedStrategy::warming(const Observation& o) {
  if (load_gone(o)) {
    stage_ = Stage::no_load;
    return no_load(o);
  }
  steadiness_.look(o);
  const bool by_time = stretch_.iterations(o) == 0;
  const bool warm =
      !o.tuning && stretch_.enough(o, kWarmup, kIterationPatience) && (by_time || steadiness_.steady());
  if (warm || stretch_.length(o) >= kLongestWarmup) {
    if (!by_time) iteration_time_ = stretch_.length(o) / static_cast<double>(stretch_.iterations(o));
    stage_ = Stage::baseline;
    stretch_.begin(o);
    why_ = by_time ? cat("no iterations were seen in ", kIterationPatience,
                         " under load; the baseline at the found setting goes by time")
                   : "the job runs steadily; this is the baseline at the found setting";
    return baseline(o);
  }
  return {Action::wait, {}, BlockRole::warmup, why_, stretch_.earliest_end(o, kWarmup)};
}

Decision FixedStrategy::baseline(const Observation& o) {
  lock_.look(o);
  const bool late = loaded_ >= kLongestUntilHold;
  if (load_gone(o) && !late) {
    stage_ = Stage::no_load;
    return no_load(o);
  }
  // A job that marks no iterations at all is not waited for again.
  const Seconds wait_for_iterations = o.iterations == 0 ? kBaseline.time : patience();
  const bool whole = o.under_load && stretch_.enough(o, kBaseline, wait_for_iterations);
  const bool wants_clock = wanted_.sm_clock || wanted_.memory_clock;
  const bool clocks_seen =
      !wants_clock || found_clock_stated_ || lock_.enough() || stretch_.length(o) >= kLongestForClocks;
  if ((whole && clocks_seen) || late) {
    if (const auto n = stretch_.iterations(o); n > 0)
      iteration_time_ = stretch_.length(o) / static_cast<double>(n);
    return leave_baseline(o, whole ? cat("the baseline is measured over ", stretch_.length(o), " and ",
                                         stretch_.iterations(o), " iterations")
                                   : cat("no whole baseline in ", kLongestUntilHold, " of load"));
  }
  return {Action::wait, {}, BlockRole::baseline, why_, stretch_.earliest_end(o, kBaseline)};
}

Decision FixedStrategy::leave_baseline(const Observation& o, std::string why) {
  if ((wanted_.sm_clock || wanted_.memory_clock) && !found_clock_stated_) {
    if (const auto objection = lock_.objection()) {
      // Application clocks can be read and so be put back exactly; locks cannot.
      wanted_.sm_clock.reset();
      wanted_.memory_clock.reset();
      why += "; " + *objection;
    }
  }
  if (wanted_.empty()) {
    stage_ = Stage::refused;
    why_ = std::move(why);
    return {Action::wait, {}, BlockRole::baseline, why_, std::nullopt};
  }
  return go(o, Target::wanted, std::move(why));
}

Decision FixedStrategy::go(const Observation& o, Target target, std::string why) {
  target_ = target;
  stage_ = Stage::going;
  why_ = std::move(why);
  asked_ = o.now - kAskAgain;
  return going(o);
}

Decision FixedStrategy::going(const Observation& o) {
  if (in_force(o)) {
    stage_ = Stage::settling;
    stretch_.begin(o);
    return settling(o);
  }
  if (!o.may_set) {
    const BlockRole role = o.in_force.empty() ? BlockRole::baseline : BlockRole::hold;
    return {Action::wait, {}, role, why_ + "; rubato may not set anything here now", std::nullopt};
  }
  if (o.now - asked_ < kAskAgain) {
    return {Action::wait, {}, BlockRole::warmup, "the change is on its way", asked_ + kAskAgain};
  }
  asked_ = o.now;
  if (target_ == Target::found) return {Action::use_found, {}, BlockRole::warmup, why_, std::nullopt};
  return {Action::use_setting, wanted_, BlockRole::warmup, cat(why_, "; going to ", describe(wanted_)),
          std::nullopt};
}

Decision FixedStrategy::settling(const Observation& o) {
  if (!in_force(o)) {
    stage_ = Stage::going;
    return going(o);
  }
  const Seconds wait_for_iterations = o.iterations == 0 ? kDrain.time : std::min(patience(), kLongestDrain);
  const bool over_budget =
      target_ == Target::found && control_spent_ + (o.now - control_begin_) >= control_budget(o);
  if (!over_budget && !stretch_.enough(o, kDrain, wait_for_iterations)) {
    return {Action::wait,
            {},
            BlockRole::warmup,
            "what was launched before the change drains",
            stretch_.earliest_end(o, kDrain)};
  }
  stage_ = Stage::holding;
  stretch_.begin(o);
  if (target_ == Target::found) return control(o);
  plan_control(o);
  return hold(o);
}

// The whole time away from the wanted setting: the block, and what drains before it.
Seconds FixedStrategy::control_length(const Observation& o) const {
  const Seconds iteration = o.iterations > 0 ? iteration_time_.value_or(Seconds(0)) : Seconds(0);
  const auto length = [&](const StretchNeeds& needs) {
    return std::max({needs.time, o.sensor_period * needs.sensor_updates,
                     iteration * static_cast<double>(needs.iterations)});
  };
  return (length(kDrain) + length(kControl) + iteration) * kControlMargin;
}

Seconds FixedStrategy::control_budget(const Observation& o) const {
  return (o.now - o.run_begin) * kControlShare;
}

// At a random moment after the budget allows it, so that no rhythm of the job can hide from the control
// blocks.
void FixedStrategy::plan_control(const Observation& o) {
  const Seconds length = control_length(o);
  const TimePoint allowed = o.run_begin + (control_spent_ + length) / kControlShare;
  control_due_ = std::max(allowed, o.now) + random_.uniform(0.0, 0.5) * (length / kControlShare);
}

Decision FixedStrategy::hold(const Observation& o) {
  if (!in_force(o)) return go(o, Target::wanted, "the setting is no longer in force");
  const bool affordable = control_spent_ + control_length(o) <= control_budget(o);
  if (o.may_set && o.under_load && o.now >= control_due_ && affordable) {
    control_begin_ = o.now;
    return go(o, Target::found,
              "a control block at the found setting shows whether the baseline still holds");
  }
  return {Action::wait, {}, BlockRole::hold, cat("holding ", describe(wanted_)), std::nullopt};
}

Decision FixedStrategy::control(const Observation& o) {
  const bool whole = stretch_.enough(o, kControl, o.iterations == 0 ? kControl.time : patience());
  const bool over_budget = control_spent_ + (o.now - control_begin_) >= control_budget(o);
  if (!o.may_set || !(whole || over_budget || load_gone(o))) {
    return {Action::wait,
            {},
            BlockRole::control,
            "control block at the found setting",
            stretch_.earliest_end(o, kControl)};
  }
  control_spent_ += o.now - control_begin_;
  return go(o, Target::wanted,
            whole ? "the control block is measured"
                  : cat("the control block is cut short: ",
                        over_budget ? "1 % of the run is used" : "the load is gone"));
}

}  // namespace rubato::govern
