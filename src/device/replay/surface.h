// Time and power of one workload over the knobs its table swept: the rows themselves, and a curve between
// them that invents no dip and no bump.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "base/monotone_curve.h"
#include "base/units.h"
#include "core/setting.h"

namespace rubato::device::replay {

inline constexpr std::size_t kMostAxes = 2;

struct Axis {
  Knob knob = Knob::power_limit;
  std::vector<double> values;  // of the rows: W or MHz, ascending
};

struct Point {
  Seconds time;
  Watts power;
  bool on_row = true;  // else interpolated
};

/// Values of the axes, in their order.
using Place = std::array<double, kMostAxes>;

/// One axis: a monotone cubic through the rows. Two: such a curve along the first axis at each row of the
/// second, then one along the second through their values; exact on rows, and between them never outside
/// what the four rows around say.
class Surface {
 public:
  /// `points`: one for each combination, the first axis running fastest. At most kMostAxes axes, none empty.
  Surface(std::vector<Axis> axes, std::span<const Point> points);

  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  /// Places beyond an end are taken for the end.
  [[nodiscard]] Point at(const Place& place) const;

 private:
  struct Line {
    MonotoneCurve time;
    MonotoneCurve power;
  };
  std::vector<Axis> axes_;
  std::vector<Line> lines_;  // one for each value of the second axis
};

}  // namespace rubato::device::replay
