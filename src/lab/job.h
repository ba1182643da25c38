// What the lab runs: a training whose true cost at every setting is known to the lab and to nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/kind.h"
#include "plan/knob_space.h"

namespace rubato::lab {

/// One unchanging program: what an iteration costs at every setting of the grid.
struct Truth {
  std::vector<double> time;                // over that at the found setting, per grid point
  std::vector<double> energy;              // the same
  Watts power;                             // at the found setting
  Seconds iteration;                       // at the found setting
  std::map<std::string, double> features;  // counters there, as sweep tables name them without "feature_"
};

struct Phase {
  std::size_t program = 0;      // in Job::programs
  std::int64_t iterations = 0;  // that it lasts
};

struct Job {
  std::string name;
  std::string group;
  plan::KnobSpace space;
  std::vector<predict::KnobPoint> grid;  // every setting there is
  std::size_t found = 0;                 // in grid
  std::vector<Truth> programs;
  std::vector<Phase> phases;  // in turn, over and over; empty: the first program all the time
  Kind kind = Kind::interpolated;
  /// Boards in step: an iteration ends when the slowest is done. Each draws the truth's power over this.
  std::vector<double> board_efficiency = {1.0};
};

}  // namespace rubato::lab
