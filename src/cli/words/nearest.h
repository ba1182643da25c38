// The word somebody may have meant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::cli {

/// Insertions, deletions, changes and swaps of neighbours that turn one into the other (optimal string
/// alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate fewest edits away, or the only one that begins with `word`; none where every one is a
/// different word: more than a third of its letters changed.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

}  // namespace rubato::cli
