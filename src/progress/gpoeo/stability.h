// Whether estimates over a trace and its later parts agree: a stable period, none, or more trace needed.
#pragma once

#include <span>

namespace rubato::progress::gpoeo {

enum class Mode { strict, normal, relaxed };

struct Judgement {
  enum class Kind { stable, unstable, more };
  Kind kind = Kind::more;
  double period = 0;  // s; where not stable, what it was last taken for
  double more = 0;    // s of trace still needed, where more is
  double spread = 0;  // of the estimates, a fraction of their mean
  bool flat = false;  // unstable because nothing in the trace repeats
};

/// `upper`: the longest period looked for. Deviation: a spectrum without any peak is unstable; as described
/// such a trace is taken to have the upper bound as its period, and the published program ends with an error
/// there.
[[nodiscard]] Judgement judge(std::span<const double> trace, double upper, Mode mode);

}  // namespace rubato::progress::gpoeo
