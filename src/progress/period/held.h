// What was found before and has been followed since, against a look that says otherwise. A look at all of a
// long trace is misled by drift, clocks and stalls that the looks on the way were too short to be.
#pragma once

#include <cstddef>

#include "core/iteration_estimate.h"

namespace rubato::progress {

struct Held {
  double period_s = 0;
  double confidence = 0;     // of the last look that agreed
  double since_s = 0;        // first followed from here
  std::size_t followed = 0;  // iterations
  double covered_s = 0;      // their time
  double regular = 0;        // share of them that are as long as the others
};

/// At another clock perhaps; not a multiple, or a part, that once was taken for the iteration.
[[nodiscard]] bool same_iteration(double ratio);

/// Whether what is held stays, though `said` is another period or none.
[[nodiscard]] bool outweighs(const Held& held, const IterationEstimate& said, double now_s);

}  // namespace rubato::progress
