// MF-GPOEO (IEEE T-SUSC, 2023) as its public code steers: no model, a PID on the gear that takes the loss to
// just below the bound, the baseline measured again every few steps, and an end as soon as gears agree.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "govern/reference/gear_pid.h"
#include "govern/reference/gears.h"
#include "govern/reference/score.h"
#include "govern/reference/search.h"

namespace rubato::govern {

struct MfGpoeoOptions {
  GearPidOptions pid;          // limit and bound are set from the aim
  double below_bound = 0.003;  // the limit of programs with more than 2,000 kernels a second
  double start = 0.95;         // of the gears; the source starts between 0.90 and 0.95
  double unstable = 0.1;       // distance of the power from the held one
  TrialLength baseline{.settle = 6_s, .time = 4_s};  // 2 s after the reset, a window to warm up, a window
  TrialLength control{.settle = 1_s, .time = 4_s};
};

/// Its performance index needs kernel and gap times from CUPTI; here it is the iteration time over the
/// baseline's.
class MfGpoeo final : public Search {
 public:
  MfGpoeo(MfGpoeoOptions options, Gears gears, const Aim& aim);

  [[nodiscard]] std::string_view name() const override { return "mf-gpoeo"; }
  [[nodiscard]] TrialLength baseline() const override { return options_.baseline; }
  [[nodiscard]] SearchStep next(std::span<const TrialResult> seen) override;
  [[nodiscard]] bool again(const Cost& held) override;
  [[nodiscard]] TrialLength watch() const override;

  /// Never above what the job reaches by itself: its mean clock, which is the found gear here; of power
  /// limits, 85 % of the way to what it draws, as the same authors start DEPO.
  [[nodiscard]] std::size_t start_gear(Watts drawn) const;

 private:
  MfGpoeoOptions options_;
  Gears gears_;
  Aim aim_;
  /// Its steps are shares of the gear's number, and its list begins near zero clock: one of power limits is
  /// counted as if it began at zero watts.
  std::size_t below_ = 0;

  std::vector<double> held_;  // power of the first windows while holding
  std::deque<bool> far_;      // of the last windows
  int quiet_ = 0;
};

struct ControlStep {
  std::size_t gear = 0;
  Score score;
};

/// The gear to end with after these steps, where the next would be `wanted`; nothing: go on. The list counts
/// `below` gears more below its first.
[[nodiscard]] std::optional<std::size_t> settled_gear(std::span<const ControlStep> steps, std::size_t wanted,
                                                      std::size_t below, std::size_t gears, double limit);

}  // namespace rubato::govern
