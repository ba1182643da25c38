// Looks at a GPU as often as the driver lets it, from a process of its own, while a run changes settings.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "experiment/evidence_switches.h"

namespace rubato::cli {

class EvidenceWatch {
 public:
  /// `gpu_list` names one GPU. This process must not have opened a driver.
  [[nodiscard]] static Result<EvidenceWatch> start(const std::string& gpu_list);
  EvidenceWatch(EvidenceWatch&&) noexcept = default;
  EvidenceWatch& operator=(EvidenceWatch&&) = delete;
  ~EvidenceWatch();

  /// Ends it. What it saw, in order of time, on the GPU's clock.
  [[nodiscard]] std::vector<experiment::Glance> stop();

 private:
  EvidenceWatch(pid_t child, ScopedFd alive, ScopedFd seen)
      : child_(child), alive_(std::move(alive)), seen_(std::move(seen)) {}

  pid_t child_;
  ScopedFd alive_;  // closed: the child ends
  ScopedFd seen_;
};

}  // namespace rubato::cli
