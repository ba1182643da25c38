#include "govern/sweep_strategy.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::govern {
namespace {

constexpr StretchNeeds kWarmup{2_s, 10, 8};
constexpr StretchNeeds kDrain{Seconds(0.5), 5, 2};
constexpr Seconds kIterationPatience{30};
// A board takes minutes to get warm; what is left of it after this long is for the control blocks to find.
constexpr Seconds kLongestWarmup{180};

}  // namespace

const Setting& SweepStrategy::target() const {
  static const Setting kFound;
  return step_ < options_.steps.size() ? options_.steps[step_] : kFound;
}

bool SweepStrategy::wants_clocks() const {
  return std::any_of(options_.steps.begin(), options_.steps.end(),
                     [](const Setting& s) { return s.sm_clock || s.memory_clock; });
}

Decision SweepStrategy::next(const Observation& o) {
  switch (stage_) {
    case Stage::warming:
      return warming(o);
    case Stage::going:
      return going(o);
    case Stage::draining:
      return draining(o);
    case Stage::measuring:
      return measuring(o);
    case Stage::done:
    case Stage::given_up:
      break;
  }
  return idle(o, stage_, why_);
}

Decision SweepStrategy::warming(const Observation& o) {
  if (!o.under_load) {
    loaded_since_.reset();
    return {Action::wait, {}, BlockRole::warmup, "the job has not put this GPU to work yet", std::nullopt};
  }
  if (!loaded_since_) {
    loaded_since_ = o.now;
    stretch_.begin(o);
    steadiness_.restart();
    warmth_.restart();
  }
  steadiness_.look(o);
  lock_.look(o);
  const bool warm = warmth_.steady(o);
  if (stretch_.iterations(o) == 0 && stretch_.length(o) >= kIterationPatience)
    return idle(
        o, Stage::given_up,
        cat("no iteration was seen in ", kIterationPatience, " of load: a sweep inside one run needs one"));
  const bool enough = !o.tuning && steadiness_.steady() && stretch_.enough(o, kWarmup, kLongestWarmup);
  if ((warm && enough) || stretch_.length(o) >= kLongestWarmup) {
    if (wants_clocks() && !options_.found_clock_stated)
      if (const auto objection = lock_.objection()) return idle(o, Stage::given_up, *objection);
    return go(o, warm ? "iterations and temperature are steady" : "the temperature still rises, but slowly");
  }
  return {Action::wait, {}, BlockRole::warmup, "iterations and temperature settle", std::nullopt};
}

Decision SweepStrategy::go(const Observation& o, std::string why) {
  stage_ = Stage::going;
  why_ = std::move(why);
  return going(o);
}

Decision SweepStrategy::going(const Observation& o) {
  if (o.in_force == target()) {
    if (step_ >= options_.steps.size()) return idle(o, Stage::done, "all settings are measured");
    stage_ = Stage::draining;
    stretch_.begin(o);
    return draining(o);
  }
  if (target().empty()) return {Action::use_found, {}, BlockRole::warmup, why_, std::nullopt};
  if (!o.may_set)
    return {
        Action::wait, {}, BlockRole::warmup, why_ + "; rubato may not set anything here now", std::nullopt};
  return {Action::use_setting, target(), BlockRole::warmup, cat(why_, "; going to ", describe(target())),
          std::nullopt};
}

Decision SweepStrategy::draining(const Observation& o) {
  if (o.in_force != target()) return go(o, "the setting is no longer in force");
  if (!stretch_.enough(o, kDrain, kIterationPatience))
    return {Action::wait, {}, BlockRole::warmup, "what was launched before the change drains", std::nullopt};
  stage_ = Stage::measuring;
  stretch_.begin(o);
  return measuring(o);
}

Decision SweepStrategy::measuring(const Observation& o) {
  if (o.in_force != target()) return go(o, "the setting was lost while it was measured; once more");
  // 250 updates are five windows that each can be told (docs/design.md, "What a window can say").
  const StretchNeeds needs{Seconds(0), 250, options_.iterations};
  const BlockRole role = target().empty() ? BlockRole::control : BlockRole::hold;
  if (!stretch_.enough(o, needs, kIterationPatience))
    return {Action::wait,
            {},
            role,
            cat("measuring step ", step_ + 1, " of ", options_.steps.size()),
            std::nullopt};
  ++step_;
  return go(o, cat("step ", step_, " is measured over ", stretch_.iterations(o), " iterations"));
}

Decision SweepStrategy::idle(const Observation& o, Stage stage, std::string why) {
  stage_ = stage;
  why_ = std::move(why);
  if (!o.in_force.empty()) return {Action::use_found, {}, BlockRole::warmup, why_, std::nullopt};
  return {Action::wait, {}, BlockRole::warmup, why_, std::nullopt};
}

}  // namespace rubato::govern
