#include "cli/print_run.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "analyse/summary.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/report/run_report.h"
#include "record/reader.h"

namespace rubato::cli {
namespace {

constexpr int kWidest = 100;

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads any more; the record is there
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

report::TextOptions text_options(int fd) {
  report::TextOptions options;
  const char* no_color = std::getenv("NO_COLOR");
  options.colour = isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    options.width = std::min<int>(size.ws_col, kWidest);
  return options;
}

Result<std::string> run_report(const std::filesystem::path& file, bool json,
                               const report::TextOptions& options) {
  const auto run = record::read_run(file);
  if (!run) return fail(run.error());
  const auto summary = analyse::summarise(*run);
  return json ? report::render_json(run_report_json(*run, summary)) : run_report_text(*run, summary, options);
}

void print_run(const Invocation& invocation, const Result<std::filesystem::path>& file,
               const std::string& target) {
  if (invocation.quiet && target.empty()) return;
  if (!file) {
    log::warning(Error{file.error().code, cat("no report: ", file.error().what), file.error().hint});
    return;
  }
  const auto report = run_report(*file, invocation.json,
                                 target.empty() ? text_options(STDERR_FILENO) : report::TextOptions{});
  if (!report) {
    log::warning(report.error());
    return;
  }
  if (target.empty()) {
    put(STDERR_FILENO, *report);
    return;
  }
  std::ofstream out(target, std::ios::trunc);
  if (!(out << *report) || !out.flush()) {
    log::warning(Error{ErrorCode::io, cat("the report could not be written to ", target),
                       cat("rubato show ", file->stem().string())});
  }
}

}  // namespace rubato::cli
