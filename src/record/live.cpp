#include "record/live.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::record {
namespace {

// Every connection to a database with a write-ahead log holds a shared lock on this byte of its -shm file for
// as long as it is open (SQLite, walformat.html, "WAL locks": the dead-man switch).
constexpr off_t kDeadManSwitch = 128;

/// The process that holds it; 0 where the kernel cannot name it (another process namespace).
std::optional<pid_t> holder(const std::filesystem::path& record) {
  const std::string shared = cat(record.string(), "-shm");
  const ScopedFd fd(open(shared.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return std::nullopt;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = kDeadManSwitch;
  lock.l_len = 1;
  if (fcntl(fd.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid > 0 ? lock.l_pid : 0;
}

// Whoever only reads a record has it open too, but not for writing. What cannot be looked at may be a writer.
bool has_it_open_for_writing(pid_t pid, const std::filesystem::path& record) {
  struct stat wanted {};
  if (stat(record.c_str(), &wanted) != 0) return false;
  std::error_code error;
  const std::filesystem::path process = cat("/proc/", pid);
  std::filesystem::directory_iterator files(process / "fd", error);
  if (error) return true;
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    struct stat one {};
    if (stat(files->path().c_str(), &one) != 0 || one.st_dev != wanted.st_dev || one.st_ino != wanted.st_ino)
      continue;
    std::ifstream facts(process / "fdinfo" / files->path().filename());
    for (std::string line; std::getline(facts, line);)
      if (line.starts_with("flags:") && (std::strtol(line.c_str() + 6, nullptr, 8) & O_ACCMODE) != O_RDONLY)
        return true;
  }
  return false;
}

}  // namespace

std::optional<pid_t> writer_of(const std::filesystem::path& record) {
  const auto pid = holder(record);
  if (pid && *pid != 0 && !has_it_open_for_writing(*pid, record)) return std::nullopt;
  return pid;
}

}  // namespace rubato::record
