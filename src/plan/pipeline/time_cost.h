// The time-cost trade-off of a project: activities between events that can be made shorter at a rising
// price, and the cheapest durations for every total time from the longest to the shortest.
//
// Linear programming duality turns it into a flow (Fulkerson 1961; Phillips and Dessouky 1977, which Perseus
// uses, is the same cut found step by step): the flow through an activity is the price of its last tick, a
// piece of its cost curve is an arc whose length is the duration at which that price holds, and the total
// flow is what the project's next tick costs. Lowering the total time sends more flow along the longest
// residual paths. The flow is never thrown away, and between two breakpoints nothing has to be computed.
// All of it is in whole numbers, so the answer is exact for the curves given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rubato::plan {

using Ticks = std::int64_t;
using CostPerTick = std::int64_t;  // of one tick, in whatever unit the caller counts cost

/// What an activity can take: the longest duration first, and what a tick less than that costs down to the
/// next. Prices rise strictly. The last one is the shortest duration; its price is not read.
struct Pace {
  Ticks duration = 0;
  CostPerTick price = 0;  // of a tick below `duration`
};

struct Activity {
  std::size_t from = 0;  // events
  std::size_t to = 0;
  std::size_t curve = 0;
};

struct Project {
  std::size_t events = 2;  // 0 is the beginning, 1 the end
  std::vector<std::vector<Pace>> curves;
  std::vector<Activity> activities;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // the second event is not before the first
};

class TimeCost {
 public:
  /// Begins at the longest time: everything at its longest duration. `project` has no cycle, and every event
  /// lies between the beginning and the end.
  explicit TimeCost(const Project& project);

  [[nodiscard]] Ticks time() const { return moment_[kEnd]; }
  /// Nothing can be made shorter any more.
  [[nodiscard]] bool shortest() const { return finished_; }
  /// Of the next tick less; the highest seen so far where there is none.
  [[nodiscard]] CostPerTick price() const { return flow_; }

  /// Down to `time`, or to the shortest where that is longer.
  void shorten_to(Ticks time);
  /// While a tick less costs less than `price`.
  void shorten_below(CostPerTick price);

  /// The cheapest duration of an activity at time(): within its curve.
  [[nodiscard]] Ticks duration(std::size_t activity) const;
  /// When an event happens, in a schedule that keeps every activity's duration.
  [[nodiscard]] Ticks moment(std::size_t event) const { return moment_[event]; }
  /// Changes of the cut so far.
  [[nodiscard]] std::uint64_t breakpoints() const { return breakpoints_; }

 private:
  static constexpr std::size_t kBegin = 0;
  static constexpr std::size_t kEnd = 1;
  // More than any sum of prices that is ever sent: an arc of this room never fills.
  static constexpr CostPerTick kEndless = CostPerTick{1} << 60U;

  struct Arc {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    const Pace* paces = nullptr;
    std::uint32_t count = 0;
    std::uint32_t piece = 0;  // the price below paces[piece] is above `flow`
    CostPerTick flow = 0;
  };
  struct Residual {
    Ticks slack = 0;       // of its length against the moments of its ends; 0 can carry flow now
    CostPerTick room = 0;  // 0: it is not there
  };
  using Step = std::uint32_t;  // 2 * arc, + 1 against its direction

  void place(const Project& project);
  [[nodiscard]] Residual residual(Step step) const;
  [[nodiscard]] std::uint32_t head(Step step) const {
    return step % 2 == 0 ? arcs_[step / 2].to : arcs_[step / 2].from;
  }
  void send(Step step, CostPerTick amount);
  void settle();
  [[nodiscard]] bool label();
  void fill();
  void reach();
  void pull(Ticks ticks);

  std::vector<std::vector<Pace>> curves_;
  std::vector<Arc> arcs_;
  std::size_t activities_;
  std::vector<std::uint32_t> first_;  // of an event's steps in steps_
  std::vector<Step> steps_;
  std::vector<Ticks> moment_;
  std::vector<Ticks> ahead_;  // slack from the beginning; what lies further than the end may be too large
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> next_;  // of an event's steps, the one to look at
  std::vector<std::uint32_t> queue_;
  std::vector<Step> path_;
  std::vector<std::pair<Ticks, std::uint32_t>> heap_;
  CostPerTick flow_ = 0;
  bool finished_ = false;
  std::uint64_t breakpoints_ = 0;
};

}  // namespace rubato::plan
