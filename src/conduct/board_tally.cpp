#include "conduct/board_tally.h"

#include <utility>

namespace rubato::conduct {

void BoardTally::computed_by(const std::vector<ComputeProcess>& processes) {
  if (processes.empty()) return;
  processes_.clear();
  for (const ComputeProcess& process : processes) processes_.insert(process.pid);
}

void BoardTally::mark(const Mark& mark) {
  if (!processes_.contains(mark.pid)) return;
  tracker_.add(mark);
  for (const auto& tracked : tracker_.take()) {
    // From here on another count: nothing of the job's own may be taken for its beginning.
    if (!std::exchange(own_, true)) keeper_ = TallyKeeper(begin_);
    keeper_.iteration(tracked);
  }
}

void BoardTally::iteration(const progress::TrackedIteration& tracked) {
  if (!own_) keeper_.iteration(tracked);
}

void BoardTally::energy(TimePoint at, Joules more) {
  energy_ += more;
  keeper_.energy(at, energy_);
}

}  // namespace rubato::conduct
