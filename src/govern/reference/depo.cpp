#include "govern/reference/depo.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/text.h"

namespace rubato::govern {
namespace {

std::size_t part(std::size_t span, double share) {
  return static_cast<std::size_t>(std::lround(static_cast<double>(span) * share));
}

/// What it asked for, in order: a gear that comes up again is measured again and averaged in.
class Measurements {
 public:
  Measurements(std::span<const TrialResult> seen, const Scale& scale, double weight_of_new)
      : seen_(seen), scale_(scale), weight_of_new_(weight_of_new) {}

  void put(std::size_t gear, const Cost& cost) {
    const auto known = costs_.find(gear);
    if (known == costs_.end()) {
      costs_.emplace(gear, cost);
      return;
    }
    Cost& mean = known->second;
    mean.time = mean.time * (1 - weight_of_new_) + cost.time * weight_of_new_;
    mean.energy = *mean.energy * (1 - weight_of_new_) + *cost.energy * weight_of_new_;
  }
  /// False: this gear has to be measured first.
  [[nodiscard]] bool measure(std::size_t gear) {
    if (next_ == seen_.size()) {
      wanted_ = gear;
      return false;
    }
    put(gear, seen_[next_++].cost);
    return true;
  }
  /// A broken bound costs a whole baseline more (DEPO.cpp).
  [[nodiscard]] double reward(std::size_t gear) const {
    const Score score = scale_.of(costs_.at(gear));
    return score.reward + (score.feasible ? 0 : 1);
  }
  [[nodiscard]] bool feasible(std::size_t gear) const { return scale_.of(costs_.at(gear)).feasible; }
  [[nodiscard]] bool has(std::size_t gear) const { return costs_.contains(gear); }
  [[nodiscard]] std::size_t wanted() const { return wanted_; }

 private:
  std::span<const TrialResult> seen_;
  const Scale& scale_;
  double weight_of_new_;
  std::map<std::size_t, Cost> costs_;
  std::size_t next_ = 1;
  std::size_t wanted_ = 0;
};

struct Bracket {
  std::size_t low = 0;
  std::size_t best = 0;
  std::size_t high = 0;
};

/// Down from `first` until it gets worse or breaks the bound. Nothing: a measurement is missing. The first
/// gear lies above what the job draws and need not save anything yet.
std::optional<Bracket> walk_down(Measurements& at, std::size_t top, std::size_t first, std::size_t step) {
  Bracket out{first, top, top};
  for (;;) {
    if (!at.measure(out.low)) return std::nullopt;
    const bool worse = out.low != first && at.reward(out.low) > at.reward(out.best);
    if (worse || !at.feasible(out.low)) return out;
    out.high = out.best;
    out.best = out.low;
    if (out.low == 0) return out;
    out.low -= std::min(step, out.low);
  }
}

/// False: a measurement is missing.
bool golden_section(Measurements& at, Bracket& b, std::size_t narrow) {
  constexpr double kLower = 0.382;
  constexpr double kUpper = 0.618;
  std::optional<std::size_t> kept;  // the inner point that the step before left inside
  while (b.high - b.low > narrow) {
    const std::size_t lower = b.low + part(b.high - b.low, kLower);
    const std::size_t upper = b.low + part(b.high - b.low, kUpper);
    for (const std::size_t gear : {lower, upper})
      if (gear != kept && !at.measure(gear)) return false;
    const bool down = at.reward(lower) < at.reward(upper);
    (down ? b.high : b.low) = down ? upper : lower;
    b.best = down ? lower : upper;
    kept = b.best;
  }
  return true;
}

}  // namespace

plan::KnobSpace depo_space(const plan::KnobSpace& space, std::size_t axis, double gear_watts) {
  plan::KnobSpace out = space;
  out.axes = {space.axes[axis]};
  if (out.axes[0].knob != Knob::power_limit) return out;
  std::vector<double>& values = out.axes[0].values;
  std::vector<double> kept{values.front()};
  for (const double value : values)
    if (value - kept.back() >= gear_watts - 1e-6) kept.push_back(value);
  if (kept.back() != values.back()) kept.push_back(values.back());
  values = std::move(kept);
  return out;
}

std::size_t Depo::first_gear(Watts power) const {
  std::size_t step = part(gears_.count(), options_.least_first);
  if (gears_.knob() == Knob::power_limit) {
    const std::size_t drawn = gears_.nearest(power.value());
    if (drawn < gears_.found()) step = std::max(step, part(gears_.found() - drawn, options_.first));
  }
  return gears_.found() - std::min(std::max<std::size_t>(step, 1), gears_.found());
}

SearchStep Depo::next(std::span<const TrialResult> seen) {
  const Scale scale(aim_, seen[0].cost);
  Measurements at(seen, scale, options_.weight_of_new);
  at.put(gears_.found(), seen[0].cost);
  const std::size_t first = first_gear(*seen[0].cost.energy / seen[0].cost.time);
  const std::size_t step = std::max<std::size_t>(1, part(gears_.found(), options_.step));
  auto bracket = walk_down(at, gears_.found(), first, step);
  if (!bracket || !golden_section(at, *bracket, options_.narrow))
    return gears_.measure(
        at.wanted(), options_.trial,
        cat("depo: golden section over ", name_of(gears_.knob()), ", ", gears_.text(at.wanted())));
  std::optional<std::size_t> best;
  for (const std::size_t gear : {bracket->low, bracket->best, bracket->high})
    if (at.has(gear) && at.feasible(gear) && (!best || at.reward(gear) < at.reward(*best))) best = gear;
  return gears_.hold(best.value_or(gears_.found()),
                     best ? "depo: the best of the last bracket" : "depo: nothing holds the bound");
}

}  // namespace rubato::govern
