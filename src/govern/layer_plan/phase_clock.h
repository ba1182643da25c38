// Where on the GPU's own time the iteration stands, from kernel records that carry layers or phases: what
// switching inside an iteration is timed by. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/kernel_record.h"
#include "plan/layers/layer_plan.h"

namespace rubato::govern {

/// Where the iteration stands, and when each of the plan's phases begins in it.
struct PhaseReading {
  TimePoint begin;             // of the iteration that is under way
  Seconds period;              // begin to begin
  Seconds error;               // of `begin`, two standard deviations
  std::vector<double> starts;  // of each phase, as a share of the period; the first is 0
};

class PhaseClock {
 public:
  explicit PhaseClock(const plan::LayerPlan& plan);

  /// Of one GPU, by begin.
  void add(const KernelRecord& record);
  /// Between `end` and the next record nothing is known.
  void cycle_ended(TimePoint end);
  /// From here on iterations take `factor` times as long.
  void pace_changed(double factor);

  /// unavailable, with the reason: too few iterations were seen, they are too irregular or too long ago for
  /// the phases' lengths, or records do not tell where an iteration begins.
  /// A plan that runs bears a little more error than one that is to begin, so as not to flutter.
  [[nodiscard]] Result<PhaseReading> at(TimePoint now, bool runs = false) const;
  /// Phases whose begin is measured, of those after the first; the others' are the plan's shares.
  [[nodiscard]] std::size_t measured() const;

 private:
  struct Phase {
    std::array<std::uint64_t, 2> ids{};  // of the layer it begins with, and of its pass; 0: does not tell
    int entry = 1;  // the time in an iteration that kernels of that layer come, which begins it
    int entered = 0;
    bool inside = false;
    double planned_start = 0;
    std::deque<double> starts;  // shares seen lately
    [[nodiscard]] bool begins_with(std::uint64_t layer) const;
    [[nodiscard]] double start() const;
  };

  void iteration_begins(TimePoint at);
  [[nodiscard]] std::optional<Seconds> period() const;
  [[nodiscard]] std::optional<Seconds> spread() const;

  std::vector<Phase> phases_;
  double shortest_ = 1;             // stretch between two changes of clocks, as a share
  std::optional<bool> in_first_;    // the latest kernel with a layer belonged to what begins the first phase
  std::optional<TimePoint> begin_;  // of the latest iteration
  bool unbroken_ = false;           // records since then have no hole
  bool in_step_ = true;             // the latest iteration seen whole took as long as the others
  std::size_t next_phase_ = 1;      // whose begin is looked for
  std::vector<std::optional<TimePoint>> begins_;  // of the phases of the iteration under way
  std::deque<double> intervals_s_;                // of the latest iterations
  std::optional<TimePoint> seen_until_;
  bool any_record_ = false;
  bool any_layer_ = false;
};

}  // namespace rubato::govern
