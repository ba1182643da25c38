// What `rubato latency` says.
#pragma once

#include <string>
#include <vector>

#include "cli/latency_conductor.h"

namespace rubato::cli {

struct LatencyDryRun {
  std::string uuid;
  std::string gpu;
  experiment::StudyPlan plan;
  std::string load;
};
[[nodiscard]] std::string latency_dry_run_text(const LatencyDryRun& dry);
[[nodiscard]] std::string latency_dry_run_json(const LatencyDryRun& dry);

[[nodiscard]] std::string latency_text(const experiment::LatencyTable& table);

}  // namespace rubato::cli
