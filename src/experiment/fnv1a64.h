// A short name for a text: tells two apart, and protects against no one.
#pragma once

#include <string>
#include <string_view>

namespace rubato::experiment {

/// "fnv1a64:" and 16 hexadecimal digits (Fowler, Noll and Vo, variant 1a).
[[nodiscard]] std::string fnv1a64(std::string_view text);

}  // namespace rubato::experiment
