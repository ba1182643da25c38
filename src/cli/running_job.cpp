#include "cli/running_job.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/process_tree.h"
#include "base/text.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

/// By the clock that /proc/PID/stat counts its beginning in.
std::optional<Seconds> age_of(const FsRoot& root, pid_t pid) {
  const auto began = beginning_of(root, pid);
  const auto uptime = root.read("/proc/uptime");
  if (!began || !uptime) return std::nullopt;
  const double since_boot = std::strtod(uptime->c_str(), nullptr);
  return Seconds(
      std::max(0.0, since_boot - static_cast<double>(*began) / static_cast<double>(sysconf(_SC_CLK_TCK))));
}

}  // namespace

Result<RunningJob> running_job(pid_t pid, const FsRoot& root) {
  const auto line = root.read(cat("/proc/", pid, "/cmdline"));
  if (!line) return fail(Error{ErrorCode::not_found, cat("there is no process ", pid), "ps lists them"});
  // Tools like htop show threads beside processes.
  if (const auto process = process_of_thread(root, pid); process && *process != pid)
    return fail(Error{ErrorCode::invalid_argument, cat(pid, " is a thread of process ", *process),
                      cat("--pid ", *process)});
  RunningJob out;
  out.pid = pid;
  // A zombie, or a thread of the kernel.
  if (line->empty())
    return fail(Error{ErrorCode::not_found,
                      cat("process ", pid, " runs no program: it has ended, or is the kernel's own"),
                      "ps lists them"});
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
  if (job.age) out += cat(", which has run for ", report::text_of(*job.age));
  return cat(out, ": ", report::command_line(job.command));
}

}  // namespace rubato::cli
