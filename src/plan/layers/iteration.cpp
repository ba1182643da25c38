#include "plan/layers/iteration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/text.h"
#include "plan/layers/strategy.h"

namespace rubato::plan {
namespace {

constexpr int kIterations = 64;
// What sums in another order may differ by.
constexpr double kRounding = 1e-9;

/// Where the GPU stands when a segment begins.
struct State {
  std::size_t in_force = 0;
  std::size_t asked = 0;
  double until = 0;  // seconds to the change that is under way; 0: none is
  double since = 0;  // seconds since the last request, at most the dwell

  [[nodiscard]] bool like(const State& other, double scale) const {
    return in_force == other.in_force && asked == other.asked &&
           std::abs(until - other.until) <= kRounding * scale &&
           std::abs(since - other.since) <= kRounding * scale;
  }
};

class Walk {
 public:
  Walk(const SegmentTable& table, const Switching& switching)
      : table_(table), switching_(switching), settings_(table.settings.size()) {}

  State state;

  /// False where a segment cannot run at the setting in force.
  bool segment(std::size_t index, std::size_t wanted) {
    ask(index, wanted);
    for (double work = 1; work > 0;) {
      const SegmentCost& cost = table_.cost(index, state.in_force);
      if (!std::isfinite(cost.energy.value()) || !std::isfinite(cost.time.value())) return false;
      const double left = cost.time.value() * work;
      if (state.asked == state.in_force || left < state.until - kRounding * delay_) {
        spend(left, cost.energy.value() * work);
        state.until -= state.asked == state.in_force ? state.until : left;
        return true;
      }
      const double share = left > 0 ? std::min(state.until / left, 1.0) : 0;
      spend(left * share, cost.energy.value() * work * share);
      take_effect();
      work = share > 1 - kRounding ? 0 : work * (1 - share);
    }
    return true;
  }

  double time = 0;
  double energy = 0;
  std::vector<Request> requests;

 private:
  void ask(std::size_t index, std::size_t wanted) {
    const bool under_way = state.asked != state.in_force;
    const double dwell = switching_.dwell.value();
    if (wanted == state.asked || under_way || state.since < dwell * (1 - kRounding)) return;
    state.asked = wanted;
    state.since = 0;
    state.until = delay_ = switching_.delay_of(state.in_force, wanted, settings_).value();
    requests.push_back({index, wanted, Seconds(time), Joules(energy)});
    if (delay_ <= 0) take_effect();
  }

  void take_effect() {
    const double stall = switching_.stall_of(state.in_force, state.asked, settings_).value();
    spend(stall, switching_.stalled.value() * stall);
    state.in_force = state.asked;
    state.until = 0;
  }

  void spend(double seconds, double joules) {
    time += seconds;
    energy += joules;
    state.since = std::min(state.since + seconds, switching_.dwell.value());
  }

  const SegmentTable& table_;
  const Switching& switching_;
  std::size_t settings_;
  double delay_ = 0;
};

bool fits(const std::vector<Seconds>& pairs, std::size_t settings) {
  if (pairs.empty()) return true;
  return pairs.size() == settings * settings && std::all_of(pairs.begin(), pairs.end(), [](Seconds s) {
           return std::isfinite(s.value()) && s.value() >= 0;
         });
}

}  // namespace

Iteration run_iteration(const SegmentTable& table, const Switching& switching,
                        std::span<const std::size_t> setting) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Walk walk(table, switching);
  walk.state = {setting.back(), setting.back(), 0, switching.dwell.value()};
  struct Begin {
    State state;
    double time;
    double energy;
    std::size_t requests;
  };
  std::vector<Begin> begins = {{walk.state, 0, 0, 0}};
  std::optional<std::size_t> from;
  Begin begin = begins.front();
  while (!from && begins.size() <= kIterations) {
    begin = begins.back();
    for (std::size_t i = 0; i < setting.size(); ++i)
      if (!walk.segment(i, setting[i])) return {{Seconds(kInfinite), Joules(kInfinite)}, {}, 0, false};
    for (std::size_t k = 0; k < begins.size() && !from; ++k)
      if (begins[k].state.like(walk.state, walk.time - begin.time)) from = k;
    begins.push_back({walk.state, walk.time, walk.energy, walk.requests.size()});
  }
  const Begin& first = begins[from.value_or(0)];
  const auto count = static_cast<double>(begins.size() - 1 - from.value_or(0));
  Iteration out;
  out.cost = {Seconds((walk.time - first.time) / count), Joules((walk.energy - first.energy) / count)};
  out.changes = static_cast<double>(walk.requests.size() - first.requests) / count;
  out.repeats = from && begins.size() - 2 == *from;
  out.requests.assign(walk.requests.begin() + static_cast<std::ptrdiff_t>(begin.requests),
                      walk.requests.end());
  for (Request& request : out.requests) {
    request.after -= Seconds(begin.time);
    request.spent -= Joules(begin.energy);
  }
  return out;
}

SegmentCost cost_of(const SegmentTable& table, const Switching& switching,
                    std::span<const std::size_t> setting) {
  return run_iteration(table, switching, setting).cost;
}

Status check_table(const SegmentTable& table, const Switching& switching) {
  const std::size_t segments = table.segments.size();
  const std::size_t settings = table.settings.size();
  if (segments == 0 || settings == 0 || table.at_default >= settings)
    return fail(ErrorCode::invalid_argument,
                cat("there is nothing to plan: ", segments, " segments, ", settings,
                    " settings, the default being number ", table.at_default));
  if (table.costs.size() != segments * settings)
    return fail(ErrorCode::invalid_argument,
                cat(table.costs.size(), " costs for ", segments, " segments at ", settings, " settings"));
  if (!fits(switching.delay, settings) || !fits(switching.stall, settings))
    return fail(ErrorCode::invalid_argument, cat("switching times must be one for each of ",
                                                 settings * settings, " pairs of settings, none below zero"));
  for (std::size_t i = 0; i < segments; ++i)
    if (!std::isfinite(joules_with(table.cost(i, table.at_default), Watts(0))))
      return fail(ErrorCode::invalid_argument,
                  cat("segment ", table.segments[i].name, " has no cost at the default setting"));
  return {};
}

SegmentCost uniform_cost(const SegmentTable& table, std::size_t setting) {
  SegmentCost sum;
  for (std::size_t i = 0; i < table.segments.size(); ++i) {
    sum.time += table.cost(i, setting).time;
    sum.energy += table.cost(i, setting).energy;
  }
  return sum;
}

double joules_with(const SegmentCost& cost, Watts host) {
  return std::isfinite(cost.energy.value()) ? (cost.energy + host * cost.time).value()
                                            : std::numeric_limits<double>::infinity();
}

Seconds time_budget(const SegmentTable& table, double max_slowdown) {
  return uniform_cost(table, table.at_default).time * (1 + max_slowdown);
}

}  // namespace rubato::plan
