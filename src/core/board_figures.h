// How one model of board turns clocks into speed and power, from its data sheet and stated assumptions
// (gpus/): what a prediction from first principles starts from. Not measured on the board at hand.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "core/gpu_figures.h"

namespace rubato {

struct BoardFigures {
  std::string profile;  // "rtxa4000"
  GpuFigures peaks;
  struct MemoryClock {
    Megahertz clock;
    std::vector<Megahertz> sm_clocks;  // legal with it, ascending
  };
  std::vector<MemoryClock> clocks;  // ascending; those compute can run at
  bool has_memory_lock = false;
  bool has_sm_lock = false;
  Megahertz sm_default;      // where it runs compute unless told otherwise, warm
  Megahertz memory_default;  // likewise

  Megahertz sm_reference;  // where the powers below hold
  Megahertz memory_reference;
  Watts idle;               // without work and at idle clocks
  Watts clock_tree;         // clocks up, no work
  Watts compute;            // compute pipes fully active
  Watts memory_background;  // at memory_reference, over idle
  Watts memory_traffic;     // memory fully active
  Watts transport;          // on the chip for that traffic
  Watts leakage;            // at the temperature of sustained work and the highest voltage
  Watts limit;              // the default power limit: above it the board walks its clock down
  struct Voltage {
    Megahertz clock;
    double volts = 0;
  };
  std::vector<Voltage> voltage;  // ascending; constant outside

  struct Latency {
    Seconds typical;  // from a request to the new clock
    double spread = 0;
    Seconds outlier;
    double outlier_share = 0;
  } clock_latency;
};

}  // namespace rubato
