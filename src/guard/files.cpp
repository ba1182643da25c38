#include "guard/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/text.h"

namespace rubato::guard {
namespace {

constexpr std::size_t kLargestFile = 16U << 20U;

Status status_of(int result, std::string_view doing) {
  if (result == 0) return {};
  return fail(from_errno(errno, std::string(doing)));
}

}  // namespace

Status FileOps::make_folder(const std::filesystem::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail(from_errno(errno, "cannot make the folder " + path.string()));
}

Result<ScopedFd> FileOps::open_folder(const std::filesystem::path& path) {
  ScopedFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open()) return fail(from_errno(errno, "cannot open the folder " + path.string()));
  return fd;
}

Status FileOps::set_mode(int fd, mode_t mode) {
  return status_of(::fchmod(fd, mode), "cannot set the mode of a folder");
}

Result<ScopedFd> FileOps::open(int folder, const std::string& name, int flags, mode_t mode) {
  // O_NONBLOCK: somebody's FIFO under this name must not hold the guard.
  ScopedFd fd(::openat(folder, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode));
  if (!fd.is_open()) return fail(from_errno(errno, "cannot open " + name));
  return fd;
}

Result<FileFacts> FileOps::facts(int fd) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) return fail(from_errno(errno, "cannot look at an open file"));
  return FileFacts{S_ISDIR(found.st_mode), S_ISREG(found.st_mode), found.st_uid, found.st_mode & 07777U,
                   static_cast<std::uint64_t>(found.st_size)};
}

Result<std::vector<std::string>> FileOps::list(int folder) {
  // Opened anew because reading a folder moves the position all users of a descriptor share.
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) {
    const Error error = from_errno(errno, "cannot list the journal folder");
    if (fd >= 0) ::close(fd);
    return fail(error);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream)) names.emplace_back(entry->d_name);
  ::closedir(stream);
  return names;
}

Result<std::string> FileOps::read_all(int fd) {
  std::string content;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(content.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(from_errno(errno, "cannot read a journal"));
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > kLargestFile) return fail(ErrorCode::corrupt, "a journal is larger than 16 MiB");
  }
}

Status FileOps::append(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(from_errno(errno, "cannot write to a journal"));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status FileOps::sync(int fd) {
  return status_of(::fsync(fd), "cannot sync a journal");
}

Status FileOps::truncate(int fd, std::uint64_t size) {
  return status_of(::ftruncate(fd, static_cast<off_t>(size)), "cannot shorten a journal");
}

Status FileOps::rename(int folder, const std::string& from, const std::string& to) {
  // By number: glibc names it since 2.28 only.
  if (::syscall(SYS_renameat2, folder, from.c_str(), folder, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST) return fail(ErrorCode::conflict, to + " exists already");
  return fail(from_errno(errno, "cannot move " + from + " to " + to));
}

Status FileOps::replace(int folder, const std::string& from, const std::string& to) {
  return status_of(::renameat(folder, from.c_str(), folder, to.c_str()),
                   "cannot put " + from + " in the place of " + to);
}

Status FileOps::remove(int folder, const std::string& name) {
  return status_of(::unlinkat(folder, name.c_str(), 0), "cannot remove " + name);
}

Status FileOps::lock(int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return fail(ErrorCode::busy, "another process holds the lock");
    if (errno != EINTR) return fail(from_errno(errno, "cannot lock a file"));
  }
  return {};
}

Folder::Folder(std::filesystem::path path, ScopedFd fd, std::shared_ptr<FileOps> files)
    : path_(std::move(path)), fd_(std::make_shared<ScopedFd>(std::move(fd))), files_(std::move(files)) {}

Result<Folder> Folder::make(const std::filesystem::path& path, mode_t mode, std::shared_ptr<FileOps> files) {
  if (const Status made = files->make_folder(path, mode); !made) return fail(made.error());
  auto folder = open(path, std::move(files));
  if (!folder) return folder;
  const auto facts = folder->files().facts(folder->fd());
  // One that others cannot read is a folder all the same, and no reason to leave a GPU alone.
  if (facts && (mode & ~facts->mode) != 0) (void)folder->files().set_mode(folder->fd(), facts->mode | mode);
  return folder;
}

Result<Folder> Folder::open(const std::filesystem::path& path, std::shared_ptr<FileOps> files) {
  auto fd = files->open_folder(path);
  if (!fd) return fail(fd.error());
  const auto facts = files->facts(fd->get());
  if (!facts) return fail(facts.error());
  if (facts->owner != ::geteuid() || (facts->mode & 022U) != 0) {
    return fail(ErrorCode::no_permission,
                cat("the journal folder ", path.string(), " belongs to user ", facts->owner,
                    (facts->mode & 022U) != 0 ? " and others may write to it" : "", "; it must be user ",
                    ::geteuid(), "'s own, writable by nobody else"),
                "remove that folder, or correct its owner and mode, and start again");
  }
  return Folder(path, std::move(*fd), std::move(files));
}

Result<ScopedFd> Folder::open_file(const std::string& name, int flags) const {
  const std::string full = (path_ / name).string();
  auto fd = files_->open(fd_->get(), name, flags, 0600);
  if (!fd) {
    Error error = fd.error();
    error.what = full + ": " + error.what;
    return fail(std::move(error));
  }
  const auto facts = files_->facts(fd->get());
  if (!facts) return fail(facts.error());
  if (!facts->is_regular || facts->owner != ::geteuid() || (facts->mode & 022U) != 0) {
    return fail(ErrorCode::no_permission,
                cat(full, " is no regular file of user ", ::geteuid(), " that only this user can write"),
                "look at who put it there, then remove it");
  }
  return fd;
}

Status check_file_name(std::string_view uuid) {
  constexpr std::size_t kLongest = 96;
  bool fine = uuid.size() <= kLongest && uuid.starts_with("GPU-");
  for (const char c : uuid) {
    fine = fine && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                    c == '_');
  }
  if (fine) return {};
  return fail(ErrorCode::invalid_argument,
              cat("'", uuid, "' is no UUID of a whole GPU: 'GPU-', then letters, digits, '-' and '_'"),
              "list them with `rubato devices`");
}

}  // namespace rubato::guard
