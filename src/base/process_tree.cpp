#include "base/process_tree.h"

#include <string_view>

#include "base/text.h"

namespace rubato {
namespace {

/// Of /proc/PID/stat, counted from one as in proc(5). The second field, the name, may hold spaces and
/// brackets, so read behind the last one.
std::optional<std::int64_t> field_of_stat(const FsRoot& root, pid_t pid, std::size_t number) {
  constexpr std::size_t kFirstBehindName = 3;
  const auto stat = root.read(cat("/proc/", pid, "/stat"));
  if (!stat) return std::nullopt;
  const auto behind_name = stat->rfind(") ");
  if (behind_name == std::string::npos) return std::nullopt;
  const auto fields = split(std::string_view(*stat).substr(behind_name + 2), ' ');
  const std::size_t place = number - kFirstBehindName;
  return place < fields.size() ? parse_integer(trim(fields[place])) : std::nullopt;
}

}  // namespace

std::optional<pid_t> parent_of(const FsRoot& root, pid_t pid) {
  constexpr std::size_t kParent = 4;
  const auto parent = field_of_stat(root, pid, kParent);
  if (!parent) return std::nullopt;
  return static_cast<pid_t>(*parent);
}

std::optional<std::int64_t> beginning_of(const FsRoot& root, pid_t pid) {
  constexpr std::size_t kBeginning = 22;
  return field_of_stat(root, pid, kBeginning);
}

std::optional<ProcessUsers> users_of(const FsRoot& root, pid_t pid) {
  const auto status = root.read(cat("/proc/", pid, "/status"));
  if (!status) return std::nullopt;
  // "Uid:", then real, effective, saved and the file system's (proc(5)).
  for (const std::string& line : split(*status, '\n')) {
    if (!line.starts_with("Uid:")) continue;
    const auto figures = split(trim(std::string_view(line).substr(4)), '\t');
    if (figures.size() < 2) return std::nullopt;
    const auto real = parse_integer(trim(figures[0]));
    const auto effective = parse_integer(trim(figures[1]));
    if (!real || !effective) return std::nullopt;
    return ProcessUsers{static_cast<uid_t>(*real), static_cast<uid_t>(*effective)};
  }
  return std::nullopt;
}

}  // namespace rubato
