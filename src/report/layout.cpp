#include "report/layout.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"

namespace rubato::report {
namespace {

// A text at the end of a row is cut to no less.
constexpr int kLeastText = 8;

// Half a number is another number.
std::string cut_between_words(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return cut(text, width);
  std::size_t end = text.size();
  while (end != std::string_view::npos && end > 0 && width_of(text.substr(0, end)) + 2 > width)
    end = text.rfind(' ', end - 1);
  return end == std::string_view::npos || end == 0 ? "…" : cat(cut(text.substr(0, end), width), " …");
}

/// Between two columns: two spaces, or one where that makes the figures fit. A text at the end can be cut
/// instead.
std::size_t gap(std::span<const std::size_t> widths, bool last_can_be_cut, std::size_t indent,
                std::size_t room) {
  std::size_t used = indent;
  for (const std::size_t width : widths) used += width;
  if (last_can_be_cut) used -= widths.back() - std::min<std::size_t>(widths.back(), kLeastText);
  const std::size_t gaps = widths.size() - 1;
  return used + 2 * gaps > room && used + gaps <= room ? 1 : 2;
}

// A number and its unit stay on one line.
bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 10> kUnits = {"%", "J",  "kJ",  "MJ", "W",
                                                       "s", "ms", "min", "h",  "MHz"};
  const std::string_view bare = word.substr(0, word.find_first_of(".,;:)"));
  return std::ranges::find(kUnits, bare) != kUnits.end();
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string cut(std::string_view text, std::size_t width) {
  const bool too_long = width_of(text) > width;
  const std::size_t keep = too_long && width > 0 ? width - 1 : width;
  std::string out;
  std::size_t used = 0;
  for (const char c : text) {
    if (!continues(c) && ++used > keep) break;
    const auto byte = static_cast<unsigned char>(c);
    // A command line may hold escape sequences; they must not reach the terminal.
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return too_long ? out + "…" : out;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t used = width_of(text);
  const std::string space(used < width ? width - used : 0, ' ');
  return right ? cat(space, text) : cat(text, space);
}

std::string wrapped(std::string_view text, std::string_view first, int width) {
  const std::size_t indent = width_of(first);
  std::string out;
  std::string line(first);
  bool fresh = true;
  std::vector<std::string> words;
  for (std::string& word : split(text, ' ')) {
    const bool after_number = !words.empty() && words.back().back() >= '0' && words.back().back() <= '9';
    if (after_number && is_unit(word))
      words.back() += cat(" ", word);
    else if (!word.empty())
      words.push_back(std::move(word));
  }
  for (const std::string& word : words) {
    if (!fresh && width_of(line) + 1 + width_of(word) > static_cast<std::size_t>(width)) {
      out += line + "\n";
      line.assign(indent, ' ');
      fresh = true;
    }
    line += cat(fresh ? "" : " ", word);
    fresh = false;
  }
  return out + line + "\n";
}

std::string ink(std::string_view text, Ink which, const TextOptions& options) {
  if (!options.colour || text.empty()) return std::string(text);
  const char* code = which == Ink::bold    ? "1"
                     : which == Ink::faint ? "2"
                     : which == Ink::good  ? "1;32"
                                           : "1;31";
  return cat("\x1b[", code, "m", text, "\x1b[0m");
}

std::string Table::text(std::size_t indent, const TextOptions& options) const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths.push_back(width_of(columns_[c].head));
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  const std::size_t between =
      gap(widths, !columns_.back().right, indent, static_cast<std::size_t>(std::max(0, options.width)));
  const auto line = [&](const auto& cell) {
    std::string out(indent, ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t used = width_of(out);
      const auto room =
          static_cast<std::size_t>(std::max(kLeastText, options.width - static_cast<int>(used)));
      const bool last = c + 1 == columns_.size();
      const std::size_t wide = last ? std::min(room, widths[c]) : widths[c];
      const bool right = columns_[c].right;
      const std::string text = right ? cut_between_words(cell(c), wide) : cut(cell(c), wide);
      out += last && !right ? text : padded(text, wide, right);
      if (!last) out.append(between, ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::string out = ink(line([&](std::size_t c) { return columns_[c].head; }), Ink::faint, options) + "\n";
  for (const auto& row : rows_) out += line([&](std::size_t c) { return row[c]; }) + "\n";
  return out;
}

}  // namespace rubato::report
