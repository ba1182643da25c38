// Which kernels and layers the GPU's time went to, while kernels were recorded, and what energy that makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyse/sources.h"

namespace rubato::analyse {

/// All kernels of one name, or of one layer.
struct KernelShare {
  std::uint64_t id = 0;
  std::string name;
  std::int64_t times = 0;
  Seconds time;                  // their lengths together
  double share = 0.0;            // of the recorded time, kernels at the same moment sharing it equally
  std::optional<Joules> energy;  // apportioned: that share of the energy of the recorded stretches
};

struct KernelSummary {
  std::string gpu;   // UUID
  Seconds recorded;  // tracing goes in duty cycles: nothing is known of the rest
  std::int64_t kernels = 0;
  std::uint64_t lost = 0;
  double busy = 0.0;                // fraction of the recorded time in which a kernel ran
  std::vector<KernelShare> names;   // most time first
  std::vector<KernelShare> layers;  // most time first; only where kernels know theirs
  Kind kind = Kind::apportioned;
  std::string model;
};

/// Of the GPU a source stands for; empty where nothing was recorded on it.
[[nodiscard]] std::optional<KernelSummary> kernels_of(const record::RunRecord& run,
                                                      const EnergySource& source);

}  // namespace rubato::analyse
