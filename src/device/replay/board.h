// One replayed GPU as its table describes it: what it is called, which knobs it has and in which steps they
// move, and what an iteration takes and draws at a setting. Never changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "device/replay/spec.h"
#include "device/replay/surface.h"

namespace rubato::device::replay {

/// What is in force. Plain data that is shared between processes. What the table does not sweep stays as it
/// is here: limit 0 where there is no limit to be told, no locks.
struct Knobs {
  double limit_w;
  double sm_low_mhz, sm_high_mhz;
  double memory_low_mhz, memory_high_mhz;
  std::uint32_t has_sm_lock;
  std::uint32_t has_memory_lock;
};

class Board {
 public:
  /// Errors name the workload: a grid with holes, more than two knobs swept, a default whose place on the
  /// curve the table does not tell.
  [[nodiscard]] static Result<Board> make(const ReplaySource& source);

  [[nodiscard]] const std::string& gpu() const { return gpu_; }
  [[nodiscard]] const std::string& workload() const { return workload_; }
  [[nodiscard]] const std::string& title() const { return title_; }  // "V100 replaying resnet50"
  [[nodiscard]] bool default_assumed() const { return default_assumed_; }
  /// empty: the table sweeps it; else why it cannot be set.
  [[nodiscard]] std::string why_not(Knob knob) const;

  /// Only where the limit is swept.
  [[nodiscard]] PowerLimits limits(const Knobs& now) const;
  /// Ascending; empty: the table names none. One that is not swept has at most the clock all rows name.
  [[nodiscard]] const std::vector<Megahertz>& sm_clocks() const { return sm_clocks_; }
  [[nodiscard]] const std::vector<Megahertz>& memory_clocks() const { return memory_clocks_; }
  /// The clock the setting names. Absent where the table does not tell which one is reached: it has none, or
  /// a power limit is swept as well and may hold the clock down.
  [[nodiscard]] std::optional<Megahertz> sm_clock(const Knobs& now) const;
  [[nodiscard]] std::optional<Megahertz> memory_clock(const Knobs& now) const;

  [[nodiscard]] Knobs default_knobs() const;
  /// invalid_argument names range or nearest; not_supported where it is not swept.
  [[nodiscard]] Status set_limit(Knobs& knobs, Watts limit) const;
  [[nodiscard]] Status lock_sm(Knobs& knobs, ClockRange range) const;
  [[nodiscard]] Status lock_memory(Knobs& knobs, ClockRange range) const;
  /// No error where nothing is locked.
  [[nodiscard]] Status unlock_sm(Knobs& knobs) const;
  [[nodiscard]] Status unlock_memory(Knobs& knobs) const;

  /// Under a lock work runs at its upper end; unlocked, as in the default row.
  [[nodiscard]] Point at(const Knobs& knobs) const;

 private:
  Board(Surface surface, const SweepRow& default_row);
  [[nodiscard]] const Axis* axis(Knob knob) const;
  [[nodiscard]] Status check_swept(Knob knob) const;
  [[nodiscard]] Status check_lock(Knob knob, const std::vector<Megahertz>& clocks, ClockRange range) const;

  std::string gpu_;
  std::string workload_;
  std::string title_;
  bool default_assumed_ = false;
  Surface surface_;
  SweepRow default_row_;
  std::optional<Point> unlocked_;  // a default row that is not on the curve: clocks left alone
  double stretch_ = 1.0;           // of the table's times
  std::vector<Megahertz> sm_clocks_;
  std::vector<Megahertz> memory_clocks_;
};

}  // namespace rubato::device::replay
