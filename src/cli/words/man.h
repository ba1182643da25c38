// Manual pages in the man macros, from the same tree and pages as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace rubato::cli {

/// "rubato", "rubato-sim-train": the page's name without its section.
[[nodiscard]] std::string man_name(const CLI::App& app);

/// Section 1. Nothing in it depends on when or where it was made.
[[nodiscard]] std::string man_page(const CLI::App& app, std::string_view version);

}  // namespace rubato::cli
