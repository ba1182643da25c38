// Value trees as text for a terminal and as JSON for programs.
#pragma once

#include <string>

#include "report/value.h"

namespace rubato::report {

struct TextOptions {
  bool colour = false;  // the caller knows the terminal, --color and NO_COLOR
  int width = 80;
};

/// Aligned keys and values; arrays of flat objects as tables. Ends with a line break.
[[nodiscard]] std::string render_text(const Value& value, const TextOptions& options = {});

/// Two spaces of indentation, ends with a line break. Text that is not UTF-8 gets replacement characters.
[[nodiscard]] std::string render_json(const Value& value);
/// The same in one line, for programs that read line by line.
[[nodiscard]] std::string render_json_line(const Value& value);

}  // namespace rubato::report
