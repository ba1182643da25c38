// One knob in the hardware's own steps, the lowest first: what the published searches call gears.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "govern/reference/search.h"
#include "plan/knob_space.h"

namespace rubato::govern {

class Gears {
 public:
  /// The axis `axis` of `space`; the other knobs stay as found.
  Gears(const plan::KnobSpace& space, std::size_t axis);

  [[nodiscard]] Knob knob() const { return space_.axes[0].knob; }
  [[nodiscard]] std::size_t count() const { return space_.axes[0].values.size(); }
  [[nodiscard]] std::size_t top() const { return count() - 1; }
  [[nodiscard]] std::size_t found() const { return found_; }  // the gear nearest to the found setting
  [[nodiscard]] double value(std::size_t gear) const { return space_.axes[0].values[gear]; }
  [[nodiscard]] std::size_t nearest(double value) const;
  [[nodiscard]] std::size_t lowest_from(double value) const;  // at or above it; the top where none is

  [[nodiscard]] predict::KnobPoint point(std::size_t gear) const;
  [[nodiscard]] std::size_t of(const predict::KnobPoint& point) const;
  [[nodiscard]] std::string text(std::size_t gear) const;  // "150 W"

  [[nodiscard]] SearchStep measure(std::size_t gear, const TrialLength& length, std::string why) const;
  [[nodiscard]] SearchStep hold(std::size_t gear, std::string why) const;

 private:
  plan::KnobSpace space_;  // of this axis alone
  std::size_t found_;
};

/// The first of `preferred` that the space has, else its first axis; the space has one.
[[nodiscard]] std::size_t axis_for(const plan::KnobSpace& space, std::span<const Knob> preferred);
[[nodiscard]] std::optional<std::size_t> axis_of(const plan::KnobSpace& space, Knob knob);

/// The lowest SM clock that GPOEO's and ODPP's searches go to; other knobs are theirs from end to end.
[[nodiscard]] std::size_t lowest_gear_searched(const Gears& gears);

}  // namespace rubato::govern
