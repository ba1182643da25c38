#include "base/toml_guard.h"

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

/// What is wrong with one line; empty where nothing is.
std::string fault_in(std::string_view line) {
  char quote = 0;  // the one that is open
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_control(c)) return "a control character";
    if (quote == 0) {
      if (c == '#') return {};
      if (!is_ascii(c)) return "a character beyond ASCII outside quotes";
      if (c == '"' || c == '\'') quote = c;
      if (quote != 0 && line.substr(i).starts_with(std::string(3, c))) return "a text over several lines";
    } else if (c == '\\' && quote == '"') {
      ++i;
    } else if (c == quote) {
      quote = 0;
    }
  }
  return quote == 0 ? std::string() : "a quote that is not closed";
}

}  // namespace

std::optional<TomlFault> find_toml_fault(std::string_view text) {
  // A byte-order mark at the beginning is harmless.
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::size_t number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    std::string_view body = line;
    if (body.ends_with('\r')) body.remove_suffix(1);
    if (std::string what = fault_in(body); !what.empty()) return TomlFault{number, std::move(what)};
  }
  return std::nullopt;
}

}  // namespace rubato
