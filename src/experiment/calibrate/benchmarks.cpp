#include "experiment/calibrate/benchmarks.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace rubato::experiment {
namespace {

using predict::Pipe;
using ptx::TensorFormat;

// A step of two oscillators is four multiply-adds, for 16 bytes read and 16 written.
constexpr double kMixedIntensity = 8.0 * ptx::kMixedUnroll / 32.0;
static_assert(kMixedIntensity == 1.5, "the names below say so");

constexpr std::array kBenchmarks = {
    Benchmark{.name = "fp32",
              .description = "single precision multiply-adds in registers",
              .kind = BenchmarkKind::fma32,
              .turns = 512,
              .pipe = Pipe::fp32},
    Benchmark{.name = "fp64",
              .description = "double precision multiply-adds in registers",
              .kind = BenchmarkKind::fma64,
              .turns = 512,
              .pipe = Pipe::fp64},
    Benchmark{.name = "tensor-fp16",
              .description = "half precision matrix products in registers",
              .kind = BenchmarkKind::matrices,
              .turns = 8192,
              .pipe = Pipe::tensor},
    Benchmark{.name = "tensor-bf16",
              .description = "bfloat16 matrix products in registers",
              .kind = BenchmarkKind::matrices,
              .turns = 8192,
              .pipe = Pipe::tensor,
              .format = TensorFormat::bf16,
              .least_capability = 80,
              .simulated = false},
    Benchmark{.name = "tensor-tf32",
              .description = "TF32 matrix products in registers",
              .kind = BenchmarkKind::matrices,
              .turns = 8192,
              .pipe = Pipe::tensor,
              .format = TensorFormat::tf32,
              .least_capability = 80,
              .simulated = false},
    Benchmark{.name = "bandwidth",
              .description = "a copy of arrays larger than any cache",
              .kind = BenchmarkKind::mixed,
              .turns = 0,
              .pipe = Pipe::fp32,
              .operations_per_byte = 0},
    Benchmark{.name = "mixed-1.5",
              .description = "1.5 operations for each byte moved",
              .kind = BenchmarkKind::mixed,
              .turns = 1,
              .pipe = Pipe::fp32,
              .operations_per_byte = kMixedIntensity},
    Benchmark{.name = "mixed-6",
              .description = "6 operations for each byte moved",
              .kind = BenchmarkKind::mixed,
              .turns = 4,
              .pipe = Pipe::fp32,
              .operations_per_byte = 4 * kMixedIntensity},
    Benchmark{.name = "mixed-15",
              .description = "15 operations for each byte moved",
              .kind = BenchmarkKind::mixed,
              .turns = 10,
              .pipe = Pipe::fp32,
              .operations_per_byte = 10 * kMixedIntensity},
    Benchmark{.name = "mixed-48",
              .description = "48 operations for each byte moved",
              .kind = BenchmarkKind::mixed,
              .turns = 32,
              .pipe = Pipe::fp32,
              .operations_per_byte = 32 * kMixedIntensity},
    Benchmark{.name = "latency",
              .description = "one thread that follows pointers through memory",
              .kind = BenchmarkKind::chase,
              .turns = 16384},
    Benchmark{.name = "launch",
              .description = "kernels too short for their launches",
              .kind = BenchmarkKind::launches,
              .turns = 1},
};

constexpr Seconds kUnit{0.1};
constexpr unsigned kMostLaunches = 2048;
constexpr unsigned kUsualLaunches = 32;  // where the peak rates are not known
constexpr unsigned kShortLaunches = 20'000;
// Whole waves whether an SM holds 6 or 8 blocks of 256 threads.
constexpr unsigned kBlocksPerSm = 24;
constexpr unsigned kTensorBlocksPerSm = 4;
constexpr unsigned kUsualSms = 64;

double operations_of(const Benchmark& b, const LaunchShape& shape) {
  const double threads = static_cast<double>(shape.blocks) * shape.threads;
  switch (b.kind) {
    case BenchmarkKind::fma32:
    case BenchmarkKind::fma64:
    case BenchmarkKind::launches:  // four oscillators, two multiply-adds a step
      return threads * b.turns * ptx::kFmaUnroll * 16.0;
    case BenchmarkKind::matrices: {
      const double product = 2.0 * 16 * 16 * (b.format == TensorFormat::tf32 ? 8 : 16);
      return threads / 32 * ptx::kAccumulators * (1 + 2.0 * b.turns) * product;
    }
    case BenchmarkKind::mixed:
      return static_cast<double>(kMixedVectors) * b.turns * ptx::kMixedUnroll * 8.0;
    case BenchmarkKind::chase:
      break;
  }
  return 0;
}

double bytes_of(const Benchmark& b) {
  if (b.kind == BenchmarkKind::mixed) return 32.0 * kMixedVectors;
  // A link is fetched as a sector of 32 bytes.
  if (b.kind == BenchmarkKind::chase) return 32.0 * b.turns * ptx::kChaseUnroll;
  return 0;
}

unsigned launches_of(const Benchmark& b, const GpuFigures& figures, double operations, double bytes) {
  if (b.kind == BenchmarkKind::launches) return kShortLaunches;
  if (b.kind == BenchmarkKind::chase) return 1;
  const auto rates = predict::peak_rates(figures);
  if (!rates || !(figures.highest_sm > Megahertz(0)) || !(figures.highest_memory > Megahertz(0)))
    return kUsualLaunches;
  double seconds = bytes / (rates->bytes_per_clock * figures.highest_memory.value() * 1e6);
  if (b.pipe)
    if (const auto rate = rates->operations(*b.pipe))
      seconds = std::max(seconds, operations / (*rate * figures.highest_sm.value() * 1e6));
  if (!(seconds > 0)) return kUsualLaunches;
  return static_cast<unsigned>(std::clamp(std::round(kUnit.value() / seconds), 1.0, double{kMostLaunches}));
}

}  // namespace

std::span<const Benchmark> benchmarks() {
  return kBenchmarks;
}

Result<const Benchmark*> find_benchmark(std::string_view name) {
  std::string known;
  for (const Benchmark& benchmark : kBenchmarks) {
    if (benchmark.name == name) return &benchmark;
    known += cat(known.empty() ? "" : ", ", benchmark.name);
  }
  return fail(ErrorCode::not_found, cat("there is no micro-benchmark '", name, "'"),
              cat("there are: ", known));
}

std::string why_not_on(const Benchmark& benchmark, const GpuFigures& figures) {
  const unsigned capability = figures.compute_major * 10 + figures.compute_minor;
  if (capability >= benchmark.least_capability) return {};
  return cat("needs compute capability ", benchmark.least_capability / 10, ".",
             benchmark.least_capability % 10, ", this GPU has ", figures.compute_major, ".",
             figures.compute_minor);
}

UnitPlan unit_plan(const Benchmark& b, const GpuFigures& figures) {
  const unsigned sms = figures.sm_count.value_or(kUsualSms);
  UnitPlan plan{.shape = {sms * kBlocksPerSm, ptx::kBlock}};
  if (b.kind == BenchmarkKind::matrices) plan.shape.blocks = sms * kTensorBlocksPerSm;
  if (b.kind == BenchmarkKind::launches) plan.shape.blocks = sms;
  if (b.kind == BenchmarkKind::chase) plan.shape = {1, 1};
  plan.operations = operations_of(b, plan.shape);
  plan.bytes = bytes_of(b);
  plan.launches = launches_of(b, figures, plan.operations, plan.bytes);
  plan.operations *= plan.launches;
  plan.bytes *= plan.launches;
  return plan;
}

}  // namespace rubato::experiment
