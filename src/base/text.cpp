#include "base/text.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace rubato {

std::string number(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

std::string number(double value, int digits) {
  std::array<char, 400> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, digits);
  std::string out(buffer.data(), end.ptr);
  if (out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

namespace {
template <class N, class... Args>
std::optional<N> parse(std::string_view text, Args... args) {
  N value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, args...);
  if (text.empty() || end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}
}  // namespace

std::optional<double> parse_number(std::string_view text) {
  return parse<double>(text);
}
std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse<std::int64_t>(text);
}
std::optional<std::uint64_t> parse_hex(std::string_view text) {
  return parse<std::uint64_t>(text, 16);
}

std::string hex(std::uint64_t value, int width) {
  std::array<char, 24> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%0*llx", width, static_cast<unsigned long long>(value));
  return buffer.data();
}

}  // namespace rubato
