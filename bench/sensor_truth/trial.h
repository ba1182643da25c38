// One simulated run: a board, a load, a reader, two windows, and whether the truth lies inside their bands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sensor_truth/calibration.h"
#include "sensor_truth/kinds.h"
#include "sensor_truth/load.h"

namespace rubato::truth {

struct Judged {
  double length_s = 0;
  double half_width = 0;          // of the sampling band, over the energy
  double error = 0;               // against the truth as the board sees it, over the energy
  bool sampling = false;          // that truth lies inside the sampling band
  bool uncalibrated = false;      // the plain truth inside sampling and calibration band
  bool calibrated = false;        // the same after a calibration
  double uncalibrated_width = 0;  // half width of both bands together, over the energy
  double calibrated_width = 0;
};

struct Trial {
  std::string kind;
  std::string model;
  Shape shape = Shape::idle;
  Counter counter = Counter::none;
  bool step_known = false;
  bool facts_known = false;  // window or lag
  Judged window;             // 5 s to 5 min
  Judged brief;              // 0.3 to 5 s
};

/// The same seed and number give the same trial, whatever is run besides.
[[nodiscard]] Trial run_trial(const Table& table, std::uint64_t seed, std::uint64_t number);
[[nodiscard]] std::vector<Trial> run_trials(const Table& table, std::uint64_t seed, std::uint64_t count);

}  // namespace rubato::truth
