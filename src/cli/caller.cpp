#include "cli/caller.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <limits>

#include "base/log.h"
#include "base/text.h"

namespace rubato::cli {
namespace {

// sudo stays as a parent (or, with a pseudo-terminal of its own, a grandparent) and still has what it was
// given.
std::optional<std::string> environment_of_sudo(const FsRoot& root) {
  constexpr int kFurthest = 3;
  std::int64_t pid = getppid();
  for (int i = 0; i < kFurthest && pid > 1; ++i) {
    const auto name = root.read(cat("/proc/", pid, "/comm"));
    if (name && trim(*name) == "sudo") {
      if (const auto environment = root.read(cat("/proc/", pid, "/environ"))) return *environment;
      return std::nullopt;
    }
    const auto status = root.read(cat("/proc/", pid, "/status"));
    if (!status) return std::nullopt;
    const auto at = status->find("\nPPid:");
    if (at == std::string::npos) return std::nullopt;
    const auto line = std::string_view(*status).substr(at + 6);
    pid = parse_integer(trim(line.substr(0, line.find('\n')))).value_or(0);
  }
  return std::nullopt;
}

void adopt(const std::string& environment) {
  clearenv();
  for (const auto& entry : split(environment, '\0')) {
    const auto equals = entry.find('=');
    if (equals != std::string::npos && equals > 0)
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
}

// The highest one means "leave as it is" to the kernel.
bool is_id(const std::optional<std::int64_t>& id) {
  return id && *id >= 0 && *id < std::numeric_limits<uid_t>::max();
}

Error no_id(std::string_view variable, std::string_view found) {
  return {ErrorCode::invalid_argument,
          cat(variable, " is '", found,
              "', which is no id: whose job this is cannot be told, and as root it "
              "is not started"),
          "unset SUDO_UID to be root, or run without sudo and with --sudo"};
}

}  // namespace

Result<std::optional<Caller>> caller_behind_sudo() {
  const char* uid_text = std::getenv("SUDO_UID");
  if (geteuid() != 0 || uid_text == nullptr) return std::nullopt;
  const auto uid = parse_integer(uid_text);
  if (!is_id(uid)) return fail(no_id("SUDO_UID", uid_text));
  if (*uid == 0) return std::nullopt;
  Caller caller{static_cast<uid_t>(*uid), 0, {}, {}};
  const passwd* entry = getpwuid(caller.uid);
  if (entry != nullptr) {
    caller.gid = entry->pw_gid;
    caller.name = entry->pw_name;
    caller.home = entry->pw_dir;
  }
  if (const char* gid_text = std::getenv("SUDO_GID")) {
    const auto gid = parse_integer(gid_text);
    if (!is_id(gid)) return fail(no_id("SUDO_GID", gid_text));
    caller.gid = static_cast<gid_t>(*gid);
  } else if (entry == nullptr) {
    return fail(no_id("SUDO_GID", "not set"));
  }
  return caller;
}

Status become(const Caller& caller, const FsRoot& root) {
  const auto before_sudo = environment_of_sudo(root);
  if ((caller.name.empty() ? setgroups(1, &caller.gid) : initgroups(caller.name.c_str(), caller.gid)) != 0 ||
      setresgid(caller.gid, caller.gid, caller.gid) != 0 ||
      setresuid(caller.uid, caller.uid, caller.uid) != 0)
    return fail(
        from_errno(errno, cat("cannot become user ", caller.uid, " again"), "use --as-root to stay root"));

  if (before_sudo) {
    adopt(*before_sudo);
    return {};
  }
  if (!caller.home.empty()) setenv("HOME", caller.home.c_str(), 1);
  if (!caller.name.empty()) {
    setenv("USER", caller.name.c_str(), 1);
    setenv("LOGNAME", caller.name.c_str(), 1);
  }
  log::warning(Error{ErrorCode::unavailable,
                     "the environment you had before sudo cannot be read: PATH, LD_LIBRARY_PATH, PYTHONPATH, "
                     "CUDA_VISIBLE_DEVICES, conda and virtualenv variables may be missing for the job",
                     "run without sudo in front and with the option --sudo instead"});
  return {};
}

bool runtime_folder_is_anothers() {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  struct stat info {};
  return geteuid() == 0 && folder != nullptr && stat(folder, &info) == 0 && info.st_uid != 0;
}

Status drop_to_caller() {
  const auto caller = caller_behind_sudo();
  if (!caller) return fail(caller.error());
  return *caller ? become(**caller) : Status();
}

}  // namespace rubato::cli
