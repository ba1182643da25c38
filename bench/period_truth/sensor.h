// The power sensor, the counters of utilisation and clock, and a reader that is not always in time.
#pragma once

#include <vector>

#include "base/random.h"
#include "period_truth/board.h"
#include "progress/telemetry.h"

namespace rubato::period_truth {

struct Sensor {
  SensorKind kind = SensorKind::instant;
  double update_s = 0;   // true, not nominal
  double nominal_s = 0;  // as published
  double window_s = 0;   // mean over this long before an update
  double lag_s = 0;      // first order, where there is no window
  double noise_w = 0;    // standard deviation of an update
  double grain_w = 0;    // 0: as fine as it comes
};
[[nodiscard]] Sensor draw_sensor(SensorKind kind, Random& random);

/// One update: when, and what it would show without noise and rounding.
struct Tick {
  double at_s = 0;
  double clean_w = 0;
};
[[nodiscard]] std::vector<Tick> draw_ticks(const Sensor& sensor, const Waveform& wave, Random& random);

struct Reader {
  double interval_s = 0.05;
  double late_s = 0.001;     // mean
  double very_late = 0.002;  // chance of 0.2 to 2 s
  double dropped = 0.005;    // chance
  int slow_columns = 1;      // utilisation and clocks are read each so many times
  bool has_utilisation = true;
  bool has_memory = true;
  bool has_clock = true;
};
[[nodiscard]] Reader draw_reader(double length_s, Random& random);

[[nodiscard]] std::vector<progress::TelemetryPoint> read_all(const Sensor& sensor,
                                                             const std::vector<Tick>& ticks,
                                                             const Reader& reader, const Board& board,
                                                             const Waveform& wave, Random& random);

}  // namespace rubato::period_truth
