#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/fd.h"
#include "base/text.h"
#include "device/sim/lock.h"
#include "device/sim/storage.h"

namespace rubato::device::sim {
namespace {

// Two copies of each state: the one that `active` does not name is written, then `active` is turned.
struct Cell {
  std::uint32_t active;
  std::uint32_t reserved;
  GpuState slots[2];
};
struct WorldFile {
  WorldHeader header;
  Cell cells[1];  // header.gpu_count of them
};

std::size_t file_size(std::size_t gpus) {
  return offsetof(WorldFile, cells) + gpus * sizeof(Cell);
}

class FileStorage final : public Storage {
 public:
  FileStorage(std::filesystem::path path, ScopedFd fd, WorldFile* file, std::size_t size, std::int64_t owner)
      : path_(std::move(path)), fd_(std::move(fd)), file_(file), size_(size), owner_(owner) {}
  ~FileStorage() override { ::munmap(file_, size_); }

  WorldHeader& header() override { return file_->header; }
  const std::filesystem::path& path() const override { return path_; }
  std::int64_t owner_uid() const override { return owner_; }

  Status update(unsigned gpu, const std::function<void(GpuState&)>& change) override {
    const std::scoped_lock alone(mutex_);
    if (const Status own = own_descriptor(); !own) return own;
    const Result<FileLock> lock = FileLock::take(fd_.get(), path_.string());
    if (!lock) return fail(lock.error());
    Cell& cell = file_->cells[gpu];
    const std::atomic_ref<std::uint32_t> active(cell.active);
    const std::uint32_t now = active.load(std::memory_order_acquire) & 1U;
    GpuState& next = cell.slots[1U - now];
    std::memcpy(&next, &cell.slots[now], sizeof next);
    change(next);
    active.store(1U - now, std::memory_order_release);
    return {};
  }

 private:
  // A forked child shares its parent's open file, and with it the lock: it needs an open file of its own. The
  // file may be gone from its path by then.
  Status own_descriptor() {
    if (::getpid() == pid_) return {};
    ScopedFd own(::open(cat("/proc/self/fd/", fd_.get()).c_str(), O_RDWR | O_CLOEXEC));
    if (!own.is_open())
      return fail(from_errno(errno, cat("cannot open ", path_.string(), " again after a fork")));
    fd_ = std::move(own);
    pid_ = ::getpid();
    return {};
  }

  std::mutex mutex_;
  std::filesystem::path path_;
  ScopedFd fd_;
  WorldFile* file_;
  std::size_t size_;
  std::int64_t owner_;
  pid_t pid_ = ::getpid();
};

Status write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t wrote = ::write(fd, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail(from_errno(errno, "cannot write the simulated world"));
    data += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Storage>> open_file_storage(const std::filesystem::path& path) {
  ScopedFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.is_open() && errno == ENOENT)
    return fail(ErrorCode::not_found, cat("there is no simulated world at ", path.string()),
                "`rubato devices --gpu sim:v100` makes one");
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot open the simulated world ", path.string())));
  const auto corrupt = [&](std::string_view why) {
    return fail(ErrorCode::corrupt, cat(path.string(), " is not a simulated world: ", why),
                cat("remove it: rm ", path.string()));
  };
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail(from_errno(errno, cat("cannot look at ", path.string())));
  if (!S_ISREG(info.st_mode)) return corrupt("it is not a file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size < sizeof(WorldHeader)) return corrupt("it is too short");
  void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) return fail(from_errno(errno, cat("cannot map ", path.string())));
  auto* file = static_cast<WorldFile*>(mapped);
  const WorldHeader& header = file->header;
  std::unique_ptr<Storage> storage =
      std::make_unique<FileStorage>(path, std::move(fd), file, size, std::int64_t{info.st_uid});
  if (header.magic != kWorldMagic) return corrupt("it begins with other bytes");
  if (header.version != kWorldVersion)
    return fail(ErrorCode::conflict,
                cat(path.string(), " was made by another rubato: version ", header.version,
                    ", this one needs ", kWorldVersion),
                "`rubato sim reset` removes it");
  if (header.gpu_count == 0 || header.gpu_count > kMostWorldGpus || header.fault_count > kMostFaults ||
      size != file_size(header.gpu_count) || header.size != size || !(header.rate > 0))
    return corrupt("its header contradicts itself");
  return storage;
}

Status create_world_file(const std::filesystem::path& path, const NewWorld& world) {
  const std::filesystem::path draft = path.string() + cat(".", ::getpid(), ".new");
  ::unlink(draft.c_str());
  const ScopedFd fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make the simulated world ", path.string())));
  WorldHeader header = world.header;
  header.size = file_size(world.gpus.size());
  std::string bytes(header.size, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t i = 0; i < world.gpus.size(); ++i)
    std::memcpy(bytes.data() + offsetof(WorldFile, cells) + i * sizeof(Cell) + offsetof(Cell, slots),
                &world.gpus[i], sizeof(GpuState));
  Status done = write_all(fd.get(), bytes.data(), bytes.size());
  // link() refuses where the file is there already: of two makers one wins, and the other sees a whole file.
  if (done && ::link(draft.c_str(), path.c_str()) != 0)
    done = errno == EEXIST
               ? Status(fail(ErrorCode::conflict, cat(path.string(), " is there already")))
               : Status(fail(from_errno(errno, cat("cannot make the simulated world ", path.string()))));
  ::unlink(draft.c_str());
  return done;
}

}  // namespace rubato::device::sim
