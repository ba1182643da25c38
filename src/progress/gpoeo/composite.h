// One trace out of power and the two utilisations.
#pragma once

#include <span>
#include <vector>

namespace rubato::progress::gpoeo {

/// A third of power ± SM utilisation ± memory utilisation, in percent, with whichever signs give the larger
/// standard deviation. Columns are equally long, or empty where nothing was read.
[[nodiscard]] std::vector<double> composite(std::span<const double> power, std::span<const double> sm,
                                            std::span<const double> memory);

}  // namespace rubato::progress::gpoeo
