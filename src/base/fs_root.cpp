#include "base/fs_root.h"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "base/fd.h"

namespace rubato {

std::filesystem::path FsRoot::path(std::string_view absolute) const {
  while (!absolute.empty() && absolute.front() == '/') absolute.remove_prefix(1);
  return root_ / absolute;
}

Result<std::string> FsRoot::read(std::string_view absolute) const {
  return read_small_file(path(absolute));
}

bool FsRoot::exists(std::string_view absolute) const {
  std::error_code ignored;
  return std::filesystem::exists(path(absolute), ignored);
}

Result<std::string> read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t kMost = 1U << 20U;
  const ScopedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return fail(from_errno(errno, "cannot open " + path.string()));
  std::string content;
  std::array<char, 4096> buffer{};
  while (content.size() < kMost) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(from_errno(errno, "cannot read " + path.string()));
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return fail(ErrorCode::io, path.string() + " is larger than 1 MiB, which no file read this way should be");
}

}  // namespace rubato
