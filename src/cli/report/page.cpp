#include "cli/report/page.h"

namespace rubato::cli {

void Page::heading(const std::string& text) {
  out_ += cat("\n", ink(cut(text, width()), Ink::bold, options_), "\n");
}

// Colour goes around whole lines, so that wrapping need not count escape sequences.
void Page::coloured(const std::string& lines, std::optional<Ink> colour) {
  for (const std::string& line : split(std::string_view(lines).substr(0, lines.size() - 1), '\n'))
    out_ += cat(colour ? ink(line, *colour, options_) : line, "\n");
}

void Page::say(std::string_view sentence, std::optional<Ink> colour) {
  say_after("  ", sentence, colour);
}

void Page::say_after(std::string_view first, std::string_view sentence, std::optional<Ink> colour) {
  coloured(wrapped(sentence, first, options_.width), colour);
}

void Page::row(std::string_view key, std::string_view value, std::optional<Ink> colour) {
  coloured(wrapped(cut(value, value.size()), padded(cat("  ", key), 14), options_.width), colour);
}

// Down a timeline one unit reads best; minutes begin where seconds become hard to picture.
void Page::timed(Seconds since_begin, std::string_view what) {
  const std::string moment =
      since_begin < Seconds(599.95) ? cat(fixed(since_begin.value(), 1), " s") : text_of(since_begin);
  out_ += wrapped(cut(what, what.size()), cat("  ", padded(moment, 12, true), "  "), options_.width);
}

void Page::line(std::string_view text, std::optional<Ink> colour) {
  const std::string shown = cut(text, width());
  out_ += cat(colour ? ink(shown, *colour, options_) : shown, "\n");
}

}  // namespace rubato::cli
