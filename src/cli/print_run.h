// A finished run on the terminal, in a file, or as JSON.
#pragma once

#include <filesystem>
#include <string>

#include "analyse/footprint.h"
#include "base/result.h"
#include "cli/invocation.h"
#include "cli/job_report.h"
#include "cli/report/run_report.h"
#include "report/render.h"

namespace rubato::cli {

/// Colour as terminal_kind.h says; the terminal's width, at most 100 columns.
[[nodiscard]] report::TextOptions text_options(int fd);

/// To `target`: a file, which is replaced, or "fd:N" for a descriptor the caller has open. Where it is empty,
/// to `otherwise`.
[[nodiscard]] Status write_report(std::string_view text, const std::string& target, int otherwise);

/// Why `target` could not be written to later. Nothing is left written or created; a descriptor named is no
/// longer passed on to other programs, but for the standard streams.
[[nodiscard]] Status check_report_target(const std::string& target);

/// Whether a report there is a page with charts, where no JSON is asked for: FILE.html.
[[nodiscard]] bool is_page(std::string_view target);

/// The report of the record in `file` at the end of `run` or `measure`: to `target`, else to standard error
/// where a command ran, whose standard output is its own, else to standard output. --quiet leaves out what
/// nobody asked for: neither with --json nor with a target.
/// `job`: of all its agents, where this run led them; null: none.
void print_run(const Invocation& invocation, const Result<std::filesystem::path>& file,
               const std::string& target, const JobReport* job = nullptr);

/// The same as one string.
[[nodiscard]] Result<std::string> run_report(const std::filesystem::path& file, bool json,
                                             const report::TextOptions& options,
                                             const analyse::Factors& factors = {},
                                             Detail detail = Detail::full, const JobReport* job = nullptr);

}  // namespace rubato::cli
