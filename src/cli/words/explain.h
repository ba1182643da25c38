// What was typed wrong, in words that help: the nearest option, the missing "--", the unit that is too much.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace rubato::cli {

/// What stood on the command line: before "--", and behind it.
struct Typed {
  std::vector<std::string> words;
  std::vector<std::string> command;
  bool separated = false;
};

/// `library_words` is CLI11's own message, used where nothing better is known.
[[nodiscard]] Error explain(const CLI::App& app, const Typed& typed, const std::string& library_words);

}  // namespace rubato::cli
