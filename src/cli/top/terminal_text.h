// From one screen to the next, as bytes for a terminal: cells that did not change are not sent, which is what
// keeps a slow line usable. ECMA-48 control functions only, as every terminal since the VT100 knows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/top/screen.h"

namespace rubato::cli::top {

struct TerminalLooks {
  bool colour = true;   // false: not even bold
  bool unicode = true;  // false: what ASCII lacks is written in ASCII ("±" as "+")
};

/// What turns a terminal that shows `shown` into one that shows `wanted`. Absent, or of another size: the
/// terminal is cleared first. Empty where nothing changed. The cursor is left where writing ended, the style
/// plain.
[[nodiscard]] std::string changes(const std::optional<Screen>& shown, const Screen& wanted,
                                  const TerminalLooks& looks);

/// The other screen, without cursor and without wrapping at the margin; and back.
inline constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
inline constexpr std::string_view kLeaveScreen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace rubato::cli::top
