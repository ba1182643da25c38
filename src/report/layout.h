// Placing text in a terminal: columns, wrapping, colour.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/render.h"

namespace rubato::report {

/// Characters on the screen: code points, as everything rubato prints is one column wide.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// At most `width` characters, the last one "…" where something was cut. Control characters become "?".
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);
[[nodiscard]] std::string padded(std::string_view text, std::size_t width, bool right = false);
/// Breaks at spaces; the first line begins with `first`, the others with as many spaces.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view first, int width);

enum class Ink { bold, faint, good, bad };
[[nodiscard]] std::string ink(std::string_view text, Ink ink, const TextOptions& options);

class Table {
 public:
  struct Column {
    std::string head;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Columns as wide as they need, the last one cut at the edge of the screen: where it is aligned to the
  /// right, between words.
  [[nodiscard]] std::string text(std::size_t indent, const TextOptions& options) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rubato::report
