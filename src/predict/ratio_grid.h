// Time and energy over the default's where they were measured, and what is taken to lie between.
#pragma once

#include <map>
#include <vector>

namespace rubato::predict {

/// Of each knob, its value over the default's.
using KnobRatios = std::vector<double>;
/// The same in thousandths, rounded: nearer settings are one.
using KnobThousandths = std::vector<long>;

struct Ratios {
  double time = 1;
  double energy = 1;
};

[[nodiscard]] KnobThousandths thousandths_of(const KnobRatios& at);

/// Settings of one or several knobs. Between them linear in each knob, beyond them flat. A corner of the grid
/// that nobody measured is taken to be like the setting nearest to it that somebody did.
class RatioGrid {
 public:
  using Points = std::map<KnobThousandths, Ratios>;

  /// `points`: one at least, all of equally many knobs.
  explicit RatioGrid(Points points);

  [[nodiscard]] const Points& points() const { return points_; }
  [[nodiscard]] Ratios at(const KnobRatios& where) const;

 private:
  [[nodiscard]] const Ratios& nearest(const KnobThousandths& corner) const;

  Points points_;
  std::vector<std::vector<long>> values_;  // of each knob, ascending
};

}  // namespace rubato::predict
