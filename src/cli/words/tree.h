// The tree of commands and options as words: what help, man pages, completion and error messages share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rubato::cli {

struct OptionWords {
  std::vector<std::string> shorts;  // "-q"
  std::vector<std::string> longs;   // "--quiet"
  std::string value;                // "W", "RUN"; empty: a flag
  std::vector<std::string> choices;
  std::string description;
  std::string by_default;
  bool required = false;
  bool whole = false;                              // a number without a fraction
  bool positive = false;                           // a number above 0
  bool not_negative = false;                       // 0 or above
  std::optional<std::pair<double, double>> range;  // a number from, to

  [[nodiscard]] std::string label() const;  // "-q, --quiet", "--power-limit W", "RUN"
};

struct CommandWords {
  std::string path;  // "sim train"; empty: rubato itself
  std::string description;
  std::vector<OptionWords> options;
  std::vector<OptionWords> positionals;
  std::vector<const CLI::App*> commands;

  [[nodiscard]] std::string name() const;      // "rubato sim train"
  [[nodiscard]] std::string synopsis() const;  // "rubato sim train [OPTIONS] WORKLOAD"
};

[[nodiscard]] CommandWords words_of(const CLI::App& app);

/// `app` and everything below it, in the order of help.
[[nodiscard]] std::vector<const CLI::App*> all_commands(const CLI::App& app);

/// True where the value is a number: its name says so.
[[nodiscard]] bool is_number(const OptionWords& option);

}  // namespace rubato::cli
