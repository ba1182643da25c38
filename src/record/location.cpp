#include "record/location.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "record/writer.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

constexpr const char* kElsewhere =
    "point XDG_STATE_HOME at a folder you can write to: XDG_STATE_HOME=/tmp/rubato-state rubato …";

// statfs(2) and linux/magic.h; Lustre, GPFS and BeeGFS from their own kernel modules.
constexpr std::array<std::uint32_t, 12> kNetworkMagics = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x00c36400,  // Ceph
    0x5346414f,  // AFS
    0x6b414653,  // kAFS
    0x01021997,  // 9P
    0x65735546,  // FUSE: sshfs cannot be told from the others here, and a copy at the end harms none of them
};

Status copy_and_sync(const fs::path& from, const fs::path& to) {
  const ScopedFd in(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.is_open()) return fail(from_errno(errno, cat("cannot read ", from.string())));
  const ScopedFd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!out.is_open()) return fail(from_errno(errno, cat("cannot create ", to.string()), kElsewhere));
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t got = ::read(in.get(), buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0) return fail(from_errno(errno, cat("cannot read ", from.string())));
    for (ssize_t done = 0; done < got;) {
      const ssize_t put = ::write(out.get(), buffer.data() + done, static_cast<std::size_t>(got - done));
      if (put < 0) return fail(from_errno(errno, cat("cannot write ", to.string()), kElsewhere));
      done += put;
    }
  }
  if (::fsync(out.get()) != 0) return fail(from_errno(errno, cat("cannot sync ", to.string()), kElsewhere));
  return {};
}

}  // namespace

Result<fs::path> default_directory() {
  // The XDG base directory rules: a relative path counts as not set.
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && fs::path(state).is_absolute()) return fs::path(state) / "rubato" / "runs";
  const char* home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute()) return fs::path(home) / ".local/state/rubato/runs";
  return fail(ErrorCode::not_found,
              "no folder for run records: neither XDG_STATE_HOME nor HOME names an absolute path",
              kElsewhere);
}

bool on_network_file_system(const fs::path& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  return std::ranges::find(kNetworkMagics, static_cast<std::uint32_t>(info.f_type)) != kNetworkMagics.end();
}

Status make_private_folders(const fs::path& folder) {
  fs::path so_far;
  for (const fs::path& part : folder) {
    so_far /= part;
    struct stat there {};
    if (::stat(so_far.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) continue;
    if (::mkdir(so_far.c_str(), 0700) == 0) continue;
    const int number = errno;
    // Another run may have made it in between.
    if (::stat(so_far.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) continue;
    return fail(
        from_errno(number, cat("cannot create folder ", so_far.string(), " for run records"), kElsewhere));
  }
  return {};
}

Result<fs::path> make_scratch_folder(const fs::path& parent) {
  std::string name = (parent / "rubato-record-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail(from_errno(errno, cat("cannot create a folder in ", parent.string()),
                           "point TMPDIR at a local folder you can write to"));
  return fs::path(name);
}

Status move_into_place(const fs::path& from, const fs::path& to) {
  const fs::path part = to.parent_path() / cat(".", to.filename().string(), ".part");
  if (const Status copied = copy_and_sync(from, part); !copied) {
    ::unlink(part.c_str());
    return copied;
  }
  if (::rename(part.c_str(), to.c_str()) != 0) {
    const Error error =
        from_errno(errno, cat("cannot rename ", part.string(), " to ", to.string()), kElsewhere);
    ::unlink(part.c_str());
    return fail(error);
  }
  ::unlink(from.c_str());
  return {};
}

}  // namespace rubato::record
