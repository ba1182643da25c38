// What a second costs: the slope of the front of time and energy where one stands.
#pragma once

#include <optional>
#include <vector>

#include "plan/choice.h"

namespace rubato::plan {

struct Price {
  std::optional<Watts> slower;  // joules that one more second saves; nothing at the end of the front
  std::optional<Watts> faster;  // joules that one second less costs
};

/// On the lower convex hull of the medians, the default among them. `chosen` absent: at the default.
/// `beside`: what runs on with the board and is counted with it.
[[nodiscard]] Price price_of_a_second(const predict::Prediction& believed, std::optional<std::size_t> chosen,
                                      Watts board_at_default, Watts beside = Watts(0));

}  // namespace rubato::plan
