// How far a stretch of the run has come, counted in time, sensor updates and iterations.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "govern/strategy.h"

namespace rubato::govern {

struct StretchNeeds {
  Seconds time;
  double sensor_updates = 0;
  std::int64_t iterations = 0;
};

class Stretch {
 public:
  void begin(const Observation& o) {
    begin_ = o.now;
    first_iteration_ = o.iterations;
  }
  [[nodiscard]] Seconds length(const Observation& o) const { return o.now - begin_; }
  [[nodiscard]] std::int64_t iterations(const Observation& o) const {
    return o.iterations - first_iteration_;
  }

  /// Iterations are not waited for where none came for `patience`: the job marks none, or is busy elsewhere.
  [[nodiscard]] bool enough(const Observation& o, const StretchNeeds& needs, Seconds patience) const {
    if (length(o) < time_needed(o, needs)) return false;
    if (iterations(o) >= needs.iterations) return true;
    return iterations(o) == 0 && length(o) >= patience;
  }
  /// When its time will be up; absent once it is, and only iterations are waited for.
  [[nodiscard]] std::optional<TimePoint> earliest_end(const Observation& o, const StretchNeeds& needs) const {
    const TimePoint end = begin_ + time_needed(o, needs);
    if (end <= o.now) return std::nullopt;
    return end;
  }

 private:
  [[nodiscard]] static Seconds time_needed(const Observation& o, const StretchNeeds& needs) {
    const Seconds updates = o.sensor_period * needs.sensor_updates;
    return updates > needs.time ? updates : needs.time;
  }

  TimePoint begin_;
  std::int64_t first_iteration_ = 0;
};

}  // namespace rubato::govern
