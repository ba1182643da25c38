// A whole training under `rubato run`'s governor on a simulated board, beside the same training alone: what
// it saved and what it cost, by the world's own truth, search included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/units.h"

namespace rubato::conduct {

struct WholeRunWish {
  std::string board;     // a profile of the simulated GPU
  std::string workload;  // of the simulated trainer
  int iterations = 2000;
  bool marks = true;  // false: nothing but the board's telemetry tells of iterations
  std::uint64_t seed = 1;
  bool no_lock = false;  // the user stated that no clock was locked
  double max_slowdown = 0.05;
};

struct WholeRun {
  Seconds alone;      // of the training without rubato
  double saved = 0;   // of its energy, a fraction
  double slower = 0;  // of its time
  double held = 0;    // share of the time at a setting that was held
  std::size_t tried = 0;
  bool searched = false;    // something was set at all
  bool clocks_off = false;  // they might have been locked before, and nobody said that they were not
};

/// In virtual time. Throws std::runtime_error where the world cannot be had.
[[nodiscard]] WholeRun whole_run(const WholeRunWish& wish);

}  // namespace rubato::conduct
