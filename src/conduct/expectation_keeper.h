// Which of the expectations of a run go into its record: where they changed, and not more than a reader could
// look at.
#pragma once

#include "base/clock.h"
#include "core/expectation.h"

namespace rubato::conduct {

class ExpectationKeeper {
 public:
  explicit ExpectationKeeper(TimePoint run_begin) : run_begin_(run_begin) {}

  /// `chosen`: what was decided for. At most 24 + 24 log2(1 + minutes of the run so far) in all. True: it is
  /// kept, and later ones are judged by it.
  [[nodiscard]] bool keep(const Expectation& expectation, const Setting& chosen, TimePoint now);

 private:
  TimePoint run_begin_;
  Expectation latest_;
  double kept_ = 0;
};

}  // namespace rubato::conduct
