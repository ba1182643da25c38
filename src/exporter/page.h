// The page as metric families, from what was last seen. A pure function: the same state and moment give the
// same page.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sample.h"
#include "exporter/gpu_watch.h"
#include "exporter/job_watch.h"
#include "exporter/setting_guard.h"
#include "report/metrics.h"
#include "wire/message.h"

namespace rubato::exporter {

struct PageState {
  std::string version;
  std::string backend;
  std::string driver_version;
  std::vector<GpuState> gpus;
  std::vector<SettingGuard> guards;  // one per GPU
  std::vector<JobState> jobs;
  std::size_t jobs_left_out = 0;
  std::size_t jobs_unreadable = 0;
  std::vector<wire::Timed> requests{};  // of rubatod, where there is one
  CallCost driver;
};

/// Read at the moment of the scrape.
struct OwnCost {
  Seconds cpu;
  std::optional<std::uint64_t> memory_bytes;
  double started_unix_s = 0;
};

/// In the order of the catalogue, those without samples too. `now`: on the GPUs' clock; what was read too
/// long before it is absent.
[[nodiscard]] std::vector<report::MetricFamily> page_of(const PageState& state, const OwnCost& own,
                                                        TimePoint now);

}  // namespace rubato::exporter
