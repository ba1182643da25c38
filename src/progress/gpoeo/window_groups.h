// Cuts one window of a trace where its amplitude changes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::progress::gpoeo {

/// Borders of the groups in order, 0 and the window's length among them.
[[nodiscard]] std::vector<std::size_t> group_borders(std::span<const double> window);

}  // namespace rubato::progress::gpoeo
