// Work and energy of one board of a run that divides a power budget: of the processes that compute there,
// where they mark iterations themselves, else of the job.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "base/clock.h"
#include "conduct/tally_keeper.h"
#include "core/sample.h"
#include "progress/iteration_tracker.h"

namespace rubato::conduct {

class BoardTally {
 public:
  explicit BoardTally(TimePoint begin) : begin_(begin), keeper_(begin) {}

  /// As the driver lists them; an empty list of a board whose processes ended changes nothing.
  void computed_by(const std::vector<ComputeProcess>& processes);
  /// Any process's: others' are passed over.
  void mark(const Mark& mark);
  /// One of the job's clock: counts until the board's own processes have marked one.
  void iteration(const progress::TrackedIteration& tracked);
  /// What it drew after the latest moment told.
  void energy(TimePoint at, Joules more);

  /// When its energy is wanted most (TallyKeeper).
  [[nodiscard]] std::optional<TimePoint> wanted(TimePoint known_until) const {
    return keeper_.wanted(known_until);
  }
  [[nodiscard]] const std::set<std::int64_t>& processes() const { return processes_; }
  /// The work is that of its own processes.
  [[nodiscard]] bool own() const { return own_; }
  [[nodiscard]] const std::optional<govern::Tally>& tally() const { return keeper_.tally(); }

 private:
  TimePoint begin_;
  std::set<std::int64_t> processes_;
  progress::IterationTracker tracker_;
  bool own_ = false;
  Joules energy_;
  TallyKeeper keeper_;
};

}  // namespace rubato::conduct
