// A world of replayed GPUs: each is one workload of a sweep table. Kept in private memory (one process,
// virtual time) or in a file that rubato, its guard and the trainer map.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/gpu_id.h"
#include "core/kind.h"
#include "core/sample.h"
#include "core/setting.h"
#include "device/replay/spec.h"

namespace rubato {
class SharedFile;
}

namespace rubato::device::replay {

class Board;

enum class Rights : std::uint32_t { owner, none };

struct ReplayOptions {
  Rights rights = Rights::owner;
  double rate = 1.0;  // simulated seconds per wall second; files only
  bool outlives_job = true;
  std::optional<Watts> found_power_limit;  // absent: the default row's
  /// A new setting counts from the next iteration on; else at once, for the rest of the running one.
  bool from_next_iteration = false;
};

struct Reading {
  TimePoint at;
  std::optional<Watts> power;  // absent while nothing runs: no table tells what is drawn then
  Joules energy;               // of the work done since the world began, exact
  Kind kind = Kind::replayed;  // of time and power at the setting in force
  std::optional<PowerLimits> limits;
  std::optional<Megahertz> sm_clock;
  std::optional<Megahertz> memory_clock;
  std::optional<ClockRange> sm_lock;
  std::optional<ClockRange> memory_lock;
  std::uint64_t writes = 0;  // settings changed since the world began
};

struct ContextId {
  std::uint64_t value = 0;
};

/// Thread-safe. Every call first moves the GPU's state to `now`; a `now` in its past changes nothing.
/// File worlds: timeout where a stopped process holds the world's lock.
class ReplayWorld {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ReplayWorld>> create_private(
      std::span<const ReplaySource> sources, const ReplayOptions& options = {}, TimePoint start = {});
  /// not_found where there is no such file; conflict where it is of another version.
  [[nodiscard]] static Result<std::unique_ptr<ReplayWorld>> open(const std::filesystem::path& path);
  /// Uses what is there (conflict where it replays something else), else makes it. A world of an earlier boot
  /// is remade.
  [[nodiscard]] static Result<std::unique_ptr<ReplayWorld>> open_or_create(
      const std::filesystem::path& path, std::span<const ReplaySource> sources, const ReplayOptions& options);
  ~ReplayWorld();
  ReplayWorld(const ReplayWorld&) = delete;
  ReplayWorld& operator=(const ReplayWorld&) = delete;

  // ---- what does not change ----
  [[nodiscard]] unsigned gpu_count() const;
  [[nodiscard]] const GpuIdentity& identity(unsigned gpu) const;
  [[nodiscard]] const Board& board(unsigned gpu) const;
  [[nodiscard]] bool outlives_job() const;
  [[nodiscard]] const std::filesystem::path& path() const;  // empty: private memory
  /// Scaled for a file; for private memory a clock that stands at the latest `now` any call gave.
  [[nodiscard]] std::shared_ptr<const Clock> clock() const;
  [[nodiscard]] std::optional<unsigned> find(std::string_view uuid) const;
  /// empty: this process may set; else why not, in one clause.
  [[nodiscard]] std::string why_may_not_set() const;

  // ---- the driver ----
  [[nodiscard]] Result<Reading> read(unsigned gpu, TimePoint now);
  /// Dead processes are dropped first (file worlds).
  [[nodiscard]] Result<std::vector<ComputeProcess>> read_processes(unsigned gpu, TimePoint now);
  [[nodiscard]] Status set_power_limit(unsigned gpu, Watts limit, TimePoint now);
  [[nodiscard]] Status lock_sm_clock(unsigned gpu, ClockRange range, TimePoint now);
  [[nodiscard]] Status reset_sm_clock(unsigned gpu, TimePoint now);
  [[nodiscard]] Status lock_memory_clock(unsigned gpu, ClockRange range, TimePoint now);
  [[nodiscard]] Status reset_memory_clock(unsigned gpu, TimePoint now);

  // ---- work ----
  /// busy where another process computes here: the table knows one workload alone on its GPU.
  [[nodiscard]] Result<ContextId> add_context(unsigned gpu, std::int64_t pid, TimePoint now);
  /// One more iteration, `scale` times as long as the table says. busy where the queue is full.
  [[nodiscard]] Status submit(unsigned gpu, ContextId context, double scale, TimePoint now);
  [[nodiscard]] Result<std::uint64_t> completed(unsigned gpu, ContextId context, TimePoint now);
  /// When iteration number `index` (from 0) completed or, if nothing changes, will. not_found: never
  /// submitted, or completed long ago.
  [[nodiscard]] Result<TimePoint> completion(unsigned gpu, ContextId context, std::uint64_t index,
                                             TimePoint now);
  [[nodiscard]] Status remove_context(unsigned gpu, ContextId context, TimePoint now);

 private:
  struct Impl;
  explicit ReplayWorld(std::unique_ptr<Impl> impl);
  static Result<std::unique_ptr<ReplayWorld>> adopt(std::unique_ptr<SharedFile> file);
  template <class Change>
  Status write(unsigned gpu, std::string_view what, TimePoint now, Change&& change);
  std::unique_ptr<Impl> impl_;
};

/// $RUBATO_REPLAY_WORLD, or nothing.
[[nodiscard]] std::optional<std::filesystem::path> world_path_from_environment();
/// <runtime folder>/replay, made where it is missing: worlds by default lie there, named by what they replay.
[[nodiscard]] Result<std::filesystem::path> default_world_folder();
/// $RUBATO_REPLAY_WORLD, made with `specs` where the file is missing; without the variable a file in the
/// default folder. `specs` may be empty where the variable names a world that is there. Rate, rights and the
/// limit found come from the scenario that RUBATO_SIM_SCENARIO names.
[[nodiscard]] Result<std::unique_ptr<ReplayWorld>> open_world_from_environment(
    std::span<const ReplaySpec> specs);
/// Removes the world's file. not_found where there is none.
[[nodiscard]] Status reset_world(const std::filesystem::path& path);

}  // namespace rubato::device::replay
