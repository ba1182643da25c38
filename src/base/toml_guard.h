// Keeps from toml++ what its version 3.3 cannot read safely: characters beyond ASCII outside quotes run into
// code it marks as unreachable. What remains is the TOML that a file of scalars needs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rubato {

struct TomlFault {
  std::size_t line;  // from 1
  std::string what;
};

/// The first place with a control character, with a character beyond ASCII outside comments and the quotes of
/// a key or value, or with a text that does not end on its line.
[[nodiscard]] std::optional<TomlFault> find_toml_fault(std::string_view text);

}  // namespace rubato
