// The latest launches of every process and stream, in bounded memory, and who did most of the work.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "core/kernel_record.h"
#include "progress/kernels/period_search.h"

namespace rubato::progress::kernels {

using Lane = std::uint16_t;  // one stream of one process

class LaunchHistory {
 public:
  static constexpr std::size_t kMostLaunches = 1U << 18;  // 6 MiB
  static constexpr std::size_t kMostLanes = 256;

  struct Entry {
    TimePoint begin;
    std::uint32_t lasts_ns = 0;  // at most 4.3 s
    Token token = TokenTable::kOther;
    Lane lane = 0;
    std::uint16_t run = 0;  // launches of one run follow each other without a break
    [[nodiscard]] TimePoint end() const { return TimePoint{begin.ns + lasts_ns}; }
  };

  /// The record's stream; absent where there are too many to follow, or the record is older than one of the
  /// same stream.
  [[nodiscard]] std::optional<Lane> lane(const KernelRecord& record);
  void add(Lane lane, const KernelRecord& record, Token token);
  /// What comes next of the process does not follow what came before.
  void break_off(std::int32_t pid);
  /// A break, and the end of a cycle of recording: what was done in the cycles before counts for less.
  void cycle_ended(std::int32_t pid, TimePoint end);

  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::int32_t pid(Lane lane) const { return lanes_[lane].pid; }
  [[nodiscard]] std::uint32_t stream(Lane lane) const { return lanes_[lane].stream; }
  /// The process with most kernel time of late; one stays it until another has half as much again.
  [[nodiscard]] std::int32_t busiest_process();
  /// Those with launches still held.
  [[nodiscard]] std::size_t processes() const { return processes_.size(); }
  [[nodiscard]] bool knows(std::int32_t pid) const { return processes_.contains(pid); }
  /// Begin of its newest launch, or the end of a later cycle.
  [[nodiscard]] std::optional<TimePoint> latest(std::int32_t pid) const;
  /// Its share of all kernel time of late.
  [[nodiscard]] double share(std::int32_t pid) const;
  /// The process's streams, most launches first, of those still held.
  [[nodiscard]] std::vector<Lane> lanes_of(std::int32_t pid) const;
  /// The stream's longest stretch without a break that begins at `from` or later; of nearly equal ones the
  /// latest. Of a longer one the last `most`.
  [[nodiscard]] std::vector<Launch> stretch(Lane lane, TimePoint from, std::size_t most) const;

 private:
  struct Stream {
    std::int32_t pid = 0;
    std::uint32_t stream = 0;
    TimePoint latest{INT64_MIN};
    unsigned refused = 0;    // older than `latest`, one after the other
    std::uint64_t seen = 0;  // when its latest record came, counted in records
    std::size_t held = 0;    // launches
    std::uint16_t run = 0;
    bool broken = false;
  };
  struct Process {
    double busy = 0;  // seconds of kernels, faded
    TimePoint latest{INT64_MIN};
    std::size_t held = 0;
    bool cycle_over = false;  // one was, since the last fading
  };

  [[nodiscard]] std::optional<Lane> new_lane(const KernelRecord& record);
  void forget_oldest();
  void fade();

  std::deque<Entry> entries_;
  std::vector<Stream> lanes_;
  std::unordered_map<std::uint64_t, Lane> lane_of_;
  std::optional<Lane> last_lane_;
  std::unordered_map<std::int32_t, Process> processes_;
  std::optional<std::int32_t> busiest_;
  std::uint64_t seen_ = 0;        // records
  std::uint64_t since_fade_ = 0;  // launches
};

}  // namespace rubato::progress::kernels
