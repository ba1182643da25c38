#include "base/toml_guard.h"

#include <vector>

#include "base/text.h"

namespace rubato {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

/// Reads a file line by line as far as telling where a quoted key or value begins.
class Scanner {
 public:
  /// What is wrong with the next line; empty where nothing is.
  std::string fault_in(std::string_view line) {
    if (levels_.size() == 1) levels_.back().equals = false;
    may_begin_ = true;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (is_control(c)) return "a control character";
      if (c == '#') return {};
      if (!is_ascii(c)) return "a character beyond ASCII outside quotes";
      if (c != '"' && c != '\'') {
        step(c);
        continue;
      }
      if (line.substr(i).starts_with(std::string(3, c))) return "a text over several lines";
      if (std::string fault = fault_in_quoted(line, i); !fault.empty()) return fault;
    }
    return {};
  }

 private:
  /// From an opening quote at `i` to the one that closes it, where `i` is left.
  std::string fault_in_quoted(std::string_view line, std::size_t& i) {
    const char quote = line[i];
    for (++i; i < line.size() && line[i] != quote; ++i) {
      if (is_control(line[i])) return "a control character";
      // Behind anything else the quote belongs to a word, which toml++ reads on as if there were none.
      if (!is_ascii(line[i]) && !may_begin_)
        return "a character beyond ASCII in quotes that begin no key and no value";
      if (quote == '"' && line[i] == '\\' && i + 1 < line.size() &&
          (line[i + 1] == '"' || line[i + 1] == '\\'))
        ++i;
    }
    may_begin_ = false;
    return i < line.size() ? std::string() : "a quote that is not closed";
  }

  /// The file itself, an array or an inline table that is open.
  struct Level {
    char opened_by = 0;
    bool equals = false;  // seen since the key began
  };

  void step(char c) {
    Level& level = levels_.back();
    const bool key = level.opened_by != '[' && !level.equals;
    switch (c) {
      case ' ':
      case '\t':
        return;
      case '=':
        may_begin_ = key;
        level.equals = true;
        return;
      case '.':
        may_begin_ = key;
        return;
      case ',':
        may_begin_ = level.opened_by != 0;
        if (may_begin_) level.equals = false;
        return;
      case '[':
      case '{':
        // What may begin before a bracket may begin in it; before a key it is that of a table's name.
        if (!key && may_begin_) levels_.push_back({c});
        return;
      case ']':
      case '}':
        if (level.opened_by == (c == ']' ? '[' : '{')) levels_.pop_back();
        break;
      default:
        break;
    }
    may_begin_ = false;
  }

  std::vector<Level> levels_ = {{}};  // an array may go on over lines
  bool may_begin_ = true;
};

}  // namespace

std::optional<TomlFault> find_toml_fault(std::string_view text) {
  // A byte-order mark at the beginning is harmless.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::size_t number = 0;
  Scanner scanner;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    std::string_view body = line;
    if (body.ends_with('\r')) body.remove_suffix(1);
    if (std::string what = scanner.fault_in(body); !what.empty()) return TomlFault{number, std::move(what)};
  }
  return std::nullopt;
}

}  // namespace rubato
