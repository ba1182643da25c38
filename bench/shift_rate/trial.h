// Runs of both rules over many jobs: false alarms where nothing changes, delays where something does.
#pragma once

#include <cstdint>
#include <vector>

#include "shift_rate/noise.h"

namespace rubato::shift_rate {

struct Quiet {
  double hours = 0;
  std::uint64_t readings = 0;
  std::uint64_t alarms = 0;
  std::uint64_t gpoeo_alarms = 0;
  double cpu_us_per_reading = 0;
};

/// Hours of one family, each begun afresh, so that learning is judged with the rest.
[[nodiscard]] Quiet run_quiet(const Family& family, std::uint64_t seed, unsigned hours);

struct Delays {
  unsigned runs = 0;
  unsigned spoiled = 0;  // an alarm before the change
  unsigned told = 0;     // within three minutes
  std::vector<double> readings;
  std::vector<double> seconds;
  std::vector<double> at_readings;  // error of the stated begin, in readings
  unsigned wrong_signal = 0;
  unsigned gpoeo_told = 0;
  unsigned gpoeo_spoiled = 0;
};

/// One change of `size`, up or down, a few minutes after the begin.
[[nodiscard]] Delays run_changes(const Family& family, Changed what, double size, std::uint64_t seed,
                                 unsigned runs);

}  // namespace rubato::shift_rate
