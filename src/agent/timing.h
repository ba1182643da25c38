// How long agents wait for each other, on the clock their run lives on.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace rubato::agent {

struct Timing {
  /// An answer is waited for one iteration, and never less than this: marks are read, and processes woken, in
  /// tens of milliseconds.
  Seconds answer{0.25};
  Seconds pulse{1.0};     // at least so often each side says that it lives
  Seconds silence{10.0};  // after which the other one is lost
  Seconds retry{1.0};     // after a cancelled switch; after the next in a row twice as long
  Seconds report{1.0};    // of the run's clock: so far behind is what the leader knows of a member's work

  /// The same on a clock that runs `rate` times faster than the wall, on which networks live.
  [[nodiscard]] Timing at_rate(double rate) const {
    return {answer * rate, pulse * rate, silence * rate, retry * rate,
            std::max(report, kShortestReport * rate)};
  }

  static constexpr Seconds kShortestReport{0.05};
};

/// So many cancelled switches in a row take everybody back to the found setting, for what is held meanwhile
/// may be what was to be left.
inline constexpr unsigned kMostCancelled = 3;

/// After this many times the answer's patience a commit is refused by whoever it reaches, and a receipt is no
/// longer waited for: the second is longer, so that a commit that counts is known to count.
inline constexpr double kCommitGood = 2.0;
inline constexpr double kReceiptDue = 2.5;

/// How many iterations a switch is announced ahead: answers, receipts and a cancel have to fit in.
[[nodiscard]] std::int64_t lead_iterations(Seconds iteration, const Timing& timing);

}  // namespace rubato::agent
