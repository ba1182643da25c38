#include "exporter/access_token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::exporter {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kShortest = 16;
constexpr std::size_t kLongest = 256;
// Read by others, written by the group: a secret is neither.
constexpr mode_t kTooOpen = S_IWGRP | S_IRWXO;

bool is_token_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

Result<std::string> read_token(const ScopedFd& fd, const fs::path& file) {
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return fail(from_errno(errno, cat("cannot read ", file.string())));
  if (!S_ISREG(info.st_mode) || (info.st_uid != geteuid() && info.st_uid != 0) ||
      (info.st_mode & kTooOpen) != 0)
    return fail(ErrorCode::no_permission,
                cat("the token in ", file.string(),
                    " is no secret: the file has to be this user's or root's, and ", "closed to others"),
                cat("chmod 600 ", file.string(), ", and a new token in it if others could read it"));
  std::array<char, kLongest + 2> text{};
  const ssize_t got = read(fd.get(), text.data(), text.size());
  if (got < 0) return fail(from_errno(errno, cat("cannot read ", file.string())));
  const std::string token(trim(std::string_view(text.data(), static_cast<std::size_t>(got))));
  if (token.size() < kShortest || token.size() > kLongest || !std::ranges::all_of(token, is_token_letter))
    return fail(ErrorCode::invalid_argument,
                cat(file.string(), " holds no token: one is ", kShortest, " to ", kLongest,
                    " letters, digits, - and _ in one line"),
                cat("remove it, or: openssl rand -hex 32 > ", file.string()));
  return token;
}

Result<std::string> make_token(const ScopedFd& fd, const fs::path& file) {
  std::array<unsigned char, 32> bytes{};
  // Not more than 256 bytes come whole or not at all (getrandom(2)). By its number, as glibc before 2.25 has
  // no such function.
  if (syscall(SYS_getrandom, bytes.data(), bytes.size(), 0) != static_cast<long>(bytes.size()))
    return fail(from_errno(errno, "the kernel gives no random bytes"));
  std::string token;
  for (const unsigned char byte : bytes) token += hex(byte, 2);
  const std::string line = token + "\n";
  if (write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    const Error error = from_errno(errno, cat("cannot write ", file.string()));
    unlink(file.c_str());
    return fail(error);
  }
  return token;
}

}  // namespace

Result<std::string> access_token(const fs::path& file, bool make) {
  const ScopedFd there(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (there.is_open()) return read_token(there, file);
  if (errno != ENOENT || !make)
    return fail(from_errno(errno, cat("cannot read the token in ", file.string()),
                           "a file with one line: openssl rand -hex 32"));
  const ScopedFd fresh(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fresh.is_open()) return fail(from_errno(errno, cat("cannot write the token to ", file.string())));
  return make_token(fresh, file);
}

bool same_token(std::string_view given, std::string_view right) {
  std::size_t wrong = given.size() ^ right.size();
  for (std::size_t i = 0; i < given.size(); ++i)
    wrong |= static_cast<std::size_t>(static_cast<unsigned char>(given[i]) ^
                                      static_cast<unsigned char>(right[i % right.size()]));
  return wrong == 0;
}

}  // namespace rubato::exporter
