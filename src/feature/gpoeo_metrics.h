// The 22 counters that GPOEO reads of its training jobs, on our schema; and the model inputs it makes of
// them, kept as it defines them. From its public code: the metric list for the RTX 3080 Ti and
// EPOptXGBoost.py.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "core/feature_schema.h"

namespace rubato::feature::gpoeo {

/// In its four groups of one pass each; a window of one iteration counts one group.
enum class Metric : std::size_t {
  instructions,
  instructions_pct,
  instructions_per_second,
  sm_cycles_active,
  sm_cycles_elapsed,
  gpu_cycles_active,
  l1_hits,
  l1_misses,
  l2_hits,
  tensor_pct,
  l2_misses,  // group 1
  adu_pct,
  fma_pct,
  alu_pct,
  fp16_pct,  // group 2
  fp64_pct,
  xu_pct,
  tex_pct,
  cbu_pct,  // group 3
  ipa_pct,
  lsu_pct,
  uniform_pct,
  count_,
};

inline constexpr std::size_t kMetricCount = static_cast<std::size_t>(Metric::count_);

/// Absent: not counted.
struct RawMetrics {
  std::array<std::optional<double>, kMetricCount> values{};
  [[nodiscard]] std::optional<double> operator[](Metric m) const {
    return values[static_cast<std::size_t>(m)];
  }
  std::optional<double>& operator[](Metric m) { return values[static_cast<std::size_t>(m)]; }
};

struct MetricRow {
  Metric metric;
  std::string_view name;  // as the profiler knows it
  unsigned group;
  std::string_view feeds;  // the feature it becomes, or the formula it is part of
};

[[nodiscard]] std::span<const MetricRow, kMetricCount> metric_rows();
/// By the profiler's name; Turing's name of the FP16 pipe is known too.
[[nodiscard]] std::optional<Metric> find_metric(std::string_view name);

/// Quotients whose divisor is missing or zero are absent. gpu__cycles_active alone feeds nothing: of the
/// counter it would have to be divided by, GPOEO reads none. Times are left for the caller to fill.
[[nodiscard]] FeatureVector features_of(const RawMetrics& raw);

inline constexpr std::size_t kInputCount = 18;
/// Of its 18 model inputs, in our order: its own comes of a dictionary's and stands nowhere.
inline constexpr std::array<std::string_view, kInputCount> kInputNames = {"clock_ratio",
                                                                          "ipc_pct",
                                                                          "l1_miss_per_instruction",
                                                                          "l1_miss_pct",
                                                                          "l2_miss_per_instruction",
                                                                          "l2_miss_pct",
                                                                          "tensor",
                                                                          "adu",
                                                                          "fma",
                                                                          "alu",
                                                                          "fp16",
                                                                          "fp64",
                                                                          "xu",
                                                                          "tex",
                                                                          "cbu",
                                                                          "ipa",
                                                                          "lsu",
                                                                          "uniform"};
/// GPOEO's normalisation: instruction rate x 1.2, misses per instruction x 250, all but the clock ratio
/// capped at 99.99. `clock_ratio`: candidate clock over the reference clock at which was counted.
[[nodiscard]] std::array<std::optional<double>, kInputCount> model_inputs(const RawMetrics& raw,
                                                                          double clock_ratio);

}  // namespace rubato::feature::gpoeo
