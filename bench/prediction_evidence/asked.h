// Which tables are validated how, and what has to come out.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/setting.h"

namespace rubato::prediction_evidence {

/// Fractions: at most for errors and regret, at least for captured.
struct Asked {
  double time;
  double energy;
  double regret;
  double captured;
};

struct Case {
  std::string_view name;
  std::string_view table;  // without .csv
  std::string_view train;  // empty: one group is left out
  std::vector<Knob> knobs;
  std::size_t probes;
  Asked asked;
  /// What a model that is none of these is known to have reached, as it was told: two digits, judged alike.
  std::optional<Asked> elsewhere;
};

inline std::vector<Case> asked_cases() {
  constexpr Knob limit = Knob::power_limit;
  constexpr Knob sm = Knob::sm_clock;
  constexpr Knob memory = Knob::memory_clock;
  constexpr std::string_view v100 = "v100-power-limit-training";
  constexpr std::string_view p100 = "p100-power-limit-training";
  constexpr std::string_view stages = "a100sxm-sm-clock-pipeline-stages";
  constexpr std::string_view kernels = "v100-sm-clock-kernels";
  constexpr std::string_view micro = "v100-sm-clock-microbenchmarks";
  constexpr std::string_view gtx = "gtx1080ti-sm-and-memory-clock-kernels";
  return {{"V100, training, power limit",
           v100,
           "",
           {limit},
           0,
           {0.036, 0.045, 0.023, 0.65},
           Asked{0.040, 0.049, 0.026, 0.58}},
          {"V100, training, power limit",
           v100,
           "",
           {limit},
           2,
           {0.023, 0.028, 0.009, 0.95},
           Asked{0.026, 0.032, 0.013, 0.93}},
          {"P100, training, power limit",
           p100,
           "",
           {limit},
           0,
           {0.027, 0.032, 0.009, 0.57},
           Asked{0.030, 0.036, 0.010, 0.50}},
          {"P100, training, power limit",
           p100,
           "",
           {limit},
           2,
           {0.019, 0.024, 0.0035, 0.95},
           Asked{0.021, 0.027, 0.004, 0.95}},
          {"A100 SXM, pipeline stages, SM clock",
           stages,
           "",
           {sm},
           1,
           {0.005, 0.011, 0.0012, 0.99},
           Asked{0.0054, 0.013, 0.0014, 1.0}},
          {"V100, kernels from micro-benchmarks, SM clock",
           kernels,
           micro,
           {sm},
           0,
           {0.075, 0.053, 0.004, 0.70},
           Asked{0.086, 0.060, 0.0039, 0.60}},
          {"V100, kernels from micro-benchmarks, SM clock",
           kernels,
           micro,
           {sm},
           1,
           {0.042, 0.042, 0.0013, 0.98},
           Asked{0.045, 0.046, 0.0013, 1.0}},
          {"GTX 1080 Ti, kernels, SM and memory clock",
           gtx,
           "",
           {sm, memory},
           0,
           {0.026, 0.024, 0.020, 0.62},
           Asked{0.028, 0.026, 0.022, 0.58}},
          {"GTX 1080 Ti, kernels, SM and memory clock",
           gtx,
           "",
           {sm, memory},
           1,
           {0.014, 0.017, 0.007, 0.90},
           Asked{0.015, 0.019, 0.008, 0.90}}};
}

/// Three workloads: shown apart, nothing is asked of it and nothing is tuned on it.
inline std::vector<Case> told_cases() {
  const std::vector<Knob> knobs = {Knob::power_limit, Knob::sm_clock};
  constexpr std::string_view table = "a100pcie-power-limit-and-sm-clock";
  return {{"A100 PCIe, HPC codes, power limit and SM clock", table, "", knobs, 0, {}, std::nullopt},
          {"A100 PCIe, HPC codes, power limit and SM clock", table, "", knobs, 2, {}, std::nullopt}};
}

/// The first is the one that is asked about.
inline constexpr std::string_view kLearners[] = {"rubato", "physical", "shared-curve",
                                                 "trees",  "gpoeo",    "mean-curve"};
inline constexpr double kMaxSlowdown = 0.05;
inline constexpr double kLeastCoverage = 0.85;
inline constexpr double kMostCoverage = 0.95;

}  // namespace rubato::prediction_evidence
