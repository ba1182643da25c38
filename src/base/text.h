// Small text tools for the low rooms, which the NVML stand-in links statically and which therefore use no
// library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/units.h"

namespace rubato {

/// Shortest decimal that reads back the same, or with at most `digits` after the point where given.
[[nodiscard]] std::string number(double value);
[[nodiscard]] std::string number(double value, int digits);

namespace text_detail {
inline void append(std::string& out, std::string_view part) {
  out += part;
}
inline void append(std::string& out, char part) {
  out += part;
}
inline void append(std::string& out, Watts w) {
  out += number(w.value(), 1) + " W";
}
inline void append(std::string& out, Joules j) {
  out += number(j.value(), 1) + " J";
}
inline void append(std::string& out, Seconds s) {
  out += number(s.value(), 3) + " s";
}
inline void append(std::string& out, Megahertz f) {
  out += number(f.value(), 1) + " MHz";
}
inline void append(std::string& out, Celsius t) {
  out += number(t.value(), 1) + " C";
}
template <class N>
requires(std::is_arithmetic_v<N> && !std::is_same_v<N, char> &&
         !std::is_same_v<N, bool>) void append(std::string& out, N n) {
  if constexpr (std::is_integral_v<N>)
    out += std::to_string(n);
  else
    out += number(n);
}
}  // namespace text_detail

/// Joins text, numbers and quantities (quantities with their unit): cat("cannot set ", 250_W).
template <class... Parts>
[[nodiscard]] std::string cat(const Parts&... parts) {
  std::string out;
  (text_detail::append(out, parts), ...);
  return out;
}

[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string_view trim(std::string_view text);
/// The whole text as a number, or nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text);
[[nodiscard]] std::string hex(std::uint64_t value, int width);

}  // namespace rubato
