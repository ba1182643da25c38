// A pattern of launches that is followed, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "progress/kernels/cutter.h"
#include "progress/kernels/iteration_log.h"
#include "progress/kernels/launch_history.h"
#include "progress/kernels/period_search.h"
#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

/// What one launch brought.
struct FollowedStep {
  TimePoint at;
  std::optional<Cut> cut;
  std::int64_t ended = 0;  // iterations, seen whole or not
};

struct FollowedPattern {
  FollowedPattern(Lane of_lane, std::int32_t of_process, FoundPattern pattern)
      : lane(of_lane), pid(of_process), found(std::move(pattern)), cutter(found.pattern) {}

  Lane lane;
  std::int32_t pid;
  FoundPattern found;
  Cutter cutter;
  IterationLog log{};
  std::uint64_t since_whole = 0;  // launches of the process since the last whole iteration
  std::size_t launches = 0;       // in one iteration, all streams; kept, as every record asks

  bool trusted = false;
  std::vector<FollowedStep> held{};  // not told before the pattern is trusted

  /// One launch further along the pattern.
  FollowedStep follow(const LaunchHistory& launched, const TokenTable& tokens, const LaunchHistory::Entry& e);
  /// What runs now still fits the pattern.
  [[nodiscard]] bool recognised() const { return since_whole <= 4 * launches + 64; }
  /// `silent_cycles`: the latest cycles, without a whole iteration in any.
  [[nodiscard]] double confidence(unsigned silent_cycles) const;

 private:
  std::size_t others_ = 0;  // launches on other streams in the present iteration

  void count_launches();
};

}  // namespace rubato::progress::kernels
