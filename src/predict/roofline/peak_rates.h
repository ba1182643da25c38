// What a GPU's pipes and memory can do in one clock: the two roofs of the roofline model.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "core/gpu_figures.h"

namespace rubato::predict {

/// Those that limit dense arithmetic. Integer work has a roof of its own, which is no floating-point rate.
enum class Pipe : std::size_t { tensor, fp64, fp32, fp16, integer };
inline constexpr std::array kPipes = {Pipe::tensor, Pipe::fp64, Pipe::fp32, Pipe::fp16, Pipe::integer};
[[nodiscard]] std::string_view name_of(Pipe pipe);

/// A multiply-add counts as two operations, as everywhere in the field.
struct PeakRates {
  std::array<std::optional<double>, kPipes.size()> operations_per_clock;  // of the whole GPU, per SM clock
  double bytes_per_clock = 0;  // per memory clock as NVML counts it

  [[nodiscard]] std::optional<double> operations(Pipe pipe) const {
    return operations_per_clock[static_cast<std::size_t>(pipe)];
  }
};

/// Nothing where SMs or bus are not known, or the compute capability is not in the table.
[[nodiscard]] std::optional<PeakRates> peak_rates(const GpuFigures& figures);

/// Operations for each byte at which this pipe's roof meets the memory's.
[[nodiscard]] std::optional<double> ridge(const PeakRates& rates, Pipe pipe, Megahertz sm, Megahertz memory);

}  // namespace rubato::predict
