// Runs of the simulated GPU in virtual time: what one iteration costs at one setting, warmed up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/sim/world.h"

namespace rubato::facts {

using device::sim::Profile;
using device::sim::Segment;
using device::sim::Workload;

struct Knobs {
  std::optional<Watts> limit;
  std::optional<Megahertz> sm;      // a lock at this clock alone
  std::optional<Megahertz> memory;  // where the board can lock it; ignored where it has one clock
};

/// True values of one iteration, and what the board's own sensor makes of the power.
struct Cost {
  double seconds = 0.0;
  double joules = 0.0;
  double watts = 0.0;
  double shown_watts = 0.0;
  double sm_mhz = 0.0;
  double celsius = 0.0;
};

/// A program that a simulated GPU repeats.
struct Program {
  std::string name;
  std::vector<Segment> segments;
};

[[nodiscard]] Program program(const std::string& workload);
[[nodiscard]] std::vector<Program> all_programs();
[[nodiscard]] const Profile& board(const std::string& name);
/// The clock of the table nearest to `mhz`.
[[nodiscard]] Megahertz nearest(const std::vector<Megahertz>& clocks, double mhz);

/// At the temperature the board ends at, once clocks and limiter have settled.
[[nodiscard]] Cost steady(const std::string& profile, const Program& program, const Knobs& knobs);

struct Repeats {
  double time_spread = 0.0;    // standard deviation over mean
  double energy_spread = 0.0;  // of the true energy
  double sensed_spread = 0.0;  // of the energy counter's, over the same iterations
};
/// Runs of `iterations` with the workload's own jitter, each with another seed.
[[nodiscard]] Repeats repeats(const std::string& profile, const Workload& workload, int runs, int iterations);

}  // namespace rubato::facts
