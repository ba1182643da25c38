// The boards of a job whose limits share a budget: which of them are steered, what the others take of it, and
// whether what was asked for is in force.
#pragma once

#include <optional>
#include <vector>

#include "govern/strategy.h"
#include "plan/power_shares.h"

namespace rubato::govern {

class JobBoards {
 public:
  /// The job works on all of its boards, or it has had the time to. Asked at every observation until then.
  [[nodiscard]] bool gathered(const Observation& o);
  /// Takes the boards as they are now; whether they are others than before, or leave another rest.
  [[nodiscard]] bool regrouped(const Observation& o);

  /// Indices of Observation::boards: those that are steered. What follows is by member, in this order.
  [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }
  /// The sum of the limits of those that count beside them.
  [[nodiscard]] Watts others() const { return others_; }
  /// From the least limit that was ever granted to the limit that was found.
  [[nodiscard]] std::vector<plan::BoardRange> ranges(const Observation& o) const;
  [[nodiscard]] std::vector<Watts> limits(const Observation& o) const;
  [[nodiscard]] std::vector<Watts> found(const Observation& o) const;
  [[nodiscard]] bool in_force(const Observation& o, const std::vector<Watts>& shares) const;
  /// A board's limit is to go back to the one found.
  [[nodiscard]] static bool given_back(const Observation& o);

  /// The driver did not go down to these shares. False: nothing new, it has said so before.
  [[nodiscard]] bool learn_floors(const Observation& o, const std::vector<Watts>& shares);

 private:
  std::optional<TimePoint> first_seen_;  // of the job on any board
  std::vector<std::size_t> members_;
  Watts others_;
  std::vector<Watts> floors_;  // of Observation::boards: what the driver did not go below
};

}  // namespace rubato::govern
