#include "cli/print_run.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/output_file.h"
#include "cli/records.h"
#include "cli/report/run_page.h"
#include "cli/report/run_report.h"
#include "cli/terminal_kind.h"

namespace rubato::cli {
namespace {

constexpr int kWidest = 100;
constexpr std::string_view kDescriptor = "fd:";

Status put(int fd, std::string_view text, const std::string& target) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    // Nobody reads any more: no reason to fail, the record is there.
    if (written < 0 && errno == EPIPE) return {};
    if (written <= 0) return fail(from_errno(errno, cat("the report could not be written to ", target)));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::optional<int>> descriptor(const std::string& target) {
  if (!target.starts_with(kDescriptor)) return std::optional<int>();
  const auto number = parse_integer(std::string_view(target).substr(kDescriptor.size()));
  const int fd = number && *number >= 0 && *number < 1 << 20 ? static_cast<int>(*number) : -1;
  const int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
    return fail(ErrorCode::invalid_argument, cat("--report ", target, " is not open for writing"),
                "open it in the shell, as in: rubato measure --json --report fd:3 -- COMMAND 3> run.json");
  }
  return std::optional(fd);
}

Status write_page(const std::filesystem::path& file, const std::string& target) {
  const auto read = read_summarised(file);
  if (!read) return fail(read.error());
  return write_file(target, true, [&](report::Sink& to) {
    return write_run_page({read->run, read->summary, read->running}, {}, to);
  });
}

void warn_of(const Error& error, const std::filesystem::path& record) {
  log::warning(Error{error.code, error.what, cat("rubato show ", record.stem().string())});
}

}  // namespace

report::TextOptions text_options(int fd) {
  report::TextOptions options;
  options.colour = wants_colour(fd);
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    options.width = std::min<int>(size.ws_col, kWidest);
  return options;
}

Status write_report(std::string_view text, const std::string& target, int otherwise) {
  if (target.empty()) return put(otherwise, text, "the terminal");
  const auto named = descriptor(target);
  if (!named) return fail(named.error());
  if (*named) return put(**named, text, target);
  const ScopedFd fd(open(target.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd.is_open()) return fail(from_errno(errno, cat("the report could not be written to ", target)));
  return put(fd.get(), text, target);
}

Status check_report_target(const std::string& target) {
  const auto named = descriptor(target);
  if (!named) return fail(named.error());
  if (*named) {
    // Whoever reads a pipe there waits for its end, which the job and the guard must not hold open. The
    // standard streams are the job's too.
    if (**named > STDERR_FILENO) fcntl(**named, F_SETFD, FD_CLOEXEC);
    return {};
  }
  std::error_code ignored;
  if (target.empty() || std::filesystem::is_directory(target, ignored))
    return fail(ErrorCode::invalid_argument, cat("--report ", target, " is no file name"), {});
  // What is there is written into, but a page is made beside it first.
  const bool into = access(target.c_str(), F_OK) == 0 && !is_page(target);
  const Status fine = !into ? OutputFile::check(target)
                      : access(target.c_str(), W_OK) == 0
                          ? Status()
                          : fail(from_errno(errno, cat("cannot write ", target)));
  if (fine) return {};
  return fail(fine.error().code, cat("--report: ", fine.error().what), {});
}

bool is_page(std::string_view target) {
  return target.ends_with(".html") && !target.starts_with(kDescriptor);
}

Result<std::string> run_report(const std::filesystem::path& file, bool json,
                               const report::TextOptions& options, const analyse::Factors& factors,
                               Detail detail, const JobReport* job) {
  const auto read = read_summarised(file);
  if (!read) return fail(read.error());
  if (!json) {
    std::string text = run_report_text(read->run, read->summary, options, read->running, factors, detail);
    return job == nullptr ? text : cat(text, "\n", job_report_text(*job));
  }
  report::Value value = run_report_json(read->run, read->summary, read->running, factors);
  if (const auto* object = value.as<report::Object>(); job != nullptr && object != nullptr) {
    report::Object with_job = *object;
    with_job.set("job", job_report_json(*job));
    value = std::move(with_job);
  }
  return report::render_json(value);
}

void print_run(const Invocation& invocation, const Result<std::filesystem::path>& file,
               const std::string& target, const JobReport* job) {
  if (invocation.quiet && target.empty() && !invocation.json) return;
  if (!file) {
    log::warning(Error{file.error().code, cat("no report: ", file.error().what), file.error().hint});
    return;
  }
  if (is_page(target) && !invocation.json) {
    if (const Status written = write_page(*file, target); !written) warn_of(written.error(), *file);
    // The page is of this process' GPUs.
    if (job != nullptr && !invocation.quiet)
      static_cast<void>(write_report(job_report_text(*job), {}, STDERR_FILENO));
    return;
  }
  const int stream = invocation.command.empty() ? STDOUT_FILENO : STDERR_FILENO;
  const auto report =
      run_report(*file, invocation.json, target.empty() ? text_options(stream) : report::TextOptions{}, {},
                 Detail::brief, job);
  if (!report) {
    log::warning(report.error());
    return;
  }
  if (const auto written = write_report(*report, target, stream); !written) warn_of(written.error(), *file);
}

}  // namespace rubato::cli
