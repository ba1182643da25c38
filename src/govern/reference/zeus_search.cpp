#include "govern/reference/zeus_search.h"

#include <cmath>
#include <utility>

#include "base/text.h"

namespace rubato::govern {
namespace {

// A clock has no step of Zeus's: as many as its 25 W make of the 100 to 250 W of its paper's V100.
constexpr double kStepsOfOtherKnobs = 6;

std::string in_words(Knob knob, double value) {
  return knob == Knob::power_limit ? cat(Watts(value)) : cat(Megahertz(value));
}

double on_axis(const plan::KnobAxis& axis, double wanted) {
  double best = axis.values.front();
  for (const double value : axis.values)
    if (std::abs(value - wanted) <= std::abs(best - wanted)) best = value;
  return best;
}

double value_on(const plan::KnobAxis& axis, const predict::KnobPoint& point) {
  const double highest = axis.values.back();
  if (axis.knob == Knob::power_limit) return point.power_limit ? point.power_limit->value() : highest;
  if (axis.knob == Knob::sm_clock) return point.sm_clock ? point.sm_clock->value() : highest;
  return point.memory_clock ? point.memory_clock->value() : highest;
}

}  // namespace

ZeusSearch::ZeusSearch(ZeusOptions options, plan::KnobSpace space, std::size_t axis)
    : options_(options), space_(std::move(space)), axis_(axis) {
  const plan::KnobAxis& swept = space_.axes[axis_];
  const double lowest = swept.values.front();
  const double highest = swept.values.back();
  const double found = value_on(swept, space_.found);
  const double step =
      swept.knob == Knob::power_limit ? options_.step.value() : (highest - lowest) / kStepsOfOtherKnobs;
  const double first = options_.from_highest ? highest : found;
  sweep_.push_back(first);
  // The lowest value is tried only where a whole number of steps leads to it, as in Zeus.
  for (int i = 1; first - i * step >= lowest - 1e-6; ++i) {
    const double value = on_axis(swept, first - i * step);
    if (value < sweep_.back()) sweep_.push_back(value);
  }
  baseline_counts_ = std::abs(found - first) < 1e-6;
  if (baseline_counts_) asked_ = 1;
}

TrialLength ZeusSearch::baseline() const {
  return {.settle = {},
          .time = {},
          .work = options_.profile_steps,
          .settle_work = options_.wait_steps + options_.warmup_steps};
}

SearchStep ZeusSearch::next(std::span<const TrialResult> seen) {
  if (asked_ == sweep_.size()) return choose(seen);
  const double value = sweep_[asked_++];
  const TrialLength length{
      .settle = {}, .time = {}, .work = options_.profile_steps, .settle_work = options_.warmup_steps};
  return {
      SearchStep::Kind::measure, at(value), false, length,
      cat("Zeus profiles ", in_words(space_.axes[axis_].knob, value), ", ", asked_, " of ", sweep_.size())};
}

SearchStep ZeusSearch::choose(std::span<const TrialResult> seen) const {
  const plan::KnobAxis& swept = space_.axes[axis_];
  std::vector<ZeusProfile> profiles;
  for (const TrialResult& result : seen.subspan(baseline_counts_ ? 0 : 1))
    profiles.push_back({value_on(swept, result.at), result.cost.time, result.cost.energy});
  if (options_.selector.rule == ZeusRule::energy && !profiles.empty()) {
    const Seconds first = profiles.front().time;
    for (ZeusProfile& p : profiles)
      if (p.energy)
        p.energy =
            (*p.energy + options_.aim.beside * p.time) * std::pow(p.time / first, options_.aim.time_power);
  }

  ZeusSelector selector = options_.selector;
  if (swept.knob == Knob::power_limit) {
    selector.highest_power = Watts(sweep_.front() * options_.world_size);
  } else if (!profiles.empty() && profiles.front().energy) {
    // Without limits: what all GPUs drew at the highest clock.
    selector.highest_power = *profiles.front().energy / profiles.front().time;
  }
  const std::optional<std::size_t> chosen = selector.select(profiles);
  SearchStep hold;
  hold.found = true;
  if (!chosen) {
    hold.why = "Zeus has no energy to choose by: the found setting stays";
    return hold;
  }
  const double value = profiles[*chosen].knob;
  hold.at = at(value);
  hold.found = baseline_counts_ && *chosen == 0;
  hold.why = cat("Zeus chose ", in_words(swept.knob, value), ": of ", profiles.size(), ", ",
                 selector.describe(in_words(swept.knob, profiles.front().knob)));
  return hold;
}

predict::KnobPoint ZeusSearch::at(double value) const {
  predict::KnobPoint out = space_.found;
  switch (space_.axes[axis_].knob) {
    case Knob::power_limit:
      out.power_limit = Watts(value);
      break;
    case Knob::sm_clock:
      out.sm_clock = Megahertz(value);
      break;
    case Knob::memory_clock:
      out.memory_clock = Megahertz(value);
      break;
    case Knob::application_clocks:
      break;  // never an axis
  }
  return out;
}

Result<std::unique_ptr<Search>> make_zeus(ZeusRule rule, const StrategyRequest& request, bool published) {
  const std::vector<plan::KnobAxis>& axes = request.space.axes;
  if (axes.empty())
    return fail(ErrorCode::invalid_argument, cat("strategy ", name_of(rule), ": there is no knob to sweep"));
  std::size_t axis = axes.size();
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].knob == Knob::power_limit) axis = i;
  if (axis == axes.size()) {
    if (published)
      return fail(ErrorCode::invalid_argument,
                  cat("strategy ", name_of(rule), "@published: needs the power limit; what may be set is ",
                      rubato::name_of(axes.front().knob)));
    axis = 0;
  }
  ZeusOptions options;
  options.selector.rule = rule;
  if (published) {
    if (rule == ZeusRule::max_slowdown) options.selector.rule = ZeusRule::cost;
    options.from_highest = true;
  } else {
    options.selector.slowdown_factor = 1 + request.goal.max_slowdown;
    options.world_size = request.gpus;
    options.aim = aim_of(request.goal);
  }
  return std::make_unique<ZeusSearch>(options, request.space, axis);
}

}  // namespace rubato::govern
