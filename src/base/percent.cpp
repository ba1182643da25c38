#include "base/percent.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace rubato {

std::string percent(double fraction) {
  const double share = 100 * fraction;
  const int digits = std::abs(share) < 0.95 && share != 0 ? 2 : 1;
  std::array<char, 400> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), share, std::chars_format::fixed, digits);
  std::string out(buffer.data(), end.ptr);
  // "-0.00" is a rounded nothing.
  if (out.starts_with('-') && out.find_first_not_of("-0.") == std::string::npos) out.erase(0, 1);
  return out + " %";
}

std::string short_percent(double fraction, int digits) {
  return number(100 * fraction, digits) + " %";
}

std::optional<double> parse_share(std::string_view text, double most) {
  const bool in_percent = text.ends_with('%');
  const auto value = parse_number(in_percent ? trim(text.substr(0, text.size() - 1)) : text);
  if (!value) return std::nullopt;
  const double share = in_percent ? *value / 100 : *value;
  // Whoever writes a bare 1 hardly means all of it.
  if (!(share >= 0 && share <= most) || (share == 1 && !in_percent)) return std::nullopt;
  return share;
}

}  // namespace rubato
