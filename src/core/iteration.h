// One training iteration as a progress source saw it.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"

namespace rubato {

/// Best first: what the program says, what the GPU ran, what the board drew.
enum class ProgressSource { marks, kernels, telemetry };

struct Iteration {
  std::int64_t index = 0;
  TimePoint begin;
  TimePoint end;
  ProgressSource source = ProgressSource::marks;
  [[nodiscard]] Seconds duration() const { return end - begin; }
};

/// A mark as read from a ring (include/rubato/mark_layout.h), bounds checked, on the run's clock.
struct Mark {
  TimePoint at;
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t id = 0;
  std::array<std::uint64_t, 4> detail{};  // what it holds depends on the kind
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t rank = -1;
};

}  // namespace rubato
