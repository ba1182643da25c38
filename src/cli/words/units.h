// A number typed with a unit where a plain one is wanted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rubato::cli {

/// The unit of a value's name: "watts" for W; empty where it has none.
[[nodiscard]] std::string_view unit_words(std::string_view value_name);

/// What `text` would be as a plain number: "150W" for W is "150", "1.2 GHz" for MHZ is "1200". None where it
/// is no number with a unit of that kind.
[[nodiscard]] std::optional<std::string> plain_number(std::string_view value_name, std::string_view text);

}  // namespace rubato::cli
