// Reads the mark rings a job's processes write (include/rubato/mark_layout.h). The files belong to somebody
// else's program: nothing in them is believed, and nothing they do can bring rubato down.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "core/iteration.h"

namespace rubato::conduct {

struct MarkReaderOptions {
  Seconds rescan{0.25};  // how often new rings are looked for, on the clock handed to poll()
  Seconds future{30};    // a mark later than that after now is dropped
  Seconds past{3600};    // a mark older than that is dropped
  std::size_t most_rings = 512;
};

/// Rings are read with pread, never mapped: a file cut short under a mapping would kill us with SIGBUS.
class MarkReader {
 public:
  explicit MarkReader(std::filesystem::path directory, MarkReaderOptions options = {});

  /// New marks of all rings, in time order. Marks of different rings may be out of order between two calls.
  [[nodiscard]] std::vector<Mark> poll(TimePoint now);

  /// Records overwritten before they were read, or not fit to be read.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  /// Marks whose time cannot be true.
  [[nodiscard]] std::uint64_t implausible() const { return implausible_; }
  [[nodiscard]] std::size_t rings() const { return rings_.size(); }
  /// One sentence for each file that was refused or given up since the last call.
  [[nodiscard]] std::vector<std::string> take_complaints();

 private:
  struct Ring {
    ScopedFd fd;
    std::uint64_t inode = 0;
    std::uint32_t capacity = 0;
    std::int32_t pid = 0;
    std::int32_t tid = 0;
    std::int32_t rank = -1;
    std::uint64_t next = 0;  // number of the record to be read next
    bool unlinked = false;
  };
  using Rings = std::map<std::filesystem::path, Ring>;

  void scan();
  void open(const std::filesystem::path& file);
  void refuse(const std::filesystem::path& file, std::uint64_t inode, const std::string& why);
  /// False where the ring can no longer be read.
  [[nodiscard]] bool drain(Ring& ring, TimePoint now, std::vector<Mark>& marks);

  std::filesystem::path directory_;
  MarkReaderOptions options_;
  std::optional<TimePoint> scanned_;
  Rings rings_;
  std::map<std::filesystem::path, std::uint64_t>
      refused_;  // by inode: another file of the name gets a new chance
  std::vector<std::string> complaints_;
  std::uint64_t lost_ = 0;
  std::uint64_t implausible_ = 0;
};

}  // namespace rubato::conduct
