// The text of gpus/*.json and workloads/*.json, put into the library when it is built (embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace rubato::device::sim {

[[nodiscard]] std::span<const std::string_view> embedded_gpus();
[[nodiscard]] std::span<const std::string_view> embedded_workloads();
[[nodiscard]] std::span<const std::string_view> embedded_calibration();  // workloads/calibration/

}  // namespace rubato::device::sim
