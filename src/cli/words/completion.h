// Scripts for shells, from the tree of options as it is.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rubato::cli {

/// What stands for values whose names the tree alone does not know.
struct KnownValues {
  std::vector<std::string> profiles;   // behind "sim:"
  std::vector<std::string> workloads;  // of the simulated trainer
};

[[nodiscard]] std::string bash_completion(const CLI::App& app, const KnownValues& known);
[[nodiscard]] std::string zsh_completion(const CLI::App& app, const KnownValues& known);
[[nodiscard]] std::string fish_completion(const CLI::App& app, const KnownValues& known);

}  // namespace rubato::cli
