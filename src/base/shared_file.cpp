#include "base/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/file_lock.h"
#include "base/text.h"

namespace rubato {
namespace {

constexpr std::size_t kAlignment = 64;

constexpr std::size_t aligned(std::size_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

struct alignas(kAlignment) Preamble {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t cells;
  std::uint64_t header_size;
  std::uint64_t cell_size;
};

// Two copies of each cell: the one that `active` does not name is written, then `active` is turned.
struct alignas(kAlignment) CellHead {
  std::uint32_t active;
};

std::size_t cell_begin(const Preamble& p, std::size_t cell) {
  return sizeof(Preamble) + aligned(p.header_size) + cell * (sizeof(CellHead) + 2 * aligned(p.cell_size));
}

const Preamble& preamble(const std::byte* map) {
  return *reinterpret_cast<const Preamble*>(map);
}

Result<std::string> whole_file(const SharedFileFormat& format, std::span<const std::byte> header,
                               std::span<const std::byte> cells) {
  if (format.cell_size == 0 || cells.empty() || cells.size() % format.cell_size != 0)
    return fail(ErrorCode::internal, cat("a ", format.noun, " of ", cells.size(), " bytes in cells of ",
                                         format.cell_size, " cannot be made"));
  const Preamble p{.magic = format.magic,
                   .version = format.version,
                   .cells = static_cast<std::uint32_t>(cells.size() / format.cell_size),
                   .header_size = header.size(),
                   .cell_size = format.cell_size};
  std::string bytes(cell_begin(p, p.cells), '\0');
  std::memcpy(bytes.data(), &p, sizeof p);
  if (!header.empty()) std::memcpy(bytes.data() + sizeof p, header.data(), header.size());
  for (std::size_t i = 0; i < p.cells; ++i)
    std::memcpy(bytes.data() + cell_begin(p, i) + sizeof(CellHead), cells.data() + i * p.cell_size,
                p.cell_size);
  return bytes;
}

Status write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail(from_errno(errno, cat("cannot write ", name)));
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<SharedFile>> SharedFile::open(const std::filesystem::path& path,
                                                     const SharedFileFormat& format) {
  ScopedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.is_open() && errno == ENOENT)
    return fail(ErrorCode::not_found, cat("there is no ", format.noun, " at ", path.string()),
                std::string(format.make_hint));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot open the ", format.noun, " ", path.string())));
  const auto corrupt = [&](std::string_view why) {
    return fail(ErrorCode::corrupt, cat(path.string(), " is not a ", format.noun, ": ", why),
                cat("remove it: rm ", path.string()));
  };
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(from_errno(errno, cat("cannot look at ", path.string())));
  if (!S_ISREG(info.st_mode)) return corrupt("it is not a file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size < sizeof(Preamble)) return corrupt("it is too short");
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return fail(from_errno(errno, cat("cannot map ", path.string())));
  std::unique_ptr<SharedFile> file(
      new SharedFile(path, std::move(fd), static_cast<std::byte*>(mapped), size));
  file->owner_ = info.st_uid;
  file->pid_ = ::getpid();
  const Preamble& p = preamble(file->map_);
  if (p.magic != format.magic) return corrupt("it begins with other bytes");
  if (p.version != format.version || p.cell_size != format.cell_size || p.header_size < format.least_header)
    return fail(ErrorCode::conflict,
                cat(path.string(), " was made by another rubato: version ", p.version, " in cells of ",
                    p.cell_size, " bytes, this one needs ", format.version, " in ", format.cell_size),
                std::string(format.remove_hint));
  if (p.cells == 0 || p.header_size > size || p.cells > size / p.cell_size || size != cell_begin(p, p.cells))
    return corrupt("its header contradicts itself");
  return file;
}

Status SharedFile::create(const std::filesystem::path& path, const SharedFileFormat& format,
                          std::span<const std::byte> header, std::span<const std::byte> cells) {
  const Result<std::string> bytes = whole_file(format, header, cells);
  if (!bytes) return fail(bytes.error());
  const std::string name = cat("the ", format.noun, " ", path.string());
  const std::filesystem::path draft = path.string() + cat(".", ::getpid(), ".new");
  ::unlink(draft.c_str());
  const ScopedFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make ", name)));
  Status done = write_all(fd.get(), *bytes, name);
  // link() refuses where the file is there already: of two makers one wins, and the other sees a whole file.
  if (done && ::link(draft.c_str(), path.c_str()) != 0)
    done = errno == EEXIST ? Status(fail(ErrorCode::conflict, cat(path.string(), " is there already")))
                           : Status(fail(from_errno(errno, cat("cannot make ", name))));
  ::unlink(draft.c_str());
  return done;
}

Result<std::unique_ptr<SharedFile>> SharedFile::in_memory(const SharedFileFormat& format,
                                                          std::span<const std::byte> header,
                                                          std::span<const std::byte> cells) {
  const Result<std::string> bytes = whole_file(format, header, cells);
  if (!bytes) return fail(bytes.error());
  void* mapped = ::mmap(nullptr, bytes->size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return fail(from_errno(errno, cat("no memory for a ", format.noun)));
  std::memcpy(mapped, bytes->data(), bytes->size());
  return std::unique_ptr<SharedFile>(
      new SharedFile({}, ScopedFd{}, static_cast<std::byte*>(mapped), bytes->size()));
}

SharedFile::~SharedFile() {
  ::munmap(map_, size_);
}

std::span<std::byte> SharedFile::header() {
  return {map_ + sizeof(Preamble), preamble(map_).header_size};
}

std::size_t SharedFile::cells() const {
  return preamble(map_).cells;
}

Status SharedFile::update(std::size_t cell, const std::function<void(std::byte*)>& change) {
  if (cell >= cells())
    return fail(ErrorCode::not_found,
                cat(path_.string(), " has ", cells(), " cells, and none of index ", cell));
  const std::scoped_lock alone(mutex_);
  if (!fd_.is_open()) {
    turn(cell, change);
    return {};
  }
  if (Status own = own_descriptor(); !own) return own;
  const Result<FileLock> lock = FileLock::take(fd_.get(), path_.string());
  if (!lock) return fail(lock.error());
  turn(cell, change);
  return {};
}

void SharedFile::turn(std::size_t cell, const std::function<void(std::byte*)>& change) {
  std::byte* begin = map_ + cell_begin(preamble(map_), cell);
  const std::atomic_ref<std::uint32_t> active(reinterpret_cast<CellHead*>(begin)->active);
  const std::size_t size = preamble(map_).cell_size;
  const std::uint32_t now = active.load(std::memory_order_acquire) & 1U;
  const auto slot = [&](std::uint32_t i) { return begin + sizeof(CellHead) + i * aligned(size); };
  std::byte* next = slot(1U - now);
  std::memcpy(next, slot(now), size);
  change(next);
  active.store(1U - now, std::memory_order_release);
}

// A forked child shares its parent's open file, and with it the lock: it needs an open file of its own. The
// file may be gone from its path by then.
Status SharedFile::own_descriptor() {
  if (::getpid() == pid_) return {};
  ScopedFd own(::open(cat("/proc/self/fd/", fd_.get()).c_str(), O_RDWR | O_CLOEXEC));
  if (!own.is_open())
    return fail(from_errno(errno, cat("cannot open ", path_.string(), " again after a fork")));
  fd_ = std::move(own);
  pid_ = ::getpid();
  return {};
}

}  // namespace rubato
