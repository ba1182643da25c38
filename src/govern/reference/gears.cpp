#include "govern/reference/gears.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace rubato::govern {
namespace {

plan::KnobSpace only(const plan::KnobSpace& space, std::size_t axis) {
  return {space.gpu, {space.axes[axis]}, space.found, space.highest};
}

}  // namespace

Gears::Gears(const plan::KnobSpace& space, std::size_t axis)
    : space_(only(space, axis)), found_(plan::position_of(space_, space_.found)[0]) {}

std::size_t Gears::nearest(double value) const {
  const auto& values = space_.axes[0].values;
  const auto less = [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); };
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end(), less) - values.begin());
}

std::size_t Gears::lowest_from(double value) const {
  const auto& values = space_.axes[0].values;
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  return std::min(static_cast<std::size_t>(at - values.begin()), top());
}

predict::KnobPoint Gears::point(std::size_t gear) const {
  return plan::point_at(space_, {gear});
}

std::size_t Gears::of(const predict::KnobPoint& point) const {
  return plan::position_of(space_, point)[0];
}

std::string Gears::text(std::size_t gear) const {
  return cat(number(value(gear), 1), knob() == Knob::power_limit ? " W" : " MHz");
}

SearchStep Gears::measure(std::size_t gear, const TrialLength& length, std::string why) const {
  return {SearchStep::Kind::measure, point(gear), gear == found_, length, std::move(why)};
}

SearchStep Gears::hold(std::size_t gear, std::string why) const {
  return {SearchStep::Kind::hold, point(gear), gear == found_, {}, std::move(why)};
}

std::optional<std::size_t> axis_of(const plan::KnobSpace& space, Knob knob) {
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    if (space.axes[a].knob == knob) return a;
  return std::nullopt;
}

std::size_t axis_for(const plan::KnobSpace& space, std::span<const Knob> preferred) {
  for (const Knob knob : preferred)
    if (const auto axis = axis_of(space, knob)) return *axis;
  return 0;
}

std::size_t lowest_gear_searched(const Gears& gears) {
  constexpr double kLowestClock = 450;  // MHz (PyEPOpt, ODPP)
  return gears.knob() == Knob::sm_clock ? gears.lowest_from(kLowestClock) : 0;
}

}  // namespace rubato::govern
