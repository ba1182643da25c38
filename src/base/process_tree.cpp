#include "base/process_tree.h"

#include <string_view>

#include "base/text.h"

namespace rubato {

// Field 4 of /proc/PID/stat; the second field, the name, may hold spaces and brackets, so read behind the
// last one.
std::optional<pid_t> parent_of(const FsRoot& root, pid_t pid) {
  const auto stat = root.read(cat("/proc/", pid, "/stat"));
  if (!stat) return std::nullopt;
  const auto behind_name = stat->rfind(") ");
  if (behind_name == std::string::npos) return std::nullopt;
  const auto fields = split(std::string_view(*stat).substr(behind_name + 2), ' ');
  if (fields.size() < 2) return std::nullopt;
  const auto parent = parse_integer(fields[1]);
  if (!parent) return std::nullopt;
  return static_cast<pid_t>(*parent);
}

}  // namespace rubato
