// From where the iteration stands to requests with a moment each, and what of them is sent: late ones are
// dropped, never queued, and there are never too many. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "govern/layer_plan/phase_clock.h"
#include "plan/layers/layer_plan.h"

namespace rubato::govern {

struct TimedSwitch {
  TimePoint at;      // to be sent
  TimePoint latest;  // after that it would do more harm than good
  predict::Clocks clocks;
  bool operator==(const TimedSwitch&) const = default;
};

struct SwitchLimits {
  Seconds dwell;  // shortest time between two requests
  double most_per_second = plan::kMostRequestsPerSecond;
};

/// Requests of the iterations from `now` on, for moments up to now + `horizon`. Each is sent where its phase
/// begins, not ahead of it: a phase of a plan lasts from its request, and the delay until the clocks change
/// is in its costs.
[[nodiscard]] std::vector<TimedSwitch> switch_times(const plan::LayerPlan& plan, const PhaseReading& reading,
                                                    TimePoint now, Seconds horizon);

/// Changes of clocks in one iteration, the one from its last phase to the next one's first included.
[[nodiscard]] std::size_t changes_in(const plan::LayerPlan& plan);

/// unavailable: at this period the plan asks for more requests a second than are sent, or for two nearer
/// than the dwell.
[[nodiscard]] Status can_be_sent(const plan::LayerPlan& plan, const PhaseReading& reading,
                                 const SwitchLimits& limits);

struct SwitchCounts {
  std::uint64_t sent = 0;
  std::uint64_t late = 0;     // dropped: their moment had passed
  std::uint64_t limited = 0;  // dropped: too soon after another, or too many
};

/// What is to be sent next. A new prediction replaces what was not sent yet.
class SwitchQueue {
 public:
  explicit SwitchQueue(SwitchLimits limits) : limits_(limits) {}

  void plan(std::vector<TimedSwitch> upcoming);
  void clear() { upcoming_.clear(); }
  [[nodiscard]] std::optional<TimePoint> next_due() const;
  /// The one that is due; those before it that are late or too many are dropped and counted. A request for
  /// the clocks asked for last is none.
  [[nodiscard]] std::optional<TimedSwitch> take(TimePoint now);
  /// Something else has set the clocks: the next request is sent whatever it asks for.
  void forget_clocks() { asked_.reset(); }

  [[nodiscard]] const SwitchCounts& counts() const { return counts_; }

 private:
  [[nodiscard]] TimePoint due_of(const TimedSwitch& one) const;
  [[nodiscard]] bool too_many(TimePoint now);

  SwitchLimits limits_;
  std::deque<TimedSwitch> upcoming_;
  std::optional<predict::Clocks> asked_;
  std::optional<TimePoint> sent_at_;
  std::deque<TimePoint> sent_lately_;
  SwitchCounts counts_;
};

}  // namespace rubato::govern
