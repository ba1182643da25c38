#include "cli/top/screen.h"

#include <algorithm>

namespace rubato::cli::top {
namespace {

constexpr char32_t kUnprintable = U'?';

bool one_column(char32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad) return false;
  if (c >= 0x300 && c < 0x370) return false;  // combining marks
  if (c < 0x590) return true;                 // Latin, Greek, Cyrillic, Armenian
  // General punctuation without its invisible and direction marks; arrows; box drawing and blocks.
  if ((c >= 0x2010 && c <= 0x2027) || (c >= 0x2030 && c <= 0x205e)) return true;
  return (c >= 0x2190 && c <= 0x21ff) || (c >= 0x2500 && c <= 0x259f) || c == 0x20ac;
}

// Advances `at` behind one code point of valid UTF-8 (RFC 3629), or behind one byte that begins none.
char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at++);
  if (first < 0x80) return first;
  const std::size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0;
  if (more == 0 || first > 0xf4 || at + more > text.size()) return kUnprintable;
  char32_t out = first & (0x3fU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return kUnprintable;
    out = (out << 6U) | (byte(at + i) & 0x3fU);
  }
  const char32_t least = more == 3 ? 0x10000 : more == 2 ? 0x800 : 0x80;
  if (out < least || out > 0x10ffff || (out >= 0xd800 && out < 0xe000)) return kUnprintable;
  at += more;
  return out;
}

}  // namespace

std::u32string glyphs_of(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    out += one_column(c) ? c : kUnprintable;
  }
  return out;
}

void append_utf8(std::string& out, char32_t c) {
  const auto byte = [&out](char32_t value) { out += static_cast<char>(value); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0 | (c >> 6U));
    byte(0x80 | (c & 0x3fU));
  } else if (c < 0x10000) {
    byte(0xe0 | (c >> 12U));
    byte(0x80 | ((c >> 6U) & 0x3fU));
    byte(0x80 | (c & 0x3fU));
  } else {
    byte(0xf0 | (c >> 18U));
    byte(0x80 | ((c >> 12U) & 0x3fU));
    byte(0x80 | ((c >> 6U) & 0x3fU));
    byte(0x80 | (c & 0x3fU));
  }
}

std::size_t Screen::put(std::size_t row, std::size_t column, std::string_view text, Style style) {
  if (row >= size_.rows || column >= size_.columns) return column;
  return put_cut(row, column, size_.columns - column, text, style);
}

std::size_t Screen::put_cut(std::size_t row, std::size_t column, std::size_t width, std::string_view text,
                            Style style) {
  if (row >= size_.rows || column >= size_.columns) return column;
  width = std::min(width, size_.columns - column);
  std::u32string glyphs = glyphs_of(text);
  if (glyphs.size() > width) {
    glyphs.resize(width);
    if (width > 0) glyphs.back() = U'…';
  }
  for (const char32_t glyph : glyphs) cells_[row * size_.columns + column++] = {glyph, style};
  return column;
}

void Screen::mark_row(std::size_t row, Style style) {
  if (row >= size_.rows) return;
  for (std::size_t column = 0; column < size_.columns; ++column) {
    Style& own = cells_[row * size_.columns + column].style;
    own.bold = own.bold || style.bold;
    own.reverse = own.reverse || style.reverse;
  }
}

std::string Screen::text(std::size_t row) const {
  std::string out;
  for (std::size_t column = 0; column < size_.columns; ++column) append_utf8(out, at(row, column).glyph);
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

}  // namespace rubato::cli::top
