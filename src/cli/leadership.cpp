#include "cli/leadership.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/text.h"

namespace rubato::cli {
namespace {

Result<ScopedFd> open_lock(const std::filesystem::path& path) {
  ScopedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot open ", path.string())));
  return fd;
}

bool lock_at_once(const ScopedFd& fd) {
  return flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

// Only for the moment in which a rank asks for its GPUs; a rank that was stopped in it must not stop the
// others for good.
Status lock_soon(const ScopedFd& fd) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    if (lock_at_once(fd)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fail(ErrorCode::timeout, "another rubato holds the lock of the ranks for over 2 s");
}

std::string text_of(const Claim& claim) {
  return cat(claim.group, "\n", claim.local_rank, "\n", claim.run_id, "\n");
}

Claim read_claim(const ScopedFd& fd) {
  std::array<char, 1024> buffer{};
  const ssize_t got = pread(fd.get(), buffer.data(), buffer.size(), 0);
  const auto lines =
      split(std::string_view(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0), '\n');
  if (lines.size() < 3) return {};
  return {lines[0], parse_integer(lines[1]).value_or(0), lines[2], {}};
}

void write_claim(const ScopedFd& fd, const Claim& claim) {
  const std::string text = text_of(claim);
  // A claim that cannot be written leads all the same; the others then find nobody they know.
  if (ftruncate(fd.get(), 0) == 0) [[maybe_unused]]
    const ssize_t written = pwrite(fd.get(), text.data(), text.size(), 0);
}

bool of_our_job(const Claim& holder, const Claim& us) {
  // Two runs of one script in one job may have the same rank: they are not each other's ranks.
  if (!us.group.empty() && holder.group == us.group) return holder.local_rank != us.local_rank;
  return !us.outer_run_id.empty() && holder.run_id == us.outer_run_id;
}

bool claimed(const std::filesystem::path& folder, const std::string& uuid) {
  const auto lock = open_lock(folder / cat("leader-", uuid, ".lock"));
  return lock && flock(lock->get(), LOCK_SH | LOCK_NB) != 0;
}

}  // namespace

void wait_for_claim(const std::filesystem::path& folder, const std::vector<std::string>& uuids) {
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    if (std::any_of(uuids.begin(), uuids.end(), [&](const auto& uuid) { return claimed(folder, uuid); }))
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<Leadership> take_leadership(const std::filesystem::path& folder, std::vector<std::string> uuids,
                                   const Claim& claim) {
  const auto asking = open_lock(folder / "leaders.lock");
  if (!asking) return fail(asking.error());
  if (const auto locked = lock_soon(*asking); !locked) return fail(locked.error());
  Leadership leadership;
  std::sort(uuids.begin(), uuids.end());
  for (auto& uuid : uuids) {
    auto lock = open_lock(folder / cat("leader-", uuid, ".lock"));
    if (!lock) return fail(lock.error());
    if (lock_at_once(*lock)) {
      write_claim(*lock, claim);
      leadership.locks.push_back(std::move(*lock));
    } else if (Claim holder = read_claim(*lock); of_our_job(holder, claim)) {
      leadership.leader = std::move(holder);
      continue;
    }
    leadership.uuids.push_back(std::move(uuid));
  }
  return leadership;
}

}  // namespace rubato::cli
