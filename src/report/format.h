// Numbers as people read them: a unit, and no more digits than mean something.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace rubato::report {

/// Exactly `digits` after the point, so that columns line up.
[[nodiscard]] std::string fixed(double value, int digits);
[[nodiscard]] std::string text_of(Joules energy);  // "812 J", "12.35 kJ"
/// An error band in the unit that `of` is written in: "0.03 kJ" beside "12.78 kJ".
[[nodiscard]] std::string band_text(Joules band, Joules of);
[[nodiscard]] std::string text_of(Watts power);       // "205.8 W"
[[nodiscard]] std::string text_of(Seconds duration);  // "23.4 ms", "1.20 s", "3 min 20 s", "2 h 05 min"
[[nodiscard]] std::string percent(double fraction);   // "21.4 %"
/// As one would type it: arguments with spaces or quotes are quoted.
[[nodiscard]] std::string command_line(const std::vector<std::string>& command);
/// "exit status 3", "killed by signal 9 (Killed)".
[[nodiscard]] std::string ending(const std::optional<int>& code, const std::optional<int>& signal,
                                 bool ended);

}  // namespace rubato::report
