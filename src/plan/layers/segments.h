// What a plan over layers chooses from: segments of one iteration in device time, each with its cost at each
// pair of clocks, and what it costs to change from one pair to another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/layer_demand.h"
#include "predict/roofline/roofline.h"

namespace rubato::plan {

struct SegmentCost {
  Seconds time;
  Joules energy;
};

struct Segment {
  std::string name;  // of its layer, or "conv1 … layer2.1.relu"
  LayerPass pass = LayerPass::forward;
  double intensity = 0;  // operations for each byte
  /// Operations for each byte at which its pipe's roof meets the memory's, at the default setting; 0:
  /// unknown.
  double ridge = 0;
};

/// Row by row: costs[segment * settings.size() + setting]. A setting a segment cannot run at has an infinite
/// energy.
struct SegmentTable {
  std::vector<Segment> segments;
  std::vector<predict::Clocks> settings;
  std::vector<SegmentCost> costs;
  std::size_t at_default = 0;  // in settings

  [[nodiscard]] const SegmentCost& cost(std::size_t segment, std::size_t setting) const {
    return costs[segment * settings.size() + setting];
  }
};

/// What is sent while a plan runs: each request is two synced lines in the guard's journal and a driver call;
/// with 20 to 50 ms a change, the published range for boards, a GPU asked more often would be between clocks
/// for much of its time.
inline constexpr double kMostRequestsPerSecond = 10;

/// A change is asked for at a segment's begin. For `delay` the GPU goes on at the old clocks (the wrong-clock
/// tail), over as many segments as that takes; then for `stall` it does not work at all and draws `stalled`.
/// A request sooner than `dwell` after the last, or before the last has taken effect, is not made: the next
/// segment asks again.
struct Switching {
  std::vector<Seconds> delay;  // from * settings + to; empty: none
  std::vector<Seconds> stall;  // likewise
  Watts stalled;
  Seconds dwell;
  double most_per_second = 0;  // requests, over many iterations; 0: no limit

  [[nodiscard]] Seconds delay_of(std::size_t from, std::size_t to, std::size_t settings) const {
    return delay.empty() || from == to ? Seconds(0) : delay[from * settings + to];
  }
  [[nodiscard]] Seconds stall_of(std::size_t from, std::size_t to, std::size_t settings) const {
    return stall.empty() || from == to ? Seconds(0) : stall[from * settings + to];
  }
};

/// One iteration is followed by the next: the last segment's setting is in force when the first begins.
struct SegmentPlan {
  std::string strategy;
  std::vector<std::size_t> setting;  // of each segment
  Seconds time;                      // of one iteration in steady state, changes counted
  Joules energy;
  double changes = 0;  // requests in one iteration; a fraction only where iterations differ
  Seconds dwell;       // that it was made for: that of the switching, or longer, where requests are limited
  std::string why;     // one sentence
  /// Stretches that would run at other clocks if switching were free, and are too short for it.
  struct Refused {
    std::size_t stretches = 0;
    Seconds longest;  // the one that comes nearest to paying
    Seconds needed;   // how long it would have to be
  } refused;
};

}  // namespace rubato::plan
