// The files of workloads/networks/ as they stood when this was built.
#pragma once

#include <span>
#include <string_view>

namespace rubato::predict {

[[nodiscard]] std::span<const std::string_view> embedded_networks();

}  // namespace rubato::predict
