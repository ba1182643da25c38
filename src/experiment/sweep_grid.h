// From what a person types after --knob to the settings of a sweep.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "predict/curve.h"

namespace rubato::experiment {

/// One knob and where it is put: watts or megahertz, ascending, each once.
struct KnobValues {
  Knob knob = Knob::power_limit;
  std::vector<double> values;
  bool operator==(const KnobValues&) const = default;
};

inline constexpr std::size_t kMostSettings = 10'000;

/// "power-limit=100:250:25" (both ends count, where the step meets the upper one) or
/// "sm-clock=705,1005,1410". invalid_argument says what is wrong with it.
[[nodiscard]] Result<KnobValues> parse_knob_values(std::string_view text);

/// Every combination, the last knob varying fastest. invalid_argument: a knob twice, none, or more than
/// kMostSettings.
[[nodiscard]] Result<std::vector<predict::KnobPoint>> grid_of(std::span<const KnobValues> knobs);

/// "150 W, SM 1005 MHz"; "as found" where no knob is set.
[[nodiscard]] std::string describe(const predict::KnobPoint& point);

}  // namespace rubato::experiment
