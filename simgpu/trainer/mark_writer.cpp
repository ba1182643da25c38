#include "simgpu/trainer/mark_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::sim_trainer {
namespace {

std::int32_t rank_from_environment() {
  for (const char* name : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    if (const std::optional<std::int64_t> rank = parse_integer(value);
        rank && *rank >= 0 && *rank <= INT32_MAX)
      return static_cast<std::int32_t>(*rank);
  }
  return -1;
}

template <class T>
void store(T& to, T value, std::memory_order order) {
  std::atomic_ref<T>(to).store(value, order);
}

}  // namespace

Result<std::optional<MarkWriter>> MarkWriter::from_environment() {
  const char* folder = std::getenv(RUBATO_MARKS_ENV);
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  Result<MarkWriter> writer = create(folder);
  if (!writer) return fail(writer.error());
  return std::optional<MarkWriter>(std::move(*writer));
}

Result<MarkWriter> MarkWriter::create(const std::filesystem::path& folder, std::uint32_t capacity) {
  const auto tid = static_cast<std::int32_t>(::syscall(SYS_gettid));
  const std::filesystem::path path = folder / cat(::getpid(), "-", tid, ".ring");
  const std::size_t size = sizeof(rubato_mark_header) + std::size_t{capacity} * sizeof(rubato_mark_record);
  const ScopedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make the mark ring ", path.string())));
  // Reserved now: a full disk must be an error here, not a SIGBUS at some mark.
  if (const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(size)); error != 0)
    return fail(from_errno(error, cat("cannot make the mark ring ", path.string())));
  void* map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return fail(from_errno(errno, cat("cannot map ", path.string())));
  auto* header = static_cast<rubato_mark_header*>(map);
  header->version = RUBATO_MARK_VERSION;
  header->header_size = sizeof(rubato_mark_header);
  header->record_size = sizeof(rubato_mark_record);
  header->capacity = capacity;
  header->pid = ::getpid();
  header->tid = tid;
  header->rank = rank_from_environment();
  // The magic last: whoever sees it sees a whole header.
  store(header->magic, std::uint64_t{RUBATO_MARK_MAGIC}, std::memory_order_release);
  return MarkWriter(map, size);
}

MarkWriter::MarkWriter(MarkWriter&& other) noexcept
    : map_(std::exchange(other.map_, nullptr)), size_(other.size_) {}

MarkWriter::~MarkWriter() {
  if (map_ != nullptr) ::munmap(map_, size_);
}

void MarkWriter::write(TimePoint at, rubato_mark_kind kind, std::uint64_t id) {
  auto* header = static_cast<rubato_mark_header*>(map_);
  auto* records = reinterpret_cast<rubato_mark_record*>(header + 1);
  const std::uint64_t n = header->written;
  rubato_mark_record& slot = records[n % header->capacity];
  store(slot.sequence, std::uint64_t{0}, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  store(slot.monotonic_ns, at.ns, std::memory_order_relaxed);
  store(slot.kind, static_cast<std::uint32_t>(kind), std::memory_order_relaxed);
  store(slot.flags, std::uint32_t{RUBATO_MARK_FLAG_SIMULATED}, std::memory_order_relaxed);
  store(slot.id, id, std::memory_order_relaxed);
  store(slot.sequence, n + 1, std::memory_order_release);
  store(header->written, n + 1, std::memory_order_release);
}

}  // namespace rubato::sim_trainer
