#include "govern/switch_strategy.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::govern {
namespace {

constexpr StretchNeeds kWarmup{15_s, 50, 8};
constexpr Seconds kIterationPatience{30};

Decision wait(BlockRole role, std::string why) {
  return {Action::wait, {}, role, std::move(why), std::nullopt};
}

}  // namespace

/// There and back for each target in turn: even switches go there.
Setting SwitchStrategy::target() const {
  if (done_ >= switches() || done_ % 2 == 1) return {};
  return options_.targets[done_ / (std::size_t{2} * options_.cycles)];
}

Decision SwitchStrategy::next(const Observation& o) {
  switch (stage_) {
    case Stage::warming:
      return warming(o);
    case Stage::going:
      return going(o);
    case Stage::holding:
      return holding(o);
    case Stage::done:
    case Stage::given_up:
      break;
  }
  if (!o.in_force.empty()) return {Action::use_found, {}, BlockRole::warmup, why_, std::nullopt};
  return wait(BlockRole::warmup, why_);
}

Decision SwitchStrategy::warming(const Observation& o) {
  if (!o.under_load) {
    loaded_ = false;
    return wait(BlockRole::warmup, "the job has not put this GPU to work yet");
  }
  if (!loaded_) {
    loaded_ = true;
    stretch_.begin(o);
  }
  lock_.look(o);
  if (!stretch_.enough(o, kWarmup, kIterationPatience))
    return wait(BlockRole::warmup, "the job gets into its stride");
  const bool clocks = std::any_of(options_.targets.begin(), options_.targets.end(),
                                  [](const Setting& s) { return s.sm_clock || s.memory_clock; });
  if (clocks && !options_.found_clock_stated)
    if (const auto objection = lock_.objection()) {
      stage_ = Stage::given_up;
      why_ = *objection;
      return wait(BlockRole::warmup, why_);
    }
  stage_ = Stage::holding;
  hold_ = options_.hold;
  stretch_.begin(o);
  return holding(o);
}

Decision SwitchStrategy::going(const Observation& o) {
  const Setting to = target();
  if (o.in_force == to) {
    ++done_;
    stage_ = Stage::holding;
    hold_ = options_.hold + kJitter * random_.uniform();
    stretch_.begin(o);
    return holding(o);
  }
  if (to.empty()) return {Action::use_found, {}, BlockRole::trial, "back to the found setting", std::nullopt};
  if (!o.may_set) return wait(BlockRole::trial, "rubato may not set anything here now");
  return {Action::use_setting, to, BlockRole::trial, cat("going to ", describe(to)), std::nullopt};
}

Decision SwitchStrategy::holding(const Observation& o) {
  if (!stretch_.enough(o, {hold_, 0, 0}, kIterationPatience))
    return wait(BlockRole::trial, cat("switch ", done_, " of ", switches(), " is watched"));
  if (done_ >= switches()) {
    stage_ = Stage::done;
    why_ = "all switches are made";
    return wait(BlockRole::warmup, why_);
  }
  stage_ = Stage::going;
  return going(o);
}

}  // namespace rubato::govern
