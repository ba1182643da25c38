// Reads the mark rings a job's processes write (include/rubato/mark_layout.h). The files belong to somebody
// else's program: nothing in them is believed, and nothing they do can bring rubato down.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "conduct/ring_file.h"
#include "core/iteration.h"

namespace rubato::conduct {

struct MarkReaderOptions {
  Seconds rescan{0.25};  // how often new rings are looked for, on the clock handed to poll()
  Seconds future{30};    // a mark later than that after now is dropped
  TimePoint begin{};     // of the run: a mark of an epoch that is over has the time the epoch began
  Seconds before{30};    // a mark older than that before the run is dropped
  std::size_t most_rings = 512;
};

class MarkReader {
 public:
  explicit MarkReader(std::filesystem::path directory, MarkReaderOptions options = {});

  /// New marks of all rings, in time order. Marks of different rings may be out of order between two calls.
  [[nodiscard]] std::vector<Mark> poll(TimePoint now);

  /// The same at the end, when no new rings are made: those of processes that lived for less than a rescan
  /// too.
  [[nodiscard]] std::vector<Mark> finish(TimePoint now);

  /// Records overwritten before they were read, or not fit to be read.
  [[nodiscard]] std::uint64_t lost() const { return folder_.lost(); }
  /// Marks whose time cannot be true.
  [[nodiscard]] std::uint64_t implausible() const { return implausible_; }
  [[nodiscard]] std::size_t rings() const { return folder_.rings(); }
  /// One sentence for each file that was refused or given up since the last call.
  [[nodiscard]] std::vector<std::string> take_complaints() { return folder_.take_complaints(); }

 private:
  MarkReaderOptions options_;
  RingFolder folder_;
  std::uint64_t implausible_ = 0;
};

}  // namespace rubato::conduct
