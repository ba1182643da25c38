#include "cli/place.h"

#include <optional>
#include <sstream>

#include "base/text.h"
#include "guard/survival.h"

namespace rubato::cli {
namespace {

constexpr unsigned kCapSysAdmin = 21;  // linux/capability.h

struct ProcessRights {
  bool effective = false;  // CAP_SYS_ADMIN now
  bool reachable = false;  // CAP_SYS_ADMIN by some setuid program, sudo among them
  std::optional<std::int64_t> uid;
};

bool has_sys_admin(std::string_view text) {
  return (parse_hex(trim(text)).value_or(0) >> kCapSysAdmin & 1U) != 0;
}

ProcessRights rights_of_this_process(const FsRoot& root) {
  ProcessRights rights;
  const std::string text = root.read("/proc/self/status").value_or("");
  for (const auto& line : split(text, '\n')) {
    const std::string_view view = line;
    if (view.starts_with("CapEff:")) rights.effective = has_sys_admin(view.substr(7));
    if (view.starts_with("CapBnd:")) rights.reachable = has_sys_admin(view.substr(7));
    if (view.starts_with("Uid:")) {  // real, effective, saved, of the file system
      std::istringstream ids{std::string(view.substr(4))};
      std::int64_t real = 0;
      std::int64_t effective = 0;
      if (ids >> real >> effective) rights.uid = effective;
    }
  }
  return rights;
}

bool in_first_user_namespace(const FsRoot& root) {
  const auto map = root.read("/proc/self/uid_map");
  if (!map) return true;  // a kernel without user namespaces
  std::istringstream words(*map);
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  words >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == 4294967295U;
}

bool has_sudo(const FsRoot& root, const std::map<std::string, std::string>& environment) {
  const auto path = environment.find("PATH");
  if (path == environment.end()) return false;
  for (const auto& folder : split(path->second, ':'))
    if (folder.starts_with('/') && root.exists(folder + "/sudo")) return true;
  return false;
}

std::string request_to(std::string_view whom) {
  return cat("rubato doctor --request   # prints a request to mail to ", whom);
}

}  // namespace

std::string_view name_of(Right right) {
  switch (right) {
    case Right::here:
      return "here";
    case Right::withheld:
      return "withheld";
    case Right::scheduler:
      return "scheduler";
    case Right::sudo:
      return "sudo";
    case Right::none:
      return "none";
  }
  return "";
}

std::string Place::in_words() const {
  std::string where = "this machine";
  if (!container.empty())
    where = container == "container" ? "a container" : cat("a ", container, " container");
  if (container.empty() && user_namespace) where = "a user namespace";
  if (!scheduler.empty()) where = cat("a ", scheduler, " job", container.empty() ? "" : cat(" in ", where));
  return cat(where, root ? ", as root" : ", as an ordinary user");
}

Place place(const FsRoot& root, const std::map<std::string, std::string>& environment) {
  const auto survival = guard::survival(root, environment);
  const ProcessRights rights = rights_of_this_process(root);
  Place here;
  here.scheduler = survival.scheduler;
  here.container = survival.container;
  here.user_namespace = !in_first_user_namespace(root);
  here.root = rights.uid == 0;
  // The driver asks for the capability in the first user namespace.
  if (rights.effective && !here.user_namespace)
    here.right = Right::here;
  else if (here.root || !rights.reachable || here.user_namespace)
    here.right = Right::withheld;
  else if (!here.scheduler.empty())
    here.right = Right::scheduler;
  else
    here.right = has_sudo(root, environment) ? Right::sudo : Right::none;
  return here;
}

Error missing_right_here(const Place& place) {
  const std::string container =
      place.container.empty() || place.container == "container" ? "" : place.container + " ";
  switch (place.right) {
    case Right::here:
      return {ErrorCode::no_permission, {}, {}};
    case Right::withheld:
      return {ErrorCode::no_permission,
              place.user_namespace
                  ? cat("root in this ", container,
                        "container is an ordinary user of the host (user namespace), whose CAP_SYS_ADMIN the "
                        "driver ignores; no command here mends it")
                  : cat("the host withholds CAP_SYS_ADMIN from this ",
                        place.container.empty() ? "process" : container + "container",
                        "; no command here mends it"),
              request_to("whoever runs the host")};
    case Right::scheduler:
      return {ErrorCode::no_permission,
              cat("needs CAP_SYS_ADMIN, which an ordinary user of this ", place.scheduler,
                  " node lacks; the administrator can let rubato's guard have it"),
              request_to("the administrator")};
    case Right::sudo:
      return {ErrorCode::no_permission, "needs CAP_SYS_ADMIN, which this process lacks",
              "rubato run --sudo …   # starts the guard, and only the guard, through sudo"};
    case Right::none:
      return {ErrorCode::no_permission,
              "needs CAP_SYS_ADMIN, which this process lacks, and there is no sudo here",
              request_to("the administrator")};
  }
  return {};
}

}  // namespace rubato::cli
