// A share of a whole, as people read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rubato {

/// As measured: one digit after the point, two below 1 %, so that columns line up: "21.4 %", "5.0 %", "0.32
/// %".
[[nodiscard]] std::string percent(double fraction);
/// As asked for, or in a sentence: at most `digits` after the point and no zeros at the end: "5 %", "2.25 %".
[[nodiscard]] std::string short_percent(double fraction, int digits = 1);

/// "5%", "5 %" or 0.05, neither negative nor over `most`. A bare 1 is neither 1 % nor 100 %: nothing.
[[nodiscard]] std::optional<double> parse_share(std::string_view text, double most = 1);

}  // namespace rubato
