// A screen of cells, as it is meant to look. What a terminal has to be sent is another matter
// (terminal_text.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::cli::top {

enum class Colour : unsigned char { none, green, yellow, red };

struct Style {
  bool bold = false;
  bool faint = false;
  bool reverse = false;
  Colour colour = Colour::none;
  bool operator==(const Style&) const = default;
};

struct Cell {
  char32_t glyph = U' ';
  Style style{};
  bool operator==(const Cell&) const = default;
};

struct Size {
  std::size_t rows = 24;
  std::size_t columns = 80;
  bool operator==(const Size&) const = default;
};

/// The code points of UTF-8 text, each of which takes one column: control characters, bytes that are no UTF-8
/// and letters that a terminal may draw wider, narrower or from right to left (U+0300 to U+036F, all from
/// U+0590 on but general punctuation, arrows and box drawing) are '?'.
[[nodiscard]] std::u32string glyphs_of(std::string_view text);

class Screen {
 public:
  explicit Screen(Size size = {}) : size_(size), cells_(size.rows * size.columns) {}

  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] const Cell& at(std::size_t row, std::size_t column) const {
    return cells_[row * size_.columns + column];
  }
  /// What lies outside the screen is left out. Returns the column after the text.
  std::size_t put(std::size_t row, std::size_t column, std::string_view text, Style style = {});
  /// At most `width` columns, with "…" where something was cut.
  std::size_t put_cut(std::size_t row, std::size_t column, std::size_t width, std::string_view text,
                      Style style = {});
  /// The whole row gets this style's background and weight; colours of its cells stay.
  void mark_row(std::size_t row, Style style);
  /// A row as UTF-8 text without the blanks at its end.
  [[nodiscard]] std::string text(std::size_t row) const;

 private:
  Size size_;
  std::vector<Cell> cells_;
};

/// One code point as UTF-8.
void append_utf8(std::string& out, char32_t glyph);

}  // namespace rubato::cli::top
