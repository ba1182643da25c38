// Readings of a made board: its sensor and its counter are refreshed each tenth of a second.
#pragma once

#include <optional>

#include "measure/energy_meter.h"

namespace rubato::measure::made {

inline TimePoint at_s(double seconds) {
  return TimePoint{} + Seconds(seconds);
}

inline SensorFacts usual_facts() {
  return {
      .update_period = 0.1_s, .averaging_window = std::nullopt, .counter_period = 0.1_s, .source = "test"};
}

inline EnergyMeter usual_meter() {
  return {usual_facts(), Kind::measured, "GPU 0"};
}

inline FastReading reading(double seconds, std::optional<Watts> power, std::optional<Joules> counter) {
  return {at_s(seconds), power, counter};
}

}  // namespace rubato::measure::made
