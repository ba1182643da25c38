// How free text is put on one line of a message or a journal: control characters and '%' become %XX.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rubato::wire {

enum class Spaces { kept, escaped };

[[nodiscard]] std::string escape(std::string_view text, Spaces spaces = Spaces::kept);
/// Nothing where a '%' is not followed by two hexadecimal digits, or a raw control character stands.
[[nodiscard]] std::optional<std::string> unescape(std::string_view text);

}  // namespace rubato::wire
