#include "cli/top/terminal_text.h"

#include "base/text.h"

namespace rubato::cli::top {
namespace {

// To move the cursor takes six to eight bytes: unchanged cells fewer than that are written again instead.
constexpr std::size_t kWorthAMove = 6;

char ascii_of(char32_t glyph) {
  if (glyph < 0x80) return static_cast<char>(glyph);
  switch (glyph) {
    case U'±':
      return '+';
    case U'…':
      return '~';
    case U'─':
      return '-';
    case U'│':
      return '|';
    case U'↑':
      return '^';
    case U'↓':
      return 'v';
    default:
      return '?';
  }
}

std::string escape_for(const Style& style) {
  std::string out = "\x1b[0";
  if (style.bold) out += ";1";
  if (style.faint) out += ";2";
  if (style.reverse) out += ";7";
  if (style.colour == Colour::green) out += ";32";
  if (style.colour == Colour::yellow) out += ";33";
  if (style.colour == Colour::red) out += ";31";
  return out + "m";
}

class Writer {
 public:
  Writer(const std::optional<Screen>& shown, const Screen& wanted, const TerminalLooks& looks)
      : shown_(shown && shown->size() == wanted.size() ? &*shown : nullptr), wanted_(wanted), looks_(looks) {}

  std::string take() {
    if (shown_ == nullptr) out_ = "\x1b[0m\x1b[2J";
    for (std::size_t row = 0; row < wanted_.size().rows; ++row) write_row(row);
    if (style_ != Style{}) set({});
    return std::move(out_);
  }

 private:
  [[nodiscard]] Cell before(std::size_t row, std::size_t column) const {
    return shown_ == nullptr ? Cell{} : shown_->at(row, column);
  }
  /// As it comes out on this terminal.
  [[nodiscard]] Cell seen(Cell cell) const {
    if (!looks_.colour) cell.style = {};
    if (!looks_.unicode) cell.glyph = static_cast<unsigned char>(ascii_of(cell.glyph));
    return cell;
  }

  /// Behind the last cell of the row that is not a plain blank.
  [[nodiscard]] std::size_t end_of(std::size_t row) const {
    std::size_t end = wanted_.size().columns;
    while (end > 0 && seen(wanted_.at(row, end - 1)) == Cell{}) --end;
    return end;
  }

  void write_row(std::size_t row) {
    const std::size_t columns = wanted_.size().columns;
    const std::size_t end = end_of(row);
    std::optional<std::size_t> cursor;  // unknown until moved there
    for (std::size_t column = 0; column < columns; ++column) {
      const Cell cell = seen(wanted_.at(row, column));
      if (cell == seen(before(row, column))) continue;
      if (cursor && column - *cursor < kWorthAMove)
        for (; *cursor < column; ++*cursor) put(seen(wanted_.at(row, *cursor)));
      else
        move(row, column);
      if (column >= end && columns - column > 3) {
        set({});
        out_ += "\x1b[K";
        return;
      }
      put(cell);
      cursor = column + 1;
    }
  }

  void move(std::size_t row, std::size_t column) { out_ += cat("\x1b[", row + 1, ";", column + 1, "H"); }
  void set(const Style& style) {
    if (style_ != style) out_ += escape_for(style);
    style_ = style;
  }
  void put(const Cell& cell) {
    set(cell.style);
    append_utf8(out_, cell.glyph);
  }

  const Screen* shown_;
  const Screen& wanted_;
  const TerminalLooks& looks_;
  Style style_{};
  std::string out_;
};

}  // namespace

std::string changes(const std::optional<Screen>& shown, const Screen& wanted, const TerminalLooks& looks) {
  return Writer(shown, wanted, looks).take();
}

}  // namespace rubato::cli::top
