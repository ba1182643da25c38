// How badly the windows of a trace resemble each other when it is cut at a period.
#pragma once

#include <optional>
#include <span>

namespace rubato::progress::gpoeo {

/// Mean difference of neighbouring windows' groups in percent of the windows' mean. Where `reference` (the
/// longest candidate) is much longer than `period`, the worst pair of each stretch of that length counts, so
/// that a short period does not win on the plateau of a long one. Absent: the trace does not hold two
/// windows, or its mean is zero.
[[nodiscard]] std::optional<double> window_error(std::span<const double> trace, double period,
                                                 double reference);

}  // namespace rubato::progress::gpoeo
