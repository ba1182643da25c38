// Ring files that processes of the job write (include/rubato/mark_layout.h, kernel_layout.h): finds them in a
// folder and reads each record once. The files belong to somebody else's program: nothing in them is
// believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"

namespace rubato::conduct {

/// What is particular to one sort of ring. Headers are all struct rubato_mark_header.
struct RingKind {
  std::string_view what;       // "mark", for sentences
  std::string_view extension;  // ".ring"
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t record_size = 0;   // its first eight bytes are the sequence number
  std::uint32_t most_records = 0;  // more is no ring but a mistake
};

/// Who wrote a record, as the header says.
struct RingOwner {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t rank = -1;
};

struct RingFolderOptions {
  Seconds rescan{0.25};  // how often new rings are looked for, on the clock handed to poll()
  std::size_t most_rings = 512;
};

/// Rings are read with pread, never mapped: a file cut short under a mapping would kill us with SIGBUS.
class RingFolder {
 public:
  /// `lost_before`: records of the same ring between the one before and this that could not be had.
  using OnRecord =
      std::function<void(const RingOwner&, std::span<const std::byte> record, std::uint64_t lost_before)>;

  RingFolder(std::filesystem::path directory, const RingKind& kind, RingFolderOptions options);

  /// Ring by ring, each in the order of writing. One that no process can write to any more is read to its end
  /// and removed.
  void poll(TimePoint now, const OnRecord& on_record);

  /// New rings are looked for at the next poll().
  void look_anew() { scanned_.reset(); }

  /// Records overwritten before they were read, or not fit to be read.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] std::size_t rings() const { return rings_.size(); }
  /// One sentence for each file that was refused or given up since the last call; a few dozen in all.
  [[nodiscard]] std::vector<std::string> take_complaints();

 private:
  struct Ring {
    ScopedFd fd;
    std::uint64_t inode = 0;
    std::uint32_t capacity = 0;
    RingOwner owner;
    std::uint64_t next = 0;  // number of the record to be read next
    std::uint64_t lost = 0;  // since the last record that was handed out
    bool unlinked = false;
    bool abandoned = false;  // when the folder was looked through: nobody writes to it any more
  };
  using Rings = std::map<std::filesystem::path, Ring>;

  void scan();
  void open(const std::filesystem::path& file);
  void complain(const std::filesystem::path& file, const std::string& why);
  void refuse(const std::filesystem::path& file, std::uint64_t inode, const std::string& why);
  void lose(Ring& ring, std::uint64_t records);
  /// False where the ring can no longer be read.
  [[nodiscard]] bool drain(Ring& ring, const OnRecord& on_record);

  std::filesystem::path directory_;
  RingKind kind_;
  RingFolderOptions options_;
  std::optional<TimePoint> scanned_;
  Rings rings_;
  // By inode: another file of the name gets a new chance.
  std::map<std::filesystem::path, std::uint64_t> refused_;
  std::vector<std::string> complaints_;
  std::size_t complained_ = 0;
  bool full_told_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace rubato::conduct
