// The micro-benchmarks of `rubato calibrate`: each holds a GPU up in one known way, and together they span
// what a training can be made of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "core/gpu_figures.h"
#include "experiment/calibrate/cuda.h"
#include "experiment/calibrate/ptx/ptx.h"
#include "predict/roofline/peak_rates.h"

namespace rubato::experiment {

enum class BenchmarkKind { fma32, fma64, matrices, mixed, chase, launches };

struct Benchmark {
  std::string_view name;         // "mixed-6"
  std::string_view description;  // for people
  BenchmarkKind kind = BenchmarkKind::fma32;
  unsigned turns = 1;                         // of the kernel's loop
  std::optional<predict::Pipe> pipe;          // the one it keeps busy
  std::optional<double> operations_per_byte;  // absent: it moves no bytes, or does no arithmetic
  ptx::TensorFormat format = ptx::TensorFormat::fp16;
  unsigned least_capability = 70;  // compute capability times ten
  bool simulated = true;           // workloads/calibration/ has it
};

[[nodiscard]] std::span<const Benchmark> benchmarks();
/// not_found lists them.
[[nodiscard]] Result<const Benchmark*> find_benchmark(std::string_view name);

/// Empty: it runs on this GPU; else why not, in one clause.
[[nodiscard]] std::string why_not_on(const Benchmark& benchmark, const GpuFigures& figures);

/// One unit of work on one GPU. It follows from the GPU alone, never from a setting or a measurement: so
/// units measured under different settings are the same work.
struct UnitPlan {
  LaunchShape shape;
  unsigned launches = 1;
  double operations = 0;
  double bytes = 0;
};
/// About a tenth of a second at the highest clocks.
[[nodiscard]] UnitPlan unit_plan(const Benchmark& benchmark, const GpuFigures& figures);

inline constexpr std::uint32_t kMixedVectors =
    1U << 24U;  // of 16 bytes: two arrays of 256 MiB, beyond any cache
inline constexpr std::uint32_t kChaseEntries = 1U << 26U;  // of 4 bytes: 256 MiB

}  // namespace rubato::experiment
