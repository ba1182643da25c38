// A finished run on the terminal, in a file, or as JSON.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "cli/invocation.h"
#include "report/render.h"

namespace rubato::cli {

/// Colour where `fd` is a terminal and NO_COLOR is not set; the terminal's width, at most 100 columns.
[[nodiscard]] report::TextOptions text_options(int fd);

/// The report of the record in `file` at the end of a wrapped run: to `target`, or to standard error where
/// that is empty (standard output is the job's). Nothing with --quiet, unless a target was named.
void print_run(const Invocation& invocation, const Result<std::filesystem::path>& file,
               const std::string& target);

/// The same as one string.
[[nodiscard]] Result<std::string> run_report(const std::filesystem::path& file, bool json,
                                             const report::TextOptions& options);

}  // namespace rubato::cli
