// What known settings reach of an objective within a slowdown.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "core/objective.h"

namespace rubato::plan {

class CurveBelief;

/// Two settings, one on either side of the slowdown that is allowed, that share the time so that it is just
/// used up. Slowdowns and savings are fractions of the found setting's time and objective.
struct Reached {
  double allowed = 0;
  double faster = 0;  // slowdown of the one,
  double slower =
      std::numeric_limits<double>::infinity();  // and of the other; infinite: the faster alone is best
  double saving = 0;                            // of the faster
  double price = 0;                             // saving for a slowdown, along the line through both
  bool shares = true;

  [[nodiscard]] double at(double lost) const { return saving + price * (lost - faster); }
  /// Of the work, what one more setting of this slowdown may do beside the better one of the two.
  [[nodiscard]] double part(double lost) const {
    if (lost <= allowed)
      return slower < std::numeric_limits<double>::infinity() ? (slower - allowed) / (slower - lost) : 1;
    return shares ? (allowed - faster) / (lost - faster) : 0;
  }
};

/// By the expected costs of `settings` and of the found one. `may_share`: two settings may share the time, as
/// they do for energy and cost alone.
[[nodiscard]] Reached reached(const CurveBelief& belief, const Goal& goal, Watts board, double allowed,
                              std::span<const std::size_t> settings, bool may_share);

}  // namespace rubato::plan
