// Whether the job is at work. One that waits for its data or its host keeps the GPU busy in bursts, or hardly
// at all, and a single reading of utilisation falls between them: what goes on is told by iterations too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace rubato::conduct {

class LoadWatch {
 public:
  /// `busy`: the latest reading shows the GPU at work for the job. `last_iteration`: the end of the latest of
  /// `iterations`.
  void see(TimePoint now, bool busy, std::int64_t iterations, std::optional<TimePoint> last_iteration) {
    if (busy) sign(now);
    if (!last_iteration || iterations <= iterations_) return;
    if (ended_ && *last_iteration > *ended_)
      usual_ = (*last_iteration - *ended_) / static_cast<double>(iterations - iterations_);
    iterations_ = iterations;
    ended_ = last_iteration;
    sign(*last_iteration);
  }

  /// A sign of work came lately: no longer ago than some iterations take, or than a moment.
  [[nodiscard]] bool at_work(TimePoint now) const {
    return sign_ && now - *sign_ <= std::max(kMoment, usual_ * kIterations);
  }

 private:
  static constexpr Seconds kMoment{3};
  static constexpr double kIterations = 3;

  void sign(TimePoint at) { sign_ = sign_ ? std::max(*sign_, at) : at; }

  std::optional<TimePoint> sign_;
  std::optional<TimePoint> ended_;
  std::int64_t iterations_ = 0;
  Seconds usual_{};  // length of the latest iteration
};

}  // namespace rubato::conduct
