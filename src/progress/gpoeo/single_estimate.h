// One look at one trace: the period whose windows resemble each other most, among those the spectrum offers.
#pragma once

#include <span>

namespace rubato::progress::gpoeo {

struct SingleEstimate {
  enum class Kind {
    found,
    too_short,  // the trace holds less than two of the longest candidate, which `period` is
    no_peak,    // nothing to choose from; `period` is the upper bound, as published
  };
  Kind kind = Kind::no_peak;
  double period = 0;  // s
  double error = 0;   // where found, in percent (window_error)
};

/// `trace` is sampled every kInterval; `upper`: the longest period looked for, in seconds.
[[nodiscard]] SingleEstimate estimate_once(std::span<const double> trace, double upper);

}  // namespace rubato::progress::gpoeo
