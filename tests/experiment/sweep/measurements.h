// Measurements as tests want them: round numbers, no noise unless asked for.
#pragma once

#include <optional>

#include "experiment/sweep_measurement.h"

namespace rubato::experiment {

inline predict::KnobPoint limit(double watts) {
  return {.power_limit = Watts(watts)};
}

inline SweepMeasurement measured(const predict::KnobPoint& at, double seconds, double joules,
                                 unsigned repeat = 0) {
  SweepMeasurement m;
  m.at = at;
  m.repeat = repeat;
  m.run_id = "20261121-081500-123-1a2b";
  m.time = Seconds(seconds);
  m.energy = Joules(joules);
  return m;
}

inline SweepMeasurement control(double seconds, double joules, unsigned repeat = 0) {
  return measured({}, seconds, joules, repeat);
}

inline SweepMeasurement in_session(unsigned session, SweepMeasurement m) {
  m.session = session;
  return m;
}

}  // namespace rubato::experiment
