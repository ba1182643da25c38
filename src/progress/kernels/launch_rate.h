// Kernels a second, cycle by cycle: what stands in for progress where there are no iterations.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "core/iteration_estimate.h"
#include "progress/stats.h"

namespace rubato::progress::kernels {

class LaunchRate {
 public:
  void add(TimePoint begin);
  void cycle_ended();
  /// Over the running cycle where it is long enough, else over the one before.
  [[nodiscard]] std::optional<ProgressRate> rate() const;

 private:
  struct Stretch {
    TimePoint begin;
    TimePoint end;
    std::uint64_t launches = 0;
    Moments slices;  // launches in each whole slice
    std::int64_t slice = 0;
    std::uint64_t in_slice = 0;
  };
  [[nodiscard]] static std::optional<ProgressRate> over(const Stretch& stretch);

  std::optional<Stretch> running_;
  std::optional<Stretch> ended_;
};

}  // namespace rubato::progress::kernels
