// The one schema of counter features: every source (GPM, CUPTI, DCGM, the simulated GPU) fills what it can.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace rubato {

/// Part of what a model was trained on: a change of meaning or order of what stands here is a new version.
inline constexpr unsigned kFeatureSchemaVersion = 1;

enum class Feature : std::size_t {
  sm_active,      // fraction of cycles an SM had a warp, mean over SMs
  sm_occupancy,   // resident warps over the most possible
  tensor_active,  // fraction of cycles the pipe worked; so for every *_active below
  fp64_active,
  fp32_active,
  fp16_active,
  integer_active,
  dram_active,  // fraction of cycles the memory interface moved data
  l2_active,    // fraction of the L2 cache's peak throughput
  pcie_tx_bytes_per_s,
  pcie_rx_bytes_per_s,
  nvlink_tx_bytes_per_s,
  nvlink_rx_bytes_per_s,
  instructions_per_cycle,   // issued or executed by an SM in an active cycle
  instructions_per_second,  // executed by the whole GPU
  l1_hit_fraction,
  l2_hit_fraction,
  l1_misses_per_instruction,  // sectors
  l2_misses_per_instruction,
  load_store_active,   // the pipes GPOEO counts besides, as the profiler names them: lsu
  special_active,      // xu: transcendental functions and conversions
  texture_active,      // tex
  branch_active,       // cbu
  address_active,      // adu
  uniform_active,      // uniform datapath
  interpolate_active,  // ipa
  sm_utilisation,      // NVML's: fraction of time any kernel ran
  memory_utilisation,  // NVML's: fraction of time memory was read or written
  sm_clock_fraction,   // mean SM clock over the highest
  count_,
};

inline constexpr std::size_t kFeatureCount = static_cast<std::size_t>(Feature::count_);

/// Column name in sweep tables is "feature_" + this.
inline constexpr std::array<std::string_view, kFeatureCount> kFeatureNames = {"sm_active",
                                                                              "sm_occupancy",
                                                                              "tensor_active",
                                                                              "fp64_active",
                                                                              "fp32_active",
                                                                              "fp16_active",
                                                                              "integer_active",
                                                                              "dram_active",
                                                                              "l2_active",
                                                                              "pcie_tx_bytes_per_s",
                                                                              "pcie_rx_bytes_per_s",
                                                                              "nvlink_tx_bytes_per_s",
                                                                              "nvlink_rx_bytes_per_s",
                                                                              "instructions_per_cycle",
                                                                              "instructions_per_second",
                                                                              "l1_hit_fraction",
                                                                              "l2_hit_fraction",
                                                                              "l1_misses_per_instruction",
                                                                              "l2_misses_per_instruction",
                                                                              "load_store_active",
                                                                              "special_active",
                                                                              "texture_active",
                                                                              "branch_active",
                                                                              "address_active",
                                                                              "uniform_active",
                                                                              "interpolate_active",
                                                                              "sm_utilisation",
                                                                              "memory_utilisation",
                                                                              "sm_clock_fraction"};

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
