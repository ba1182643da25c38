// The audit log: one line of JSON for every decision, appended, nothing ever changed in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "core/gpu_id.h"
#include "core/setting.h"
#include "daemon/caller.h"

namespace rubato::daemon {

struct AuditEntry {
  std::string_view event;     // "lease", "set", "restore", "end", "job", "start", "stop"
  std::string_view decision;  // "granted", "refused", "would_grant", "would_set", "done", "failed"
  std::optional<Caller> caller{};
  std::string client{};  // as it calls itself: not to be believed
  std::vector<GpuId> gpus{};
  std::vector<Knob> knobs{};
  std::optional<ClockRange> found_sm_clock{};  // as it was stated
  Setting setting{};
  std::string rule{};
  std::string why{};
};

/// Without line end. `at`: "2026-11-22T12:00:00.123Z".
[[nodiscard]] std::string print_entry(const AuditEntry& entry, std::string_view at);

/// The wall's clock, for the log alone.
[[nodiscard]] std::string utc_now();

class AuditFile {
 public:
  /// An empty path: standard error. Errors: what stands there is no regular file of this user's.
  [[nodiscard]] static Result<AuditFile> open(const std::filesystem::path& path);

  /// A line that cannot be written (a full disk) is counted, and said once on standard error.
  void write(const AuditEntry& entry);
  [[nodiscard]] std::size_t lost() const { return lost_; }

 private:
  AuditFile(ScopedFd fd, bool regular) : fd_(std::move(fd)), regular_(regular) {}
  ScopedFd fd_;
  bool regular_;  // a file: anything else may have a reader who stands still
  std::size_t lost_ = 0;
};

}  // namespace rubato::daemon
