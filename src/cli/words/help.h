// `--help` of every command, from the tree of options and its page.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace rubato::cli {

[[nodiscard]] std::string help_text(const CLI::App& app, int width);

/// Makes CLI11 print help_text() at the width of the terminal, 80 columns where there is none.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter(int width);

}  // namespace rubato::cli
