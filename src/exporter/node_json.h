// The node as it is now, for the dashboard: a pure function of what was seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exporter/page.h"
#include "exporter/process_list.h"
#include "record/run_state.h"

namespace rubato::exporter {

struct NodeState {
  std::string host;
  double unix_s = 0;              // the moment, seconds since 1970
  std::int64_t monotonic_ns = 0;  // the same, CLOCK_MONOTONIC
  TimePoint now;                  // the same, on the GPUs' clock
  double clock_rate = 1;          // of that clock
  const PageState* seen = nullptr;
  std::vector<record::RunState> runs;  // that go on
  std::vector<ProcessEntry> processes;
  std::string processes_unknown;  // why not all of them could be listed; empty: they could
  OwnCost own;
  Seconds up;               // since the exporter began
  std::size_t viewers = 0;  // that get every second's news
};

/// rubato.dashboard_node/1 (docs/formats.md), on one line.
[[nodiscard]] std::string node_json(const NodeState& node);

}  // namespace rubato::exporter
