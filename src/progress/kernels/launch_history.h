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
  static constexpr std::size_t kMostProcesses = 64;

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
  /// What comes next does not follow what came before.
  void break_off() { broken_ = true; }

  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }
  [[nodiscard]] std::int32_t pid(Lane lane) const { return lanes_[lane].pid; }
  [[nodiscard]] std::uint32_t stream(Lane lane) const { return lanes_[lane].stream; }
  /// The process with most kernel time; one stays it until another has half as much again.
  [[nodiscard]] std::int32_t busiest_process();
  [[nodiscard]] std::size_t processes() const { return busy_.size(); }
  /// Its share of all kernel time.
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
    unsigned refused = 0;  // older than `latest`, one after the other
  };

  std::deque<Entry> entries_;
  std::vector<Stream> lanes_;
  std::unordered_map<std::uint64_t, Lane> lane_of_;
  std::optional<Lane> last_lane_;
  std::unordered_map<std::int32_t, double> busy_;  // seconds of kernels, by process
  std::optional<std::int32_t> busiest_;
  std::uint16_t run_ = 0;
  bool broken_ = false;
};

}  // namespace rubato::progress::kernels
