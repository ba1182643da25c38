// What iterations found in telemetry are counted in. A detector that looks again may state a multiple or a
// part of what it stated before; the job did not change by that, so the count goes on in what it began with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "core/iteration.h"

namespace rubato::conduct {

class CountedUnit {
 public:
  /// Cycles as they were followed, in order of time, while `period` was stated for them. Returns them as
  /// iterations: one is parted where several were taken for one, or where the period is a multiple of what is
  /// counted in, and as many are joined as that holds where it is a part of it.
  [[nodiscard]] std::vector<Iteration> counted(const std::vector<Iteration>& followed, Seconds period);

  /// At another setting an iteration takes as long as it takes: what is stated next is the unit.
  void anew();

 private:
  [[nodiscard]] Seconds unit_for(Seconds period);
  void join(const Iteration& part, long parts, std::vector<Iteration>& out);

  std::optional<Seconds> unit_;
  std::int64_t in_it_ = 0;        // counted in it so far
  std::vector<Iteration> parts_;  // of one that is not whole yet
};

}  // namespace rubato::conduct
