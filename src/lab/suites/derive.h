// From a network's shape to what a board does in one step of training: how long each kind of kernel computes,
// moves bytes and waits. The formulas and where their constants come from are in docs/suites.md.
#pragma once

#include <vector>

#include "device/sim/profile.h"
#include "device/sim/work.h"
#include "lab/suites/network.h"

namespace rubato::lab {

/// What a board can do at its reference clocks.
struct Peaks {
  double tensor_amp = 0;   // FLOP/s, 16 bits in, sums in 32
  double tensor_tf32 = 0;  // the same, TF32; 0: it has none
  double vector = 0;       // single precision on the vector units
  double bandwidth = 0;    // bytes/s
};
[[nodiscard]] Peaks peaks_of(const device::sim::Profile& board);

/// How many host seconds a loader needs for its samples, relative to the table's desktop.
inline constexpr double kDesktopLoader = 1.0;
inline constexpr double kServerLoader = 0.25;

struct Derived {
  std::vector<device::sim::Segment> segments;  // one step
  double step_s = 0;                           // at the reference clocks
  double busy_s = 0;                           // of that, kernels and the gaps between them
  double flops = 0;
  double peak = 0;  // FLOP/s of the pipe they run on
  bool on_tensor_cores = false;
  double memory_bytes = 0;  // that it keeps on the board, roughly
};
enum class Pass {
  training,
  evaluation,  // forward alone
};
[[nodiscard]] Derived derive(const Training& training, const device::sim::Profile& board, double loader,
                             Pass pass = Pass::training);

/// Gradients of several steps make one iteration where a step is shorter than this, so that an iteration is
/// worth a decision.
inline constexpr double kLeastIteration = 0.3;
[[nodiscard]] unsigned steps_per_iteration(const Derived& derived);

}  // namespace rubato::lab
