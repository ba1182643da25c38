#include "progress/gpoeo/composite.h"

#include <algorithm>

#include "progress/gpoeo/moments.h"

namespace rubato::progress::gpoeo {
namespace {

void mix(std::vector<double>& trace, std::span<const double> column) {
  if (column.empty()) return;
  std::vector<double> less = trace;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    less[i] -= column[i];
    trace[i] += column[i];
  }
  if (deviation_of(less) > deviation_of(trace)) trace = std::move(less);
}

}  // namespace

std::vector<double> composite(std::span<const double> power, std::span<const double> sm,
                              std::span<const double> memory) {
  const std::size_t length = std::max({power.size(), sm.size(), memory.size()});
  std::vector<double> trace(power.begin(), power.end());
  trace.resize(length);
  mix(trace, sm);
  mix(trace, memory);
  for (double& value : trace) value /= 3;
  return trace;
}

}  // namespace rubato::progress::gpoeo
