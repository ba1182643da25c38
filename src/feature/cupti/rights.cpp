#include "feature/cupti/rights.h"

#include "base/text.h"

namespace rubato::feature::cupti {
namespace {

constexpr unsigned kCapSysAdmin = 21;  // linux/capability.h

/// The rest of the line that begins with `key`.
std::optional<std::string> line_of(const Result<std::string>& text, std::string_view key) {
  if (!text) return std::nullopt;
  for (const std::string& line : split(*text, '\n'))
    if (line.starts_with(key)) return std::string(trim(std::string_view(line).substr(key.size())));
  return std::nullopt;
}

}  // namespace

Status counting_right(const FsRoot& root) {
  const auto only_admins = line_of(root.read("/proc/driver/nvidia/params"), "RmProfilingAdminOnly:");
  if (!only_admins || *only_admins == "0") return {};
  // A thread may have dropped what its process leader still has, and the driver looks at the thread.
  const auto mask = line_of(root.read("/proc/thread-self/status"), "CapEff:");
  const auto capabilities = mask ? parse_hex(*mask) : std::nullopt;
  if (!capabilities || (*capabilities >> kCapSysAdmin & 1U) != 0) return {};
  return fail(ErrorCode::no_permission,
              "the driver lets only administrators count (RmProfilingAdminOnly is 1), and this process lacks "
              "CAP_SYS_ADMIN",
              "run rubato as root with --as-root, or load the nvidia module with "
              "NVreg_RestrictProfilingToAdminUsers=0");
}

}  // namespace rubato::feature::cupti
