#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"

namespace rubato::cli {
namespace {

constexpr std::size_t kBuffer = 65536;  // bytes

tl::unexpected<Error> already_there(const std::filesystem::path& target) {
  return fail(ErrorCode::conflict, cat(target.string(), " is already there"),
              "choose another name, or replace it with --force");
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& target, bool overwrite) {
  if (target == "-") return OutputFile(ScopedFd(), STDOUT_FILENO, "standard output", {}, true);
  struct stat there {};
  const bool exists = stat(target.c_str(), &there) == 0;
  const auto cannot = [&] { return fail(from_errno(errno, cat("cannot write ", target))); };
  if (exists && !S_ISREG(there.st_mode)) {
    ScopedFd stream(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!stream.is_open()) return cannot();
    const int fd = stream.get();
    return OutputFile(std::move(stream), fd, target, {}, true);
  }
  if (exists && !overwrite) return already_there(target);
  // What a link leads to is replaced, and not the link, unless somebody else laid it there; who may read a
  // file stays as it was.
  struct stat link {};
  const bool own_link =
      lstat(target.c_str(), &link) == 0 && S_ISLNK(link.st_mode) && link.st_uid == geteuid();
  std::error_code unresolved;
  std::filesystem::path place =
      exists && own_link ? std::filesystem::canonical(target, unresolved) : std::filesystem::path(target);
  if (unresolved) place = target;
  const std::string part = cat(place.string(), ".", getpid(), ".part");
  ScopedFd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.is_open()) return cannot();
  const int fd = file.get();
  OutputFile opened(std::move(file), fd, place, part, overwrite);
  const bool own = exists && there.st_uid == geteuid() && (own_link || !S_ISLNK(link.st_mode));
  if (own && fchmod(fd, there.st_mode & 0777U) != 0) return cannot();
  return opened;
}

Status OutputFile::check(const std::string& target) {
  struct stat there {};
  // A reader at the other end of a pipe would take what opens and closes it for all there is.
  if (target == "-" || (stat(target.c_str(), &there) == 0 && S_ISFIFO(there.st_mode))) return {};
  const auto opened = open(target, true);
  return opened ? Status() : fail(opened.error());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::move(other.file_)),
      fd_(other.fd_),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      overwrite_(other.overwrite_),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (!part_.empty()) unlink(part_.c_str());
}

Status OutputFile::write(std::string_view text) {
  buffer_ += text;
  return buffer_.size() < kBuffer ? Status() : flush();
}

Status OutputFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(from_errno(errno, cat("cannot write ", target_.string())));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return {};
}

Status OutputFile::finish() {
  if (const Status flushed = flush(); !flushed) return flushed;
  if (part_.empty()) return {};
  // Somebody may have made the file meanwhile; file systems without this flag get the plain rename.
  // By number: glibc names the call since 2.28 only.
  const bool replaced = !overwrite_ && syscall(SYS_renameat2, AT_FDCWD, part_.c_str(), AT_FDCWD,
                                               target_.c_str(), RENAME_NOREPLACE) == 0;
  if (!replaced) {
    if (!overwrite_ && errno == EEXIST) return already_there(target_);
    if (rename(part_.c_str(), target_.c_str()) != 0)
      return fail(from_errno(errno, cat("cannot write ", target_.string())));
  }
  part_.clear();
  return {};
}

Status write_file(const std::string& target, bool overwrite,
                  const std::function<Status(report::Sink&)>& fill) {
  auto out = OutputFile::open(target, overwrite);
  if (!out) return fail(out.error());
  if (Status filled = fill(*out); !filled) return filled;
  return out->finish();
}

}  // namespace rubato::cli
