// Which kernels were never seen before: tuning tries kernels that come a few times and never again.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>

#include "base/clock.h"
#include "core/kernel_record.h"

namespace rubato::progress::tuning {

class Novelty {
 public:
  static constexpr std::size_t kMostNames = 1U << 16;  // beyond, nothing counts as new

  void add(const KernelRecord& record);

  [[nodiscard]] bool any() const { return kernels_ > 0; }
  [[nodiscard]] std::uint64_t kernels() const { return kernels_; }
  [[nodiscard]] std::optional<TimePoint> last_kernel() const { return last_kernel_; }
  /// When a kernel came for the first time, the latest such time.
  [[nodiscard]] std::optional<TimePoint> last_new() const;
  /// Names that came for the first time in [from, to), of the latest few.
  [[nodiscard]] std::size_t new_between(TimePoint from, TimePoint to) const;

 private:
  std::unordered_set<std::uint64_t> names_;
  std::deque<TimePoint> firsts_;  // ascending, the latest few
  std::uint64_t kernels_ = 0;
  std::optional<TimePoint> last_kernel_;
};

}  // namespace rubato::progress::tuning
