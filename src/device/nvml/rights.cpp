#include "device/nvml/rights.h"

#include <optional>
#include <sstream>

#include "base/text.h"

namespace rubato::device::nvml {
namespace {

constexpr unsigned kCapSysAdmin = 21;  // linux/capability.h
constexpr std::string_view kHowToGetIt = "use 'rubato run --sudo'; 'rubato doctor' shows the rights";

std::optional<std::uint64_t> effective_capabilities(const FsRoot& root) {
  // A thread may have dropped what its process leader still has, and the driver looks at the thread.
  auto status = root.read("/proc/thread-self/status");
  if (!status) status = root.read("/proc/self/status");
  if (!status) return std::nullopt;
  constexpr std::string_view kKey = "CapEff:";
  for (const std::string& line : split(*status, '\n'))
    if (line.starts_with(kKey)) return parse_hex(trim(std::string_view(line).substr(kKey.size())));
  return std::nullopt;
}

/// Absent where the kernel has no user namespaces, and then there is only the initial one.
bool in_initial_user_namespace(const FsRoot& root) {
  const auto map = root.read("/proc/self/uid_map");
  if (!map) return true;
  std::istringstream words(*map);
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  words >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == 4294967295U;
}

}  // namespace

Capability setting_right(const FsRoot& root) {
  const auto effective = effective_capabilities(root);
  if (!effective) {
    return Capability::forbidden(
        "cannot tell whether this process has CAP_SYS_ADMIN: /proc/self/status has no CapEff",
        "mount /proc, then run 'rubato doctor'");
  }
  if ((*effective >> kCapSysAdmin & 1U) == 0)
    return Capability::forbidden("needs CAP_SYS_ADMIN, which this process lacks", std::string(kHowToGetIt));
  if (!in_initial_user_namespace(root)) {
    return Capability::forbidden(
        "this process runs in a user namespace (a rootless container?), whose CAP_SYS_ADMIN the driver "
        "ignores",
        "run rubato outside the container");
  }
  return Capability::yes();
}

}  // namespace rubato::device::nvml
