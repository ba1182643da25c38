#include "simgpu/trainer/ring_map.h"

#include <fcntl.h>
#include <rubato/mark_layout.h>
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

void store(std::uint64_t& to, std::uint64_t value, std::memory_order order) {
  std::atomic_ref(to).store(value, order);
}

}  // namespace

std::int32_t thread_id() {
  return static_cast<std::int32_t>(::syscall(SYS_gettid));
}

Result<RingMap> RingMap::create(const std::filesystem::path& file, const RingShape& shape) {
  const std::size_t size = sizeof(rubato_mark_header) + std::size_t{shape.capacity} * shape.record_size;
  const ScopedFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make the ring ", file.string())));
  // Reserved now: a full disk must be an error here, not a SIGBUS at some record.
  if (const int error = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(size)); error != 0)
    return fail(from_errno(error, cat("cannot make the ring ", file.string())));
  void* map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return fail(from_errno(errno, cat("cannot map ", file.string())));
  auto* header = static_cast<rubato_mark_header*>(map);
  header->version = shape.version;
  header->header_size = sizeof(rubato_mark_header);
  header->record_size = shape.record_size;
  header->capacity = shape.capacity;
  header->pid = ::getpid();
  header->tid = thread_id();
  header->rank = rank_from_environment();
  // The magic last: whoever sees it sees a whole header.
  store(header->magic, shape.magic, std::memory_order_release);
  return RingMap(map, size);
}

RingMap::RingMap(RingMap&& other) noexcept : map_(std::exchange(other.map_, nullptr)), size_(other.size_) {}

RingMap::~RingMap() {
  if (map_ != nullptr) ::munmap(map_, size_);
}

// GCC warns that its thread sanitizer follows no fences; who reads what this one orders is another process.
#ifdef __SANITIZE_THREAD__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

void RingMap::write_words(std::span<const std::uint64_t> record) {
  auto* header = static_cast<rubato_mark_header*>(map_);
  const std::uint64_t n = header->written;
  auto* slot = reinterpret_cast<std::uint64_t*>(header + 1) + (n & (header->capacity - 1)) * record.size();
  store(slot[0], 0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 1; i < record.size(); ++i) store(slot[i], record[i], std::memory_order_relaxed);
  store(slot[0], n + 1, std::memory_order_release);
  store(header->written, n + 1, std::memory_order_release);
}

}  // namespace rubato::sim_trainer
