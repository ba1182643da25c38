// Reads GPUs, this user's runs and the processes on the GPUs, each as often as it is worth.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/top/state.h"
#include "device/gpu.h"
#include "wire/message.h"

namespace rubato::cli::top {

struct Sources {
  std::vector<std::unique_ptr<device::Gpu>> gpus;
  std::string backend;
  double clock_rate = 1;
  std::filesystem::path runtime_folder;  // empty: no runs can be seen
  Seconds interval{1};
  /// What rubatod says, where one answers; not asked where this is empty.
  std::function<std::optional<wire::StatusReply>()> daemon{};
};

/// Not thread-safe: one owner thread, which waits where a driver hangs.
class Gatherer {
 public:
  explicit Gatherer(Sources sources);
  /// Power every time; clocks, limits and utilisation once a second at most, a GPU at a time; processes every
  /// two seconds. Times are on the wall.
  [[nodiscard]] State read(TimePoint now);

 private:
  struct Lane {
    GpuState state;
    TimePoint slow_due;
  };

  void read_gpu(std::size_t index, TimePoint now);
  void read_processes();
  void ask_daemon();
  [[nodiscard]] OwnUse own_use(TimePoint now) const;

  Sources sources_;
  std::vector<Lane> lanes_;
  std::vector<RunNow> runs_;
  std::vector<ProcessState> processes_;
  std::string processes_unknown_;
  std::string host_;
  bool begun_ = false;
  TimePoint begin_;
  TimePoint runs_due_;
  TimePoint processes_due_;
  TimePoint daemon_due_;
};

}  // namespace rubato::cli::top
