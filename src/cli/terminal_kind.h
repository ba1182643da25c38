// What the terminal behind a descriptor takes, by its kind and by what its owner asked for.
#pragma once

namespace rubato::cli {

/// A terminal that obeys control sequences: no pipe or file, and TERM is neither "dumb" nor empty.
[[nodiscard]] bool obeys_sequences(int fd);

/// NO_COLOR set to anything means none (no-color.org); else CLICOLOR_FORCE other than "0" means colour, into
/// pipes and files too; else a terminal that obeys sequences has it, unless CLICOLOR is "0"
/// (bixense.com/clicolors).
[[nodiscard]] bool wants_colour(int fd);

}  // namespace rubato::cli
