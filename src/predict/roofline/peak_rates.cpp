#include "predict/roofline/peak_rates.h"

#include <algorithm>

namespace rubato::predict {
namespace {

/// Results of one SM in one clock, as multiply-adds: CUDA C++ Programming Guide, table of arithmetic
/// throughput; tensor: dense half precision with the widest accumulator at full rate, from the architecture
/// white papers (V100 512, A100 1024, GA10x and AD10x 512, H100 2048). 0: none.
struct PerSm {
  unsigned major;
  unsigned minor;
  double tensor, fp64, fp32, fp16, integer;
};

constexpr PerSm kPerSm[] = {
    {3, 7, 0, 64, 192, 0, 32},    {6, 0, 0, 32, 64, 128, 32},   {6, 1, 0, 4, 128, 1, 32},
    {7, 0, 512, 32, 64, 128, 64}, {7, 5, 512, 2, 64, 128, 64},  {8, 0, 1024, 32, 64, 256, 64},
    {8, 6, 512, 2, 128, 128, 64}, {8, 9, 512, 2, 128, 128, 64}, {9, 0, 2048, 64, 128, 256, 64},
};

}  // namespace

std::string_view name_of(Pipe pipe) {
  constexpr std::array<std::string_view, kPipes.size()> kNames = {"tensor", "fp64", "fp32", "fp16",
                                                                  "integer"};
  return kNames[static_cast<std::size_t>(pipe)];
}

std::optional<PeakRates> peak_rates(const GpuFigures& figures) {
  if (!figures.sm_count || !figures.memory_bus_bits) return std::nullopt;
  const auto found = std::find_if(std::begin(kPerSm), std::end(kPerSm), [&](const PerSm& row) {
    return row.major == figures.compute_major && row.minor == figures.compute_minor;
  });
  if (found == std::end(kPerSm)) return std::nullopt;
  PeakRates out;
  const double each[] = {found->tensor, found->fp64, found->fp32, found->fp16, found->integer};
  for (std::size_t i = 0; i < kPipes.size(); ++i)
    if (each[i] > 0) out.operations_per_clock[i] = 2.0 * each[i] * *figures.sm_count;
  out.bytes_per_clock = 2.0 * *figures.memory_bus_bits / 8.0;
  return out;
}

std::optional<double> ridge(const PeakRates& rates, Pipe pipe, Megahertz sm, Megahertz memory) {
  const auto operations = rates.operations(pipe);
  if (!operations || !(rates.bytes_per_clock > 0) || !(memory > Megahertz(0))) return std::nullopt;
  return *operations * sm.value() / (rates.bytes_per_clock * memory.value());
}

}  // namespace rubato::predict
