// The one schema of counter features: every source (GPM, CUPTI, DCGM, the simulated GPU) fills what it can.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace rubato {

enum class Feature : std::size_t {
  sm_active,      // fraction of cycles an SM had a warp, mean over SMs
  sm_occupancy,   // resident warps over the most possible
  tensor_active,  // fraction of cycles the tensor pipe worked
  fp64_active,
  fp32_active,
  fp16_active,
  dram_active,  // fraction of cycles the memory interface moved data
  pcie_tx_bytes_per_s,
  pcie_rx_bytes_per_s,
  nvlink_tx_bytes_per_s,
  nvlink_rx_bytes_per_s,
  instructions_per_cycle,
  l2_hit_fraction,
  count_,
};

inline constexpr std::size_t kFeatureCount = static_cast<std::size_t>(Feature::count_);

/// Column name in sweep tables is "feature_" + this.
inline constexpr std::array<std::string_view, kFeatureCount> kFeatureNames = {
    "sm_active",           "sm_occupancy",          "tensor_active",         "fp64_active",
    "fp32_active",         "fp16_active",           "dram_active",           "pcie_tx_bytes_per_s",
    "pcie_rx_bytes_per_s", "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s", "instructions_per_cycle",
    "l2_hit_fraction"};

/// Counters over one stretch of time; absent: not counted.
struct FeatureVector {
  TimePoint begin;
  TimePoint end;
  std::array<std::optional<double>, kFeatureCount> values{};

  [[nodiscard]] std::optional<double> operator[](Feature f) const {
    return values[static_cast<std::size_t>(f)];
  }
  std::optional<double>& operator[](Feature f) { return values[static_cast<std::size_t>(f)]; }
};

}  // namespace rubato
