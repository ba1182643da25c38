// One iteration under a plan, event by event: the truth that strategies are judged by.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "plan/layers/segments.h"

namespace rubato::plan {

struct Request {
  std::size_t segment = 0;
  std::size_t setting = 0;
  Seconds after;  // the iteration's begin
  Joules spent;   // since then
};

struct Iteration {
  SegmentCost cost;
  std::vector<Request> requests;  // of the last iteration looked at
  double changes = 0;             // requests per iteration
  bool repeats = true;            // every iteration is like the one before
};

/// In steady state: iterations follow each other until one begins as an earlier one did, and the mean is
/// taken from there on, or over 64. Infinite energy where a segment would run at a setting it cannot run at.
[[nodiscard]] Iteration run_iteration(const SegmentTable& table, const Switching& switching,
                                      std::span<const std::size_t> setting);

/// invalid_argument: nothing to plan, or tables whose sizes do not fit each other.
[[nodiscard]] Status check_table(const SegmentTable& table, const Switching& switching);

/// Every segment at this setting.
[[nodiscard]] SegmentCost uniform_cost(const SegmentTable& table, std::size_t setting);
[[nodiscard]] Seconds time_budget(const SegmentTable& table, double max_slowdown);
/// Board and what goes on drawing beside it; infinite where the board's are.
[[nodiscard]] double joules_with(const SegmentCost& cost, Watts host);

}  // namespace rubato::plan
