// From what is known and what is chosen to a screen; the same as plain text.
#pragma once

#include <string>

#include "cli/top/screen.h"
#include "cli/top/state.h"
#include "cli/top/view.h"

namespace rubato::cli::top {

/// Never fails: what does not fit is left out, the keys and the selected row last.
[[nodiscard]] Screen draw(const State& now, const View& view, Size size);

/// Every GPU, run and process on lines of at most `width` characters, for a terminal that cannot place text
/// and for pipes.
[[nodiscard]] std::string plain_text(const State& state, std::size_t width);

/// What the keys do and the columns mean.
[[nodiscard]] std::vector<std::string> help_lines(const State& state);

}  // namespace rubato::cli::top
