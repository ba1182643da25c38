#include "conduct/ring_file.h"

#include <fcntl.h>
#include <rubato/mark_layout.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace rubato::conduct {
namespace {

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

std::uint64_t sequence_of(const std::byte* record) {
  std::uint64_t sequence = 0;
  std::memcpy(&sequence, record, sizeof sequence);
  return sequence;
}

// Why the header cannot be used, or nothing.
std::optional<std::string> objection(const rubato_mark_header& h, const RingKind& kind,
                                     std::uint64_t file_size) {
  if (h.magic != kind.magic) return cat("it is no ", kind.what, " ring");
  if (h.version != kind.version) {
    return cat("its layout has version ", h.version, ", this rubato reads ", kind.version);
  }
  if (h.header_size != sizeof(rubato_mark_header) || h.record_size != kind.record_size) {
    return cat("its header and record sizes are ", h.header_size, " and ", h.record_size, ", needed are ",
               sizeof(rubato_mark_header), " and ", kind.record_size);
  }
  if (!std::has_single_bit(h.capacity) || h.capacity > kind.most_records) {
    return cat("its capacity is ", h.capacity, ", needed is a power of two up to ", kind.most_records);
  }
  const std::uint64_t needed = sizeof(rubato_mark_header) + std::uint64_t{h.capacity} * kind.record_size;
  if (file_size < needed) return cat("it has ", file_size, " bytes, its header needs ", needed);
  return std::nullopt;
}

// overlayfs maps the file below it, so a lease there does not know of mappings; a container's /tmp is such.
constexpr decltype(statfs::f_type) kOverlay = 0x794c7630;  // linux/magic.h

// A producer has its file mapped for as long as it lives, and the kernel grants a lease for reading only
// where nobody can write. Process ids would not tell: a container has its own.
bool nobody_writes(int fd) {
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0 || system.f_type == kOverlay) return false;
  // Whoever opens the file for writing between these lines would end this process by SIGIO; SIGURG is
  // ignored.
  if (::fcntl(fd, F_SETSIG, SIGURG) != 0 || ::fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return false;
  ::fcntl(fd, F_SETLEASE, F_UNLCK);
  return true;
}

bool remove_file(const std::filesystem::path& file, std::uint64_t inode) {
  struct stat info {};
  return ::lstat(file.c_str(), &info) == 0 && info.st_ino == inode && ::unlink(file.c_str()) == 0;
}

}  // namespace

RingFolder::RingFolder(std::filesystem::path directory, const RingKind& kind, RingFolderOptions options)
    : directory_(std::move(directory)), kind_(kind), options_(options) {}

std::vector<std::string> RingFolder::take_complaints() {
  return std::exchange(complaints_, {});
}

void RingFolder::complain(const std::filesystem::path& file, const std::string& why) {
  if (complained_ >= kMostComplaints) return;
  ++complained_;
  complaints_.push_back(cat(kind_.what, "s in ", file.filename().string(), " are not read: ", why));
}

void RingFolder::refuse(const std::filesystem::path& file, std::uint64_t inode, const std::string& why) {
  if (refused_.size() < kMostRefused) refused_[file] = inode;
  complain(file, why);
}

void RingFolder::open(const std::filesystem::path& file) {
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
  if (const auto why = objection(header, kind_, static_cast<std::uint64_t>(info.st_size))) {
    return refuse(file, info.st_ino, *why);
  }
  if (rings_.size() >= options_.most_rings) {  // it waits for one that goes
    if (!std::exchange(full_told_, true))
      complain(file,
               cat("there are ", options_.most_rings, " rings already; it and others wait for one to end"));
    return;
  }
  Ring ring;
  ring.fd = std::move(fd);
  ring.inode = info.st_ino;
  ring.capacity = header.capacity;
  ring.owner = {header.pid, header.tid, header.rank};
  rings_[file] = std::move(ring);
}

void RingFolder::scan() {
  for (auto& [file, ring] : rings_) {
    struct stat info {};
    ring.unlinked = ::fstat(ring.fd.get(), &info) != 0 || info.st_nlink == 0;
    ring.abandoned = nobody_writes(ring.fd.get());
  }
  std::error_code error;
  std::filesystem::directory_iterator it(directory_, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::filesystem::path& file = it->path();
    if (file.extension() != kind_.extension) continue;
    if (const auto known = rings_.find(file); known != rings_.end() && !known->second.unlinked) continue;
    if (!rings_.contains(file)) open(file);
  }
}

void RingFolder::lose(Ring& ring, std::uint64_t records) {
  lost_ += records;
  ring.lost += records;
}

bool RingFolder::drain(Ring& ring, const OnRecord& on_record) {
  const auto written = read_written(ring.fd.get());
  if (!written) return false;
  if (*written == ring.next) return true;
  if (*written < ring.next) {
    ring.next = *written;  // the count went backwards: start over from what it says now
    return true;
  }
  if (*written - ring.next > ring.capacity) {
    lose(ring, *written - ring.capacity - ring.next);
    ring.next = *written - ring.capacity;
  }
  // `written` was raised after each of these records was complete, so only being overwritten can spoil them.
  // No fences: the kernel takes and drops a reference to each page around its copy, and those are full
  // barriers.
  const std::size_t size = kind_.record_size;
  const std::uint64_t first = ring.next;
  const auto count = static_cast<std::size_t>(*written - first);
  std::vector<std::byte> records(count * size);
  const std::size_t slot = static_cast<std::size_t>(first & (ring.capacity - 1));
  const std::size_t before_wrap = std::min<std::size_t>(count, ring.capacity - slot);
  const auto fetch = [&](std::size_t from_slot, std::span<std::byte> into) {
    return read_at(ring.fd.get(), into.data(), into.size(), sizeof(rubato_mark_header) + from_slot * size);
  };
  const std::span all(records);
  if (!fetch(slot, all.first(before_wrap * size)) || !fetch(0, all.subspan(before_wrap * size))) return false;
  const auto written_after = read_written(ring.fd.get());
  if (!written_after) return false;
  ring.next = *written;

  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = first + i;
    const std::span<const std::byte> record = all.subspan(i * size, size);
    // Record number + capacity goes into the same slot; its writing begins once `written` has come that far.
    const bool overwritten = *written_after >= number + ring.capacity;
    if (overwritten || sequence_of(record.data()) != number + 1) {
      lose(ring, 1);
      continue;
    }
    on_record(ring.owner, record, std::exchange(ring.lost, 0));
  }
  return true;
}

void RingFolder::poll(TimePoint now, const OnRecord& on_record) {
  if (!scanned_ || now - *scanned_ >= options_.rescan) {
    scan();
    scanned_ = now;
  }
  for (auto it = rings_.begin(); it != rings_.end();) {
    Ring& ring = it->second;
    const std::uint64_t before = ring.next;
    if (!drain(ring, on_record)) {
      refuse(it->first, ring.inode, "it was cut short while it was read");
      it = rings_.erase(it);
    } else if (ring.unlinked ? ring.next == before : ring.abandoned && remove_file(it->first, ring.inode)) {
      it = rings_.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace rubato::conduct
