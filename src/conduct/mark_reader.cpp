#include "conduct/mark_reader.h"

#include <fcntl.h>
#include <rubato/mark_layout.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <system_error>

#include "base/text.h"

namespace rubato::conduct {
namespace {

constexpr std::uint32_t kMostRecords = 1U << 20;  // 64 MiB: more is no ring but a mistake
constexpr std::size_t kMostRefused = 1024;
constexpr std::size_t kMostComplaints = 32;

bool read_at(int fd, void* into, std::size_t bytes, std::uint64_t offset) {
  auto* out = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd, out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::uint64_t> read_written(int fd) {
  std::uint64_t written = 0;
  if (!read_at(fd, &written, sizeof written, offsetof(rubato_mark_header, written))) return std::nullopt;
  return written;
}

// Why the header cannot be used, or nothing.
std::optional<std::string> objection(const rubato_mark_header& h, std::uint64_t file_size) {
  if (h.magic != RUBATO_MARK_MAGIC) return "it is no mark ring";
  if (h.version != RUBATO_MARK_VERSION) {
    return cat("its layout has version ", h.version, ", this rubato reads ", RUBATO_MARK_VERSION);
  }
  if (h.header_size != sizeof(rubato_mark_header) || h.record_size != sizeof(rubato_mark_record)) {
    return cat("its header and record sizes are ", h.header_size, " and ", h.record_size, ", needed are ",
               sizeof(rubato_mark_header), " and ", sizeof(rubato_mark_record));
  }
  if (!std::has_single_bit(h.capacity) || h.capacity > kMostRecords) {
    return cat("its capacity is ", h.capacity, ", needed is a power of two up to ", kMostRecords);
  }
  const std::uint64_t needed =
      sizeof(rubato_mark_header) + std::uint64_t{h.capacity} * sizeof(rubato_mark_record);
  if (file_size < needed) return cat("it has ", file_size, " bytes, its header needs ", needed);
  return std::nullopt;
}

}  // namespace

MarkReader::MarkReader(std::filesystem::path directory, MarkReaderOptions options)
    : directory_(std::move(directory)), options_(options) {}

std::vector<std::string> MarkReader::take_complaints() {
  return std::exchange(complaints_, {});
}

void MarkReader::refuse(const std::filesystem::path& file, std::uint64_t inode, const std::string& why) {
  if (refused_.size() < kMostRefused) refused_[file] = inode;
  if (complaints_.size() < kMostComplaints) {
    complaints_.push_back(cat("marks in ", file.filename().string(), " are not read: ", why));
  }
}

void MarkReader::open(const std::filesystem::path& file) {
  // Without O_NONBLOCK a named pipe of that name would stop us here.
  ScopedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0) return;
  if (const auto known = refused_.find(file); known != refused_.end()) {
    if (known->second == info.st_ino) return;
    refused_.erase(known);
  }
  if (!S_ISREG(info.st_mode)) return refuse(file, info.st_ino, "it is not a regular file");
  rubato_mark_header header{};
  // A producer sets the size first and the magic last: until then it is not ready, which is no fault.
  if (!read_at(fd.get(), &header, sizeof header, 0) || header.magic == 0) return;
  if (const auto why = objection(header, static_cast<std::uint64_t>(info.st_size))) {
    return refuse(file, info.st_ino, *why);
  }
  if (rings_.size() >= options_.most_rings) {
    return refuse(file, info.st_ino, cat("there are ", options_.most_rings, " rings already"));
  }
  Ring ring;
  ring.fd = std::move(fd);
  ring.inode = info.st_ino;
  ring.capacity = header.capacity;
  ring.pid = header.pid;
  ring.tid = header.tid;
  ring.rank = header.rank;
  rings_[file] = std::move(ring);
}

void MarkReader::scan() {
  for (auto& [file, ring] : rings_) {
    struct stat info {};
    ring.unlinked = ::fstat(ring.fd.get(), &info) != 0 || info.st_nlink == 0;
  }
  std::error_code error;
  std::filesystem::directory_iterator it(directory_, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::filesystem::path& file = it->path();
    if (file.extension() != ".ring") continue;
    if (const auto known = rings_.find(file); known != rings_.end() && !known->second.unlinked) continue;
    if (!rings_.contains(file)) open(file);
  }
}

bool MarkReader::drain(Ring& ring, TimePoint now, std::vector<Mark>& marks) {
  const auto written = read_written(ring.fd.get());
  if (!written) return false;
  if (*written == ring.next) return true;
  if (*written < ring.next) {
    ring.next = *written;  // the count went backwards: start over from what it says now
    return true;
  }
  if (*written - ring.next > ring.capacity) {
    lost_ += *written - ring.capacity - ring.next;
    ring.next = *written - ring.capacity;
  }
  // `written` was raised after each of these records was complete, so only being overwritten can spoil them.
  // No fences: the kernel takes and drops a reference to each page around its copy, and those are full
  // barriers.
  const std::uint64_t first = ring.next;
  const auto count = static_cast<std::size_t>(*written - first);
  std::vector<rubato_mark_record> records(count);
  const std::size_t slot = static_cast<std::size_t>(first & (ring.capacity - 1));
  const std::size_t before_wrap = std::min<std::size_t>(count, ring.capacity - slot);
  const auto fetch = [&](std::size_t from_slot, std::span<rubato_mark_record> into) {
    return read_at(ring.fd.get(), into.data(), into.size_bytes(),
                   sizeof(rubato_mark_header) + from_slot * sizeof(rubato_mark_record));
  };
  const std::span all(records);
  if (!fetch(slot, all.first(before_wrap)) || !fetch(0, all.subspan(before_wrap))) return false;
  const auto written_after = read_written(ring.fd.get());
  if (!written_after) return false;
  ring.next = *written;

  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = first + i;
    const rubato_mark_record& r = records[i];
    // Record number + capacity goes into the same slot; its writing begins once `written` has come that far.
    const bool overwritten = *written_after >= number + ring.capacity;
    if (overwritten || r.sequence != number + 1) {
      ++lost_;
      continue;
    }
    const TimePoint at{r.monotonic_ns};
    if (at > now + options_.future || at < now - options_.past) {
      ++implausible_;
      continue;
    }
    marks.push_back({at, r.kind, r.flags, r.id, ring.pid, ring.tid, ring.rank});
  }
  return true;
}

std::vector<Mark> MarkReader::poll(TimePoint now) {
  if (!scanned_ || now - *scanned_ >= options_.rescan) {
    scan();
    scanned_ = now;
  }
  std::vector<Mark> marks;
  for (auto it = rings_.begin(); it != rings_.end();) {
    Ring& ring = it->second;
    const std::uint64_t before = ring.next;
    if (!drain(ring, now, marks)) {
      refuse(it->first, ring.inode, "it was cut short while it was read");
      it = rings_.erase(it);
    } else if (ring.unlinked && ring.next == before) {
      it = rings_.erase(it);
    } else {
      ++it;
    }
  }
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.at < b.at; });
  return marks;
}

}  // namespace rubato::conduct
