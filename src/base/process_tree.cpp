#include "base/process_tree.h"

#include <string>
#include <string_view>
#include <vector>

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

/// The figures of one line of /proc/PID/status, of which there is at least one (proc(5)).
std::optional<std::vector<std::string>> line_of_status(const FsRoot& root, pid_t pid, std::string_view name) {
  const auto status = root.read(cat("/proc/", pid, "/status"));
  if (!status) return std::nullopt;
  for (const std::string& line : split(*status, '\n'))
    if (line.starts_with(name)) return split(trim(std::string_view(line).substr(name.size())), '\t');
  return std::nullopt;
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
  // Real, effective, saved and the file system's.
  const auto figures = line_of_status(root, pid, "Uid:");
  if (!figures || figures->size() < 2) return std::nullopt;
  const auto real = parse_integer((*figures)[0]);
  const auto effective = parse_integer((*figures)[1]);
  if (!real || !effective) return std::nullopt;
  return ProcessUsers{static_cast<uid_t>(*real), static_cast<uid_t>(*effective)};
}

std::optional<pid_t> process_of_thread(const FsRoot& root, pid_t thread) {
  const auto figures = line_of_status(root, thread, "Tgid:");
  const auto process = figures ? parse_integer(figures->front()) : std::nullopt;
  return process ? std::optional(static_cast<pid_t>(*process)) : std::nullopt;
}

}  // namespace rubato
