#include "cli/running_job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/process_tree.h"
#include "base/text.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

constexpr double kMinute = 60;
constexpr double kHour = 3600;

/// By the clock that /proc/PID/stat counts its beginning in.
std::optional<Seconds> age_of(const FsRoot& root, pid_t pid) {
  const auto began = beginning_of(root, pid);
  const auto uptime = root.read("/proc/uptime");
  if (!began || !uptime) return std::nullopt;
  const double since_boot = std::strtod(uptime->c_str(), nullptr);
  return Seconds(
      std::max(0.0, since_boot - static_cast<double>(*began) / static_cast<double>(sysconf(_SC_CLK_TCK))));
}

/// The process that a thread belongs to: /proc/PID is there for the number of a thread too (proc(5)), which
/// tools like htop show beside those of processes.
std::optional<pid_t> process_of(const FsRoot& root, pid_t pid) {
  const auto status = root.read(cat("/proc/", pid, "/status"));
  if (!status) return std::nullopt;
  for (const std::string& line : split(*status, '\n'))
    if (line.starts_with("Tgid:"))
      if (const auto number = parse_integer(trim(std::string_view(line).substr(5))))
        return static_cast<pid_t>(*number);
  return std::nullopt;
}

std::string in_words(Seconds age) {
  if (age.value() >= kHour) return cat(number(age.value() / kHour, 1), " h");
  if (age.value() >= kMinute) return cat(number(age.value() / kMinute, 1), " min");
  return cat(number(age.value(), 1), " s");
}

}  // namespace

Result<RunningJob> running_job(pid_t pid, const FsRoot& root) {
  const auto line = root.read(cat("/proc/", pid, "/cmdline"));
  if (!line) return fail(Error{ErrorCode::not_found, cat("there is no process ", pid), "ps lists them"});
  if (const auto process = process_of(root, pid); process && *process != pid)
    return fail(Error{ErrorCode::invalid_argument, cat(pid, " is a thread of process ", *process),
                      cat("--pid ", *process)});
  RunningJob out;
  out.pid = pid;
  // A zombie, or a thread of the kernel.
  if (line->empty())
    return fail(
        Error{ErrorCode::not_found, cat("process ", pid, " runs no program any more"), "ps lists them"});
  out.command = split(*line, '\0');
  if (out.command.back().empty()) out.command.pop_back();  // every argument ends with NUL
  std::error_code hidden;
  const auto folder = std::filesystem::read_symlink(root.path(cat("/proc/", pid, "/cwd")), hidden);
  if (!hidden) out.working_directory = folder.string();
  out.age = age_of(root, pid);
  return out;
}

std::string describe(const RunningJob& job) {
  std::string out = cat("process ", job.pid);
  if (job.age) out += cat(", which has run for ", in_words(*job.age));
  return cat(out, ": ", report::command_line(job.command));
}

}  // namespace rubato::cli
