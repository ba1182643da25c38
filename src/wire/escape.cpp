#include "wire/escape.h"

#include "base/text.h"

namespace rubato::wire {
namespace {

bool is_control(unsigned char c) {
  return c < 0x20 || c == 0x7f;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

std::string escape(std::string_view text, Spaces spaces) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_control(byte) || c == '%' || (c == ' ' && spaces == Spaces::escaped)) {
      out += '%';
      out += hex(byte, 2);
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_control(static_cast<unsigned char>(text[i]))) return std::nullopt;
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return std::nullopt;
    out += static_cast<char>(*parse_hex(text.substr(i + 1, 2)));
    i += 2;
  }
  return out;
}

}  // namespace rubato::wire
