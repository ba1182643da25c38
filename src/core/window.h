// Energy over a stretch of time, with what is known about its error.
#pragma once

#include "base/clock.h"
#include "base/units.h"
#include "core/kind.h"

namespace rubato {

struct EnergyWindow {
  TimePoint begin;
  TimePoint end;
  Joules energy;
  Joules band_sampling;     // half width: what may have happened between readings and at the edges
  Joules band_calibration;  // half width: the sensor's own gain, proportional
  Source source;

  [[nodiscard]] Seconds duration() const { return end - begin; }
  [[nodiscard]] Watts mean_power() const { return energy / duration(); }
};

}  // namespace rubato
