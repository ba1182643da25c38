// What may be set in this run, from what its GPUs accept and what this process has the right to: the space
// that strategies search.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpu.h"
#include "plan/knob_space.h"

namespace rubato::conduct {

struct SpaceWish {
  std::vector<Knob> knobs;                   // empty: what suits these GPUs; memory clocks only where named
  bool in_step = false;                      // GPUs of other nodes wait for these
  bool more_rights_than_us = false;          // the guard has rights this process lacks
  std::optional<ClockRange> found_sm_clock;  // as the user states it; else taken as not locked
};

struct RunSpace {
  plan::KnobSpace space;           // one for all GPUs: what each of them accepts
  std::vector<Knob> knobs;         // of its axes
  std::vector<std::string> notes;  // which knob is left out on which GPU, and why
};

/// Power limits go in steps of 1 W from the lowest to the one that was found: nobody asked for more. SM
/// clocks are those legal beside the highest memory clock. By default one GPU gets both, several GPUs, which
/// wait for each other, one SM clock, and power limits only where that cannot be set.
/// Errors: not_supported or no_permission where nothing is left to be set, with the notes as its what.
[[nodiscard]] Result<RunSpace> run_space(const std::vector<std::unique_ptr<device::Gpu>>& gpus,
                                         const SpaceWish& wish);

/// The same without clocks, which cannot be put back where a lock was in force; without axes where no other
/// knob is left.
[[nodiscard]] plan::KnobSpace without_clocks(plan::KnobSpace space);

/// "a power limit of 100 to 200 W and an SM clock of 135 to 1380 MHz (147 values)".
[[nodiscard]] std::string describe(const plan::KnobSpace& space);

}  // namespace rubato::conduct
