// What help and man pages say of each command beyond its options.
#pragma once

#include <string_view>
#include <vector>

namespace rubato::cli {

struct Example {
  std::string_view command;
  std::string_view what;
};

struct CommandPage {
  std::string_view path;           // "sim train"; empty: rubato itself
  std::string_view after_options;  // of the synopsis: "-- COMMAND"
  std::string_view text;           // paragraphs, an empty line between them
  std::vector<Example> examples;
};

/// Null where a command needs no more than its options say.
[[nodiscard]] const CommandPage* page_of(std::string_view path);

/// Sections of rubato(1) alone: a title and paragraphs of "term\ttext" lines.
struct Section {
  std::string_view title;
  std::vector<std::pair<std::string_view, std::string_view>> entries;
};
[[nodiscard]] const std::vector<Section>& manual_sections();

}  // namespace rubato::cli
