#include "base/runtime_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"

namespace rubato {
namespace {

std::filesystem::path wanted_path() {
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime != nullptr && runtime[0] == '/')
    return std::filesystem::path(runtime) / "rubato";
  const char* temporary = std::getenv("TMPDIR");
  const std::filesystem::path base = temporary != nullptr && temporary[0] == '/' ? temporary : "/tmp";
  return base / cat("rubato-", ::geteuid());
}

}  // namespace

Result<std::filesystem::path> private_folder(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(from_errno(errno, cat("cannot make the folder ", path.string())));
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0)
    return fail(from_errno(errno, cat("cannot look at ", path.string())));
  const auto refuse = [&](std::string_view why) {
    return fail(
        ErrorCode::no_permission, cat(path.string(), " ", why, ", and rubato trusts no such folder"),
        cat("look at it with `ls -ld ", path.string(), "`, then move it away or set XDG_RUNTIME_DIR"));
  };
  if (S_ISLNK(info.st_mode)) return refuse("is a symbolic link");
  if (!S_ISDIR(info.st_mode)) return refuse("is not a folder");
  if (info.st_uid != ::geteuid()) return refuse(cat("belongs to uid ", info.st_uid));
  if ((info.st_mode & 0022) != 0) return refuse("can be written by others");
  return path;
}

Result<std::filesystem::path> runtime_folder() {
  return private_folder(wanted_path());
}

}  // namespace rubato
