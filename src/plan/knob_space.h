// What may be set on the GPUs of a run, in the hardware's own steps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "predict/curve.h"

namespace rubato::plan {

struct KnobAxis {
  Knob knob = Knob::power_limit;
  std::vector<double> values;  // W or MHz, ascending, at least two
};

struct KnobSpace {
  std::string gpu;             // name of the board
  std::vector<KnobAxis> axes;  // power limit, SM clock, memory clock: those that may be set
  predict::KnobPoint found;    // where each axis stands before anything is set; on a value of its axis or not
  predict::KnobPoint highest;  // of each axis
};

/// One value per axis, by position.
using Position = std::vector<std::size_t>;

[[nodiscard]] predict::KnobPoint point_at(const KnobSpace& space, const Position& position);
/// The nearest value of each axis; an axis the point leaves alone is at its highest.
[[nodiscard]] Position position_of(const KnobSpace& space, const predict::KnobPoint& point);

/// Evenly thinned, axis by axis, so that their product is at most `most`; the ends, and the value next to the
/// found setting, stay. Ascending.
[[nodiscard]] std::vector<predict::KnobPoint> candidates(const KnobSpace& space, std::size_t most);

}  // namespace rubato::plan
