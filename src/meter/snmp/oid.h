// Object identifiers: the names of SNMP values, as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace rubato::meter::snmp {

using Oid = std::vector<std::uint64_t>;

/// "1.3.6.1.4.1.318", with or without a dot in front. Names of a MIB are not looked up.
[[nodiscard]] inline std::optional<Oid> parse_oid(std::string_view text) {
  if (text.starts_with('.')) text.remove_prefix(1);
  Oid oid;
  for (const std::string& part : split(text, '.')) {
    const auto number = parse_integer(part);
    if (!number || *number < 0 || *number > 0xffffffffLL) return std::nullopt;
    oid.push_back(static_cast<std::uint64_t>(*number));
  }
  if (oid.size() < 3 || oid.size() > 128) return std::nullopt;
  return oid;
}

[[nodiscard]] inline std::string to_text(const Oid& oid) {
  std::string text;
  for (const std::uint64_t part : oid) text += cat(text.empty() ? "" : ".", part);
  return text;
}

}  // namespace rubato::meter::snmp
