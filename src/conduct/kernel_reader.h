// Reads the kernel rings a job's processes write (include/rubato/kernel_layout.h), as distrustfully as
// MarkReader reads marks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "conduct/ring_file.h"
#include "core/kernel_record.h"
#include "record/types.h"

namespace rubato::conduct {

struct KernelReaderOptions {
  Seconds rescan{0.25};  // how often new rings are looked for, on the clock handed to poll()
  Seconds future{30};    // what ends later than that after now is dropped
  TimePoint begin{};     // of the run
  Seconds before{30};    // what began earlier than that before the run is dropped
  std::size_t most_rings = 512;
};

struct KernelNews {
  std::vector<KernelRecord> kernels;        // by begin; a graph's launch is one
  std::vector<record::KernelCycle> cycles;  // those that ended, by end; their kernels are here or were before
};

/// A cycle's kernels come when it has ended, as their ring holds them in no order: CUPTI fills a buffer for
/// each thread that launches, and PyTorch launches the backward pass from another one (seen on an H200,
/// docs/evidence/2026-11-28-h200.md). Each process's are in order over all news, as long as it is not silent
/// inside a cycle for ten seconds and holds no more than a million kernels back.
class KernelReader {
 public:
  explicit KernelReader(std::filesystem::path directory, KernelReaderOptions options = {});

  [[nodiscard]] KernelNews poll(TimePoint now);
  /// The last news, with the cycles of processes that were killed inside one: they end with their last
  /// kernel.
  [[nodiscard]] KernelNews finish(TimePoint now);

  /// Records overwritten before they were read, or not fit to be read.
  [[nodiscard]] std::uint64_t lost() const { return folder_.lost(); }
  /// Records whose times cannot be true.
  [[nodiscard]] std::uint64_t implausible() const { return implausible_; }
  [[nodiscard]] std::size_t rings() const { return folder_.rings(); }
  /// One sentence for each file that was refused or given up since the last call.
  [[nodiscard]] std::vector<std::string> take_complaints() { return folder_.take_complaints(); }

 private:
  struct Open {
    record::KernelCycle cycle;
    TimePoint heard;       // when a record of it last came
    TimePoint last_begin;  // of its kernels
    std::vector<KernelRecord> held;
  };
  void read(TimePoint now);
  void take(const RingOwner& owner, std::span<const std::byte> bytes, std::uint64_t lost_before,
            TimePoint now);
  void release(Open& open);
  [[nodiscard]] KernelNews take_news();

  KernelReaderOptions options_;
  RingFolder folder_;
  std::map<std::int32_t, Open> open_;  // by process
  std::size_t held_ = 0;               // kernels, of all of them
  KernelNews news_;
  std::uint64_t implausible_ = 0;
};

}  // namespace rubato::conduct
